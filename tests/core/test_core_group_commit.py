"""Calls that share commits: who writes whose, and that nobody waits for ever (spec/core.md B1, B2)."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from threading import Event, Thread

import pytest

from nsplugin_core.store.errors import StoreBusy, StoreUnavailable
from nsplugin_core.store.group_commit import MOST, GroupCommit
from waiting import until

PATIENCE_S = 20.0


class Bad(Exception):
    """A call's own fault."""


class Writer:
    """Writes numbers; call 0 is held until ``gate`` opens. A negative number is bad, and spoils what it is written with."""

    def __init__(self, *, leaders: int = 1, weight: int = 1) -> None:
        self.commits = GroupCommit[int, int](self.one, self.many, lambda call: weight, leaders=leaders)
        self.gate, self.held = Event(), Event()
        self.written: list[list[int]] = []
        self.spoils: Callable[[Sequence[int]], None] = lambda calls: None
        self.ends: dict[int, int | BaseException] = {}
        self.threads: list[Thread] = []

    def one(self, call: int) -> int:
        if call == 0:
            self.held.set()
            assert self.gate.wait(PATIENCE_S)
        if call < 0:
            raise Bad(call)
        self.written.append([call])
        return call * 10

    def many(self, calls: Sequence[int]) -> list[int]:
        self.spoils(calls)
        if min(calls) < 0:
            raise Bad("somebody's")
        self.written.append(list(calls))
        return [call * 10 for call in calls]

    def call(self, number: int, lane: str = "shop") -> None:
        def run() -> None:
            try:
                self.ends[number] = self.commits.write(lane, number)
            except (Bad, StoreUnavailable, KeyboardInterrupt) as error:
                self.ends[number] = error

        self.threads.append(Thread(target=run, daemon=True))
        self.threads[-1].start()

    def hold(self, *numbers: int) -> None:
        """Call 0 is under way, and these wait behind it, in this order."""
        self.call(0)
        assert self.held.wait(PATIENCE_S)
        for count, number in enumerate(numbers, 1):
            self.call(number)
            self.queued(count)

    def queued(self, count: int) -> None:
        until(lambda: len(self.commits._lanes["shop"].waiting) >= count, f"{count} callers that wait")

    def finish(self) -> None:
        self.gate.set()
        for thread in self.threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive(), "a caller waits for ever"
        assert self.commits._lanes == {}


def test_what_waits_behind_a_commit_is_written_by_the_next_one_together() -> None:
    writer = Writer()
    writer.hold(*range(1, 51))
    writer.finish()
    assert writer.written == [[0], list(range(1, 51))]
    assert writer.ends == {number: number * 10 for number in range(51)}


def test_a_call_that_finds_nothing_under_way_is_written_alone_at_once() -> None:
    writer = Writer()
    assert [writer.commits.write("shop", number) for number in (1, 2)] == [10, 20]
    assert writer.written == [[1], [2]]


def test_one_plugin_does_not_wait_for_another() -> None:
    writer = Writer()
    writer.hold(1)
    assert writer.commits.write("other", 7) == 70
    writer.finish()


def test_a_second_group_may_be_under_way_beside_the_first() -> None:
    writer = Writer(leaders=2)
    writer.call(0)
    assert writer.held.wait(PATIENCE_S)
    assert writer.commits.write("shop", 7) == 70
    writer.finish()


def test_a_group_is_bounded_and_those_beyond_come_next_in_their_order() -> None:
    writer = Writer(weight=MOST // 3)
    writer.hold(*range(1, 9))
    writer.finish()
    assert writer.written == [[0], [1, 2, 3], [4, 5, 6], [7, 8]]


def test_a_call_heavier_than_a_group_may_be_is_written_by_itself() -> None:
    writer = Writer(weight=MOST + 1)
    writer.hold(1, 2)
    writer.finish()
    assert writer.written == [[0], [1], [2]]


def test_a_bad_call_fails_alone() -> None:
    writer = Writer()
    writer.hold(1, -2, 3)
    writer.finish()
    assert {number: str(end) for number, end in writer.ends.items()} == {0: "0", 1: "10", -2: "-2", 3: "30"}
    assert sorted(writer.written) == [[0], [1], [3]]


def test_a_database_that_stayed_busy_wrote_nothing_and_is_tried_again_by_each() -> None:
    def busy(calls: Sequence[int]) -> None:
        raise StoreBusy("deadlock")

    writer = Writer()
    writer.spoils = busy
    writer.hold(1, 2)
    writer.finish()
    assert writer.ends == {0: 0, 1: 10, 2: 20}


def test_a_database_that_is_lost_is_lost_for_the_group_and_tried_again_by_nobody() -> None:
    def lost(calls: Sequence[int]) -> None:
        raise StoreUnavailable("the server closed the connection")

    writer = Writer()
    writer.spoils = lost
    writer.hold(1, 2)
    writer.finish()
    assert writer.written == [[0]]
    assert {str(writer.ends[number]) for number in (1, 2)} == {"the server closed the connection"}
    assert writer.ends[1] is not writer.ends[2], "each raises its own"


def test_an_interrupted_leader_leaves_nobody_waiting() -> None:
    def interrupted(calls: Sequence[int]) -> None:
        raise KeyboardInterrupt

    writer = Writer()
    writer.spoils = interrupted
    writer.hold(1, 2)
    writer.finish()
    assert isinstance(writer.ends[1], KeyboardInterrupt)
    assert isinstance(writer.ends[2], StoreUnavailable) and "may or may not be there" in str(writer.ends[2])


def test_an_interrupted_caller_gives_its_place_up() -> None:
    """The main thread waits between others when its signal comes."""

    def interrupt() -> None:
        writer.queued(2)
        writer.call(3)
        writer.queued(3)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    writer = Writer()
    writer.hold(1)
    other = Thread(target=interrupt, daemon=True)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        writer.commits.write("shop", 2)
    other.join(PATIENCE_S)
    writer.finish()
    assert writer.written == [[0], [1, 3]]


def test_callers_at_random_are_all_served() -> None:
    writer = Writer(leaders=2, weight=MOST // 7)
    calls = 300

    def work(base: int) -> None:
        for number in range(base, base + calls):
            assert writer.commits.write(f"lane{number % 3}", number) == number * 10

    writer.threads = [Thread(target=work, args=(1 + calls * number,), daemon=True) for number in range(20)]
    for thread in writer.threads:
        thread.start()
    writer.finish()
    assert sorted(number for group in writer.written for number in group) == list(range(1, 1 + calls * 20))
