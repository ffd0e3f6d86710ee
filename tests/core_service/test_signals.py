"""Signals that end a served core."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from nsplugin_core.serving import SIGNALS, signals


def _to_this_thread() -> None:
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)


def test_a_signal_counts_whichever_thread_the_kernel_gives_it_to() -> None:
    with signals() as (stop, hurry):
        thread = threading.Thread(target=_to_this_thread)
        thread.start()
        assert stop.wait(10)
        assert not hurry.is_set()
        thread.join()


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_stops_and_the_second_hurries(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with signals() as (stop, hurry):
        os.kill(os.getpid(), number)
        assert stop.wait(10)
        assert not hurry.is_set()
        os.kill(os.getpid(), number)
        assert hurry.wait(10)
    assert signal.getsignal(number) is before


def test_what_nohup_has_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals() as (stop, _):
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.wait(0.2)
    finally:
        signal.signal(signal.SIGHUP, before)
