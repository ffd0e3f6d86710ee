"""Loops and clocks: what wakes them, what they survive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Queue
from typing import Any

import pytest

from nsplugin_core.clock import Clock, SystemClock, VirtualClock
from nsplugin_core.loops import Loop
from nsplugin_core.store.errors import StoreUnavailable
from waiting import PATIENCE


class Worker:
    """Does what it is told, and counts."""

    def __init__(self, work: Callable[[int], int] = lambda round_number: 0) -> None:
        self.rounds, self.work = 0, work
        self.happened = threading.Condition()

    def run_once(self, now_ms: int) -> int:
        with self.happened:
            self.rounds += 1
            self.happened.notify_all()
        return self.work(self.rounds)

    def wait_for(self, rounds: int) -> None:
        with self.happened:
            assert self.happened.wait_for(lambda: self.rounds >= rounds, timeout=10)


def started(worker: Worker, clock: Clock | None = None, **options: Any) -> Loop:
    loop = Loop("test", worker, clock or SystemClock(), every_ms=60_000, **options)
    loop.start()
    return loop


def test_a_loop_goes_on_at_once_while_there_is_work() -> None:
    worker = Worker(lambda number: int(number < 50))
    loop = started(worker)
    worker.wait_for(50)
    loop.stop()
    assert worker.rounds == 50


def test_a_loop_sleeps_until_it_is_woken() -> None:
    waits: Queue[int | None] = Queue()

    class Noting(SystemClock):
        def wait(self, event: threading.Event, until: int | None) -> None:
            waits.put(until and until - self.now_ms())
            super().wait(event, until)

    worker = Worker()
    loop = started(worker, clock=Noting())
    assert 0 < (waits.get(timeout=PATIENCE) or 0) <= 60_000
    assert worker.rounds == 1
    loop.wake()
    assert 0 < (waits.get(timeout=PATIENCE) or 0) <= 60_000
    assert worker.rounds == 2
    loop.stop()


def test_a_loop_wakes_when_its_work_is_due() -> None:
    worker = Worker()
    loop = started(worker, next_due=lambda: SystemClock().now_ms() + 20)
    worker.wait_for(3)
    loop.stop()


def test_a_database_that_is_away_for_a_while_does_not_end_a_loop(caplog: pytest.LogCaptureFixture) -> None:
    def work(number: int) -> int:
        if number < 3:
            raise StoreUnavailable("PostgreSQL does not answer")
        return 0

    worker = Worker(work)
    loop = started(worker)
    worker.wait_for(3)
    loop.stop()
    assert [record.message for record in caplog.records] == [
        "test: PostgreSQL does not answer; next try in 100 ms",
        "test: PostgreSQL does not answer; next try in 200 ms",
    ]


def test_a_fault_of_ours_is_logged_with_its_traceback_and_the_loop_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    def work(number: int) -> int:
        if number == 1:
            raise ZeroDivisionError("ours")
        return 0

    worker = Worker(work)
    loop = started(worker)
    worker.wait_for(2)
    loop.stop()
    assert "ZeroDivisionError: ours" in caplog.text


def test_a_stop_waits_for_the_round_under_way() -> None:
    release = threading.Event()
    worker = Worker(lambda number: int(not release.wait(10)))
    loop = started(worker)
    worker.wait_for(1)
    threading.Timer(0.05, release.set).start()
    loop.stop()
    assert release.is_set()


def test_a_virtual_clock_moves_when_told_or_waited_on() -> None:
    clock, event = VirtualClock(100), threading.Event()
    clock.wait(event, 250)
    assert clock.now_ms() == 250
    event.set()
    clock.wait(event, 900)
    assert clock.now_ms() == 250
    clock.advance_to(300)
    with pytest.raises(ValueError, match="can't go back from 300 to 299"):
        clock.advance_to(299)


def test_the_system_clock_waits_until_its_moment_or_the_event() -> None:
    clock, event = SystemClock(), threading.Event()
    before = clock.now_ms()
    clock.wait(event, before + 30)
    assert clock.now_ms() >= before + 30
    event.set()
    clock.wait(event, None)
    clock.wait(event, before + 60_000)
    assert clock.now_ms() < before + 30_000
