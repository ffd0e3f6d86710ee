"""What runs in a host and what waits, moved by hand through time (spec/core.md H2, Q3; spec/nextskin.md X2, X6)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from math import inf
from typing import Any

import pytest

from nsplugin import record
from nsplugin_core.attempts import Attempt, Outcome
from nsplugin_core.clock import VirtualClock
from nsplugin_core.host.routes import RouteRequest, RouteResponse
from nsplugin_core.host.settings import HostSettings
from nsplugin_core.host.table import Effects, HostFailed, WorkTable

SETTINGS = HostSettings(slots=2, grace_s=4, patience_s=1)
ATTEMPT = Attempt(
    task_id="t",
    claim=1,
    plugin="p",
    platform="nextskin",
    job="job",
    payload_json='{"a": 1}',
    attempt=2,
    max_attempts=5,
    timeout_ms=60_000,
    source="enqueue",
    run_at=7,
    identity="ann",
)


class Table:
    """A table with what it wants done written down."""

    def __init__(self, settings: HostSettings = SETTINGS, opened: bool = True) -> None:
        self.table = WorkTable(settings, VirtualClock(99))
        self.outcomes: list[tuple[str, str]] = []
        if opened:
            self.does(self.table.open(0))

    def deliver(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes += [(each.task_id, each.kind) for each in outcomes]

    def does(self, effects: Effects) -> list[Any]:
        sent: list[Any] = []
        effects.carry_out(lambda texts: sent.extend(map(json.loads, texts)))
        return [(message["t"], message["id"]) for message in sent]

    def add(self, *ids: str, now: float = 0, **given: Any) -> list[Any]:
        attempts = [record.replace(ATTEMPT, task_id=id, **given) for id in ids]
        return self.does(self.table.add(attempts, self.deliver, now))

    def done(self, number: int, kind: str = "success", now: float = 0) -> list[Any]:
        effects = Effects()
        self.table.done(number, {"t": "done", "k": kind}, None, None, effects, now)
        return self.does(effects)

    def tick(self, now: float) -> tuple[list[Any], float, str | None]:
        effects, moment = self.table.tick(now)
        return self.does(effects), moment, effects.kill


def test_attempts_beyond_the_slots_wait_and_start_when_one_ends() -> None:
    table = Table()
    assert table.add("a", "b", "c") == [("run", 1), ("run", 2)]
    assert table.done(2) == [("run", 3)]
    assert table.outcomes == [("b", "success")]


def test_what_waits_too_long_is_given_back() -> None:
    table = Table()
    table.add("a", "b", "c")
    assert table.tick(0.5)[1] == 1
    table.tick(1)
    assert table.outcomes == [("c", "deferred")]


def test_before_the_host_is_ready_everything_waits() -> None:
    table = Table(opened=False)
    assert table.add("a") == []
    assert table.tick(100) == ([], inf, None)
    assert table.does(table.table.open(100)) == [("run", 1)]


def test_an_attempt_with_little_time_does_not_wait_for_a_slot() -> None:
    table = Table()
    assert table.add("a", "b", "c", timeout_ms=999) == [("run", 1), ("run", 2), ("run", 3)]


def test_x2_at_the_time_out_the_outcome_is_there_and_a_late_result_is_nothing() -> None:
    table = Table()
    table.add("a")
    assert table.tick(59.99) == ([], 60, None)
    assert table.tick(60) == ([("abort", 1)], 62, None)
    assert table.outcomes == [("a", "timeout")]
    assert table.table.get(1) is None
    assert table.done(1) == []
    assert table.outcomes == [("a", "timeout")]


def test_h2_after_half_the_grace_it_is_cancelled_and_after_the_rest_its_host_must_go() -> None:
    table = Table()
    table.add("a", "b", timeout_ms=1_000)
    table.tick(1)
    assert table.tick(3)[0] == [("cancel", 1), ("cancel", 2)]
    table.done(2)
    assert table.tick(5)[2] == "attempt 2 of job 'job' (a) went on 4 s after its time was over"
    table.does(table.table.end("gone"))
    assert table.outcomes == [("a", "timeout"), ("b", "timeout")]


def test_x6_when_the_host_ends_everything_is_given_back_once() -> None:
    table = Table()
    table.add("a", "b", "c")
    table.done(1, now=0.1)
    table.does(table.table.end("gone"))
    table.does(table.table.end("gone"))
    assert sorted(table.outcomes) == [("a", "success"), ("b", "deferred"), ("c", "deferred")]
    assert len(table.table) == 0


def test_a_cancelled_attempt_brings_no_outcome() -> None:
    table = Table()
    table.add("a", "b", "c")
    assert table.does(table.table.cancel("a", 1, 10)) == [("abort", 1)]
    table.does(table.table.cancel("c", 1, 10))
    table.does(table.table.cancel("a", 2, 10))
    table.done(1)
    table.done(2)
    assert table.outcomes == [("b", "success")]
    assert len(table.table) == 0


def test_more_may_come_than_there_are_slots_once_attempts_prove_short() -> None:
    table = Table()
    assert table.table.free() == 2
    table.add("a")
    assert table.table.free() == 1
    table.done(1, now=0.001)
    assert table.table.free() == 102
    table.add("b")
    table.done(2, now=10)
    assert table.table.free() == 2


def test_unknown_and_strange_words_of_a_host_change_nothing() -> None:
    table = Table()
    table.add("a")
    assert table.done(99) == []
    table.done(1, kind="glorious")
    assert table.outcomes == [("a", "failure")]


def test_without_deadlines_time_outs_are_the_dispatchers() -> None:
    table = Table(replace(SETTINGS, enforce_deadlines=False))
    (message,) = map(json.loads, table.table.add([ATTEMPT], table.deliver, 0).messages)
    assert (message["now"], table.tick(1e9)[1]) == (99, inf)


def test_h2_h3_a_run_message_tells_all_of_the_attempt() -> None:
    table = Table()
    (message,) = map(json.loads, table.table.add([ATTEMPT], table.deliver, 0).messages)
    assert message == {
        "t": "run",
        "id": 1,
        "job": "job",
        "payload": '{"a": 1}',
        "facts": {
            "id": "t",
            "user": "ann",
            "enqueued_by": None,
            "automation_steps": None,
            "timeout_ms": 60_000,
            "job": "job",
            "attempt": 2,
            "max_attempts": 5,
            "source": "enqueue",
            "run_at": 7,
            "enqueued_at": None,
        },
    }


def answer(now: float | None, end: bool = False) -> Future[RouteResponse]:
    """A route's request that times out at ``now``, or whose host ends."""
    table, future = Table(), Future[RouteResponse]()
    table.does(table.table.request("GET /a", RouteRequest(method="GET", path="/a"), future, 0))
    if now is not None:
        table.tick(now)
    if end:
        table.does(table.table.end("gone"))
    return future


def test_a_request_gets_a_response_or_an_error() -> None:
    assert not answer(29.9).done()
    for future, message in ((answer(30), "timed out after 30000 ms"), (answer(None, end=True), "gone")):
        with pytest.raises(HostFailed, match=message):
            future.result(0)


def test_a_request_that_is_too_large_fails_and_leaves_nothing_behind() -> None:
    """What stays in the table would time out, and its host be killed for it."""
    table, future = Table(), Future[RouteResponse]()
    request = RouteRequest(method="POST", path="/a", body=b"x" * (4 << 20))
    assert table.does(table.table.request("POST /a", request, future, 0)) == []
    with pytest.raises(HostFailed, match="the request is too large") as caught:
        future.result(0)
    assert (caught.value.code, len(table.table), table.tick(1_000)) == ("TOO_LARGE", 0, ([], inf, None))
    assert table.add("a") == [("run", 1)]
