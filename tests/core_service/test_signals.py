"""Signals that end a served core."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

from nsplugin_core.serving import SIGNALS, signals
from waiting import until


def _main_thread_waits() -> bool:
    frame = sys._current_frames()[threading.main_thread().ident or 0]
    return frame.f_code is threading.Condition.wait.__code__


def _to_this_thread() -> None:
    until(_main_thread_waits, "a main thread that waits")
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
    outside = signal.signal(number, signal.SIG_DFL)  # whoever runs the tests may have ignored it
    try:
        with signals() as (stop, hurry):
            os.kill(os.getpid(), number)
            assert stop.wait(10)
            assert not hurry.is_set()
            os.kill(os.getpid(), number)
            assert hurry.wait(10)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, outside)


def test_what_nohup_has_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals() as (stop, _):
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.wait(0.2)
    finally:
        signal.signal(signal.SIGHUP, before)
