"""Cogover's runs, on both stores: spec/cogover.md E, X."""

from __future__ import annotations

import re

import pytest

from engine_world import DAY, HOUR, MINUTE, SECOND, Ending, World, cogover
from nsplugin.platforms import load
from nsplugin.runtime.enqueueing import Order, checked
from nsplugin.runtime.faults import Fault
from nsplugin_core.dispatcher import GRACE_MS
from nsplugin_core.enqueueing import Origin


@pytest.fixture
def orders(core: World) -> World:
    core.install(cogover(jobs=[{"key": "sync", "maxAttempts": 10}, {"key": "other"}]))
    return core


def enqueue(orders: World, **options: object) -> tuple[str, bool]:
    result = orders.enqueuer.enqueue("orders", "sync", {"order": 1}, options)
    return result.task_id, result.duplicate


def test_x7_a_run_id_is_15_upper_case_letters_or_digits_from_tsj(orders: World) -> None:
    ids = {enqueue(orders)[0] for _ in range(50)}
    assert len(ids) == 50
    assert all(re.fullmatch(r"TSJ[A-Z0-9]{12}", run) for run in ids)


def test_e4_a_run_starts_at_its_delay_or_moment(orders: World) -> None:
    enqueue(orders, delayMs=1_500)
    enqueue(orders, runAt=orders.now + 2_500)
    orders.forward(3 * SECOND, by=500)
    assert [attempt.run_at for attempt in orders.hosts.started] == [orders.now - 1_500, orders.now - 500]


def test_e4_a_moment_in_the_past_is_now(orders: World) -> None:
    enqueue(orders, runAt=orders.now - HOUR)
    orders.step()
    assert orders.hosts.started[0].run_at == orders.now - HOUR
    assert orders.hosts.started[0].enqueued_at == orders.now


@pytest.mark.parametrize("state", ["PENDING", "RUNNING", "SUCCEEDED", "FAILED"])
def test_e1_e5_the_stored_run_is_returned_whatever_its_state(orders: World, state: str) -> None:
    orders.hosts.script = lambda attempt: {
        "PENDING": None, "RUNNING": None, "SUCCEEDED": Ending(), "FAILED": Ending("failure"),
    }[state]  # fmt: skip
    first, duplicate = enqueue(orders, idempotencyKey="k1")
    assert not duplicate
    if state != "PENDING":
        orders.step()
    words = load("cogover").words
    states = {words.queued: "queued", words.running: "running", words.succeeded: "succeeded", words.dead: "dead"}
    assert orders.task(first).state == states[state]
    assert enqueue(orders, idempotencyKey="k1") == (first, True)
    assert orders.enqueue("orders", "other", None, idempotencyKey="k1").duplicate is False


def test_e5_e6_a_key_is_free_again_when_the_run_is_no_longer_stored_after_7_days(orders: World) -> None:
    first, _ = enqueue(orders, idempotencyKey="k1")
    orders.step()
    done = orders.now
    orders.clock.advance_to(done + 7 * DAY - 1)
    orders.sweeper.run_once(orders.now)
    assert enqueue(orders, idempotencyKey="k1") == (first, True)
    assert orders.task(first).state == "succeeded"
    orders.clock.advance_to(done + 7 * DAY)
    while orders.sweeper.run_once(orders.now):
        pass
    assert orders.store.tasks.task(first) is None
    second, duplicate = enqueue(orders, idempotencyKey="k1")
    assert (second != first, duplicate) == (True, False)


def test_e8_at_most_10000_runs_wait_or_run_and_a_finished_one_makes_room(core: World) -> None:
    """The limit is the platform's; a smaller stand-in for it would prove nothing about the counter's exactness."""
    core.install(cogover())
    platform = load("cogover")
    limit = platform.enqueue.max_unfinished
    assert limit == 10_000
    order = _order(core)
    core.enqueuer.accept(platform, "orders", [order] * (limit - 1))
    core.enqueuer.accept(platform, "orders", [order])
    with pytest.raises(Fault, match="'orders' has 10000 tasks waiting or running") as refused:
        core.enqueuer.accept(platform, "orders", [order])
    assert refused.value.code == "RATE_LIMITED"
    core.hosts.slots["orders"] = 1
    core.dispatcher.run_once(core.now)
    core.hosts.slots["orders"] = 0
    core.dispatcher.run_once(core.now)
    core.enqueuer.accept(platform, "orders", [order])
    with pytest.raises(Fault):
        core.enqueuer.accept(platform, "orders", [order])


def test_e8_a_refused_enqueue_leaves_its_key_free(core: World) -> None:
    core.install(cogover())
    platform = load("cogover")
    core.enqueuer.accept(platform, "orders", [_order(core)] * platform.enqueue.max_unfinished)
    with pytest.raises(Fault, match="10000"):
        core.enqueue("orders", idempotencyKey="k")
    core.hosts.slots["orders"] = 1
    core.dispatcher.run_once(core.now)
    core.dispatcher.run_once(core.now)
    assert core.enqueue("orders", idempotencyKey="k").duplicate is False


def _order(core: World) -> Order:
    return checked(load("cogover"), {"sync"}, "sync", None, {}, core.now)


def test_x2_x4_a_timed_out_attempt_is_tried_again(orders: World) -> None:
    orders.hosts.script = lambda attempt: None
    run, _ = enqueue(orders)
    orders.step()
    orders.forward(30_000)
    assert (orders.task(run).state, orders.task(run).last_error_code) == ("queued", "JOB_TIMEOUT")


def test_x3_the_run_keeps_its_id_over_its_attempts(orders: World) -> None:
    orders.hosts.script = lambda attempt: Ending("retryable", "later") if attempt.attempt < 3 else Ending()
    run, _ = enqueue(orders)
    orders.forward(HOUR, by=SECOND)
    assert [(a.task_id, a.attempt, a.max_attempts) for a in orders.hosts.started] == [(run, n, 10) for n in (1, 2, 3)]
    assert len({attempt.run_at for attempt in orders.hosts.started}) == 1, "runAt is when the run was due"
    assert orders.task(run).state == "succeeded"


def test_x3_an_interrupted_attempt_starts_again(orders: World) -> None:
    orders.hosts.script = lambda attempt: None
    run, _ = enqueue(orders)
    orders.step()
    orders.dispatcher = orders.new_dispatcher()
    orders.forward(30_000 + GRACE_MS)
    assert [(attempt.task_id, attempt.attempt) for attempt in orders.hosts.started] == [(run, 1), (run, 2)]


def test_x4_any_other_error_ends_the_run_as_failed_at_once(orders: World) -> None:
    orders.hosts.script = lambda attempt: Ending("failure", "KeyError: 'total'")
    run, _ = enqueue(orders)
    orders.step()
    stored = orders.task(run)
    assert (stored.state, stored.attempt, stored.last_error) == ("dead", 1, "KeyError: 'total'")
    assert orders.types("failure", "retry", "dead") == ["failure", "dead"]


def test_x4_waits_grow_from_seconds_to_half_an_hour_until_the_attempts_are_used_up(orders: World) -> None:
    orders.hosts.script = lambda attempt: Ending("retryable", "busy")
    run, _ = enqueue(orders)
    waits = []
    for _ in range(9):
        orders.step()
        waits.append(orders.task(run).run_at - orders.now)
        orders.clock.advance_to(orders.task(run).run_at)
    orders.step()
    assert waits == sorted(waits)
    assert all(low <= wait <= high for wait, low, high in zip(waits, _bounds(0.9), _bounds(1.1), strict=True))
    assert (orders.task(run).state, orders.task(run).last_error_code) == ("dead", "RETRYABLE")


def _bounds(share: float) -> list[float]:
    return [7_000 * 2**n * share for n in range(9)]


def test_x5_two_runs_of_one_job_run_at_the_same_time(orders: World) -> None:
    orders.hosts.script = lambda attempt: None
    enqueue(orders)
    enqueue(orders)
    orders.step()
    assert len(orders.hosts.running) == 2


def test_x1_x6_x8_identity_budget_and_enqueuer_reach_every_attempt(orders: World) -> None:
    orders.hosts.script = lambda attempt: Ending("retryable") if attempt.attempt == 1 else Ending()
    orders.enqueue("orders", "sync", None, Origin(identity="user-7", by="process:PI1", budget=4))
    orders.forward(MINUTE, by=SECOND)
    assert [(a.identity, a.enqueued_by, a.budget, a.source) for a in orders.hosts.started] == [
        ("user-7", "process:PI1", 4, "enqueue")
    ] * 2


def test_e3_absent_and_null_enqueue_a_run_without_a_payload(orders: World) -> None:
    orders.enqueue("orders", "sync", None)
    orders.step()
    assert orders.hosts.started[0].payload_json is None
    assert orders.task(orders.hosts.started[0].task_id).payload_bytes == 0


def test_d9_disabling_keeps_runs_for_the_version_that_is_active_next(orders: World) -> None:
    run, _ = enqueue(orders)
    orders.registry.disable("orders")
    orders.step()
    assert orders.hosts.started == []
    orders.install(cogover(jobs=[{"key": "sync", "maxAttempts": 2, "timeoutMs": 5000}]))
    orders.registry.enable("orders")
    orders.forward(2 * SECOND)
    assert [(a.task_id, a.max_attempts, a.timeout_ms) for a in orders.hosts.started] == [(run, 2, 5000)]


def test_a_retried_run_keeps_its_key_and_a_deleted_one_frees_it(orders: World) -> None:
    orders.hosts.script = lambda attempt: Ending("failure")
    run, _ = enqueue(orders, idempotencyKey="k1")
    orders.step()
    assert orders.store.tasks.retry([run], plugin="orders", now=orders.now) == {run: True}
    assert enqueue(orders, idempotencyKey="k1") == (run, True)
    orders.step()
    assert orders.store.tasks.delete([run], plugin="orders") == [run]
    assert enqueue(orders, idempotencyKey="k1")[1] is False
