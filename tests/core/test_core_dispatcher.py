"""The dispatcher where the store is slow, where word of work comes at a bad moment, and where attempts outlive their lease."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from engine_world import HOUR, MINUTE, NOON, SECOND, Ending, World, nextskin
from nsplugin_core.attempts import Attempt, Deliver, Outcome
from nsplugin_core.clock import VirtualClock
from nsplugin_core.dispatcher import GRACE_MS
from nsplugin_core.store import MEMORY, open_store
from nsplugin_core.store.errors import StoreUnavailable
from nsplugin_core.store.tasks import SqlTasks


@pytest.fixture
def shop() -> Iterator[World]:
    """A core whose hosts end nothing by themselves."""
    made = World(open_store(MEMORY), VirtualClock(NOON))
    made.install(nextskin(jobs={"sync": {}, "long": {"timeoutMs": 600_000}}))
    made.hosts.script = lambda attempt: None
    yield made
    made.store.close()


def slow_claims(core: World, monkeypatch: pytest.MonkeyPatch, *waits: int) -> None:
    """The first claims that take something wait so long for the database."""
    claim, left = SqlTasks.claim, list(waits)

    def waiting(tasks: SqlTasks, wants: Any, **terms: Any) -> list[Attempt]:
        taken = claim(tasks, wants, **terms)
        if taken and left:
            core.clock.advance_to(core.now + left.pop(0))
        return taken

    monkeypatch.setattr(SqlTasks, "claim", waiting)


def test_q2_a_claim_that_took_most_of_the_lease_s_grace_is_given_back(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lease would run out before its time-out: the task would run twice, and a result in time would be refused."""
    slow_claims(shop, monkeypatch, 25 * SECOND)
    task = shop.enqueue().task_id
    shop.step()
    (attempt,) = shop.hosts.started
    assert (attempt.claim, attempt.attempt) == (2, 1), "the first claim was given back and cost no attempt"
    (past,) = shop.store.tasks.attempts(task)
    assert (past.outcome, past.error) == ("deferred", "the claim took 25000 ms; the attempt is given back")
    shop.clock.advance_to(shop.now + 60 * SECOND - 1)
    shop.hosts.end(attempt, "success")
    shop.step()
    assert shop.types() == ["enqueue", "deferral", "attempt", "success"]


@pytest.mark.parametrize("took", [0, 1, GRACE_MS // 2 - 1])
def test_q2_a_lease_outlives_the_time_out_of_every_attempt_that_starts(
    shop: World, monkeypatch: pytest.MonkeyPatch, took: int
) -> None:
    slow_claims(shop, monkeypatch, took)
    task = shop.enqueue().task_id
    shop.step()
    deadline = shop.dispatcher.next_due()
    assert deadline is not None and deadline == shop.now + 60 * SECOND
    assert (shop.task(task).lease_until or 0) - deadline >= GRACE_MS // 2


def test_q2_a_lease_begins_when_the_claim_is_made_not_when_the_round_began(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look before it may have waited for the database."""
    horizon = SqlTasks.horizon

    def waiting(tasks: SqlTasks, **terms: Any) -> Any:
        seen = horizon(tasks, **terms)
        shop.clock.advance_to(shop.now + 20 * SECOND)
        return seen

    shop.step()
    task = shop.enqueue(delaySec=5).task_id
    shop.step()
    shop.clock.advance_to(shop.now + 5 * SECOND)
    monkeypatch.setattr(SqlTasks, "horizon", waiting)
    shop.dispatcher.run_once(shop.now)
    assert shop.task(task).lease_until == shop.now + 60 * SECOND + GRACE_MS


def test_q2_own_attempts_that_are_lost_are_cancelled_and_forgotten(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    task = shop.enqueue().task_id
    shop.step()
    (first,) = shop.hosts.started
    finish = SqlTasks.finish
    other = shop.enqueue(job="long").task_id
    shop.step()
    shop.hosts.end(next(a for a in shop.hosts.started if a.task_id == other), "success")

    def hanging(tasks: SqlTasks, endings: Any, *, now: int) -> set[tuple[str, int]]:
        written = finish(tasks, endings, now=now)
        monkeypatch.setattr(SqlTasks, "finish", finish)
        shop.clock.advance_to(shop.now + 2 * MINUTE)
        return written

    monkeypatch.setattr(SqlTasks, "finish", hanging)
    shop.dispatcher.run_once(shop.now)
    assert (first.task_id, first.claim) in shop.hosts.cancelled
    shop.step()
    assert [(a.task_id, a.claim) for a in shop.hosts.running.values()] == [(task, 2)]
    assert shop.dispatcher.in_flight == 1
    shop.hosts.end(first, "success")
    shop.step()
    assert shop.types("lost", "refused") == ["lost", "refused"]


def test_word_of_a_task_that_comes_while_endings_are_told_is_heard(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Overwritten, it would be found by the next poll only, up to a second late: 99 of 100 start within 30 ms."""

    class Late(list[Any]):
        """Endings with which a task is accepted just when the dispatcher has gone through them."""

        def __iter__(self) -> Iterator[Any]:
            yield from super().__iter__()
            if not accepted:
                accepted.append("")
                accepted[0] = shop.enqueue().task_id

    accepted: list[str] = []
    shop.enqueue()
    shop.step()
    shop.hosts.end(shop.hosts.started[0], "success")
    shop.dispatcher._collect()
    shop.dispatcher._unwritten = Late(shop.dispatcher._unwritten)
    finish = SqlTasks.finish
    monkeypatch.setattr(SqlTasks, "finish", lambda tasks, endings, *, now: finish(tasks, list.copy(endings), now=now))
    shop.dispatcher._write(shop.now)
    shop.dispatcher.run_once(shop.now)
    assert [attempt.task_id for attempt in shop.hosts.started[1:]] == accepted


def test_what_ended_long_ago_takes_no_memory_behind_one_attempt_that_runs(shop: World) -> None:
    shop.enqueue()
    shop.step()
    shop.hosts.script = lambda attempt: Ending() if attempt.job == "long" else None
    for _ in range(30):
        for _ in range(100):
            shop.enqueue(job="long")
        shop.step()
    assert len(shop.hosts.started) == 3001
    assert len(shop.dispatcher._deadlines) <= 1200
    shop.clock.advance_to(NOON + MINUTE)
    shop.step()
    assert shop.types("timeout") == ["timeout"]


def test_q3_attempts_that_hosts_took_before_they_failed_are_stopped_as_they_are_given_back(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would run on beside their successors."""
    start = type(shop.hosts).start

    def half(attempts: Sequence[Attempt], deliver: Deliver) -> None:
        monkeypatch.undo()
        start(shop.hosts, attempts[:1], deliver)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(shop.hosts, "start", half)
    tasks = [shop.enqueue().task_id for _ in range(2)]
    shop.dispatcher.run_once(shop.now)
    assert shop.hosts.cancelled == [(task, 1) for task in tasks]
    shop.step()
    assert sorted(shop.hosts.running) == sorted((task, 2) for task in tasks)
    assert [shop.task(task).attempt for task in tasks] == [1, 1]


def test_an_attempt_lost_with_its_core_is_found_behind_the_lease_of_a_later_one(shop: World) -> None:
    """Nobody polls on a virtual clock: the next moment at which anything happens has to be known."""
    lost = shop.enqueue(job="long").task_id
    shop.step()
    shop.dispatcher.close()
    until = shop.task(lost).lease_until
    shop.clock.advance_to(shop.now + MINUTE)
    shop.hosts.running.clear()
    shop.dispatcher = shop.new_dispatcher("core-2")
    shop.enqueue()
    shop.step()
    shop.clock.advance_to(shop.now + SECOND // 2)
    shop.hosts.end(shop.hosts.started[-1], "success")
    shop.step()
    end = shop.now + HOUR
    while "lost" not in shop.types() and (due := shop.dispatcher.next_due()) is not None and due < end:
        shop.clock.advance_to(max(due, shop.now))
        shop.step()
    assert [event.at for event in shop.events if event.type == "lost"] == [until]


def test_endings_that_could_not_be_written_are_kept(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    task = shop.enqueue().task_id
    shop.step()
    shop.dispatcher.deliver([Outcome(task_id=task, claim=1, kind="success")])

    def away(*_: Any, **__: Any) -> set[tuple[str, int]]:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patched:
        patched.setattr(SqlTasks, "finish", away)
        with pytest.raises(StoreUnavailable):
            shop.dispatcher.run_once(shop.now)
    assert shop.dispatcher.in_flight == 1
    shop.step()
    assert shop.types("success") == ["success"]


@pytest.mark.parametrize(("took", "order"), [(0, ["finish", "claim"]), (4, ["claim", "finish"])])
def test_a_start_does_not_wait_for_endings_where_writing_them_takes_time(
    shop: World, monkeypatch: pytest.MonkeyPatch, took: int, order: list[str]
) -> None:
    """A disk's sync on the way to a start is the worst of its wait: 99 of 100 start within 30 ms."""
    calls: list[str] = []

    def told(name: str, takes: int) -> None:
        real = getattr(SqlTasks, name)

        def call(*args: Any, **terms: Any) -> Any:
            calls.append(name)
            shop.clock.advance_to(shop.now + takes)
            return real(*args, **terms)

        monkeypatch.setattr(SqlTasks, name, call)

    told("finish", took)
    told("claim", 0)
    for _ in range(3):
        shop.enqueue()
        shop.dispatcher.run_once(shop.now)
        shop.hosts.end(shop.hosts.started[-1], "success")
    assert calls == ["claim", "finish", "claim", *order]
    shop.step()
    assert shop.types("success") == ["success"] * 3
