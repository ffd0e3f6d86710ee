"""How tasks run, on both stores, seen from outside: spec/nextskin.md E, X, A and spec/core.md Q."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from engine_world import DAY, HOUR, MINUTE, SECOND, Ending, World, nextskin
from nsplugin.platforms import load
from nsplugin.retries import wait_ms
from nsplugin.runtime.enqueueing import checked
from nsplugin.runtime.faults import Fault
from nsplugin_core.attempts import Attempt
from nsplugin_core.dispatcher import GRACE_MS
from nsplugin_core.store.tasks import SqlTasks


def test_x2_a_normal_return_is_success_and_the_task_is_dropped_when_done(shop: World) -> None:
    task = shop.enqueue(payload={"n": 1}).task_id
    shop.step()
    assert [(a.task_id, a.payload_json, a.attempt, a.max_attempts) for a in shop.hosts.started] == [(task, '{"n":1}', 1, 3)]
    assert shop.store.tasks.task(task) is None
    assert [past.outcome for past in shop.store.tasks.attempts(task)] == ["success"]
    assert shop.types() == ["enqueue", "attempt", "success"]


def test_x1_at_least_once_the_dead_core_s_task_runs_again(shop: World) -> None:
    shop.hosts.script = lambda attempt: None
    shop.enqueue()
    shop.step()
    shop.dispatcher = shop.new_dispatcher("core-2")
    shop.hosts.running.clear()
    shop.hosts.script = lambda attempt: Ending()
    shop.forward(60_000 + GRACE_MS - 1)
    assert len(shop.hosts.started) == 1, "nothing runs twice within the lease"
    shop.forward(1)
    assert [a.attempt for a in shop.hosts.started] == [1, 2]


def test_x2_a_raise_is_failure_and_last_error_says_what(shop: World) -> None:
    shop.fail("no such key")
    task = shop.enqueue().task_id
    shop.step()
    stored = shop.task(task)
    assert (stored.state, stored.attempt, stored.last_error, stored.last_error_code) == (
        "queued",
        1,
        "no such key",
        "HANDLER_ERROR",
    )


def test_x2_at_the_timeout_the_attempt_is_aborted_and_a_late_result_refused(shop: World) -> None:
    shop.hosts.script = lambda attempt: None
    task = shop.enqueue().task_id
    shop.step()
    (attempt,) = shop.hosts.started
    shop.forward(59_999)
    assert shop.hosts.cancelled == []
    shop.forward(1)
    assert shop.hosts.cancelled == [(task, attempt.claim)]
    before = shop.task(task)
    assert before.last_error == "timed out: not finished within 60000 ms"
    for kind in ("success", "failure"):
        shop.hosts.end(attempt, kind)
        shop.step()
    assert shop.task(task) == before
    assert shop.types("refused") == ["refused", "refused"]


def test_x2_a_result_that_arrives_at_the_timeout_is_late_though_nobody_looked_before(shop: World) -> None:
    shop.hosts.script = lambda attempt: None
    task = shop.enqueue().task_id
    shop.step()
    shop.clock.advance_to(shop.now + 60_000)
    shop.hosts.end(shop.hosts.started[0], "success")
    shop.step()
    assert shop.task(task).last_error_code == "JOB_TIMEOUT"
    assert shop.types("success") == []


def test_x3_each_wait_is_the_formula_s_with_the_injected_random(shop: World) -> None:
    shop.install(nextskin(jobs={"sync": {"maxAttempts": 12}}))
    shop.fail()
    task = shop.enqueue().task_id
    expected = random.Random(shop.seed)
    for attempt in range(1, 12):
        shop.step()
        wait = wait_ms(load("nextskin").retry, attempt, expected.random())
        assert shop.task(task).run_at - shop.now == wait
        shop.forward(wait - 1)
        assert len(shop.hosts.started) == attempt
        shop.forward(1)
        assert len(shop.hosts.started) == attempt + 1
    assert shop.task(task).state == "dead"


def test_x4_after_the_last_attempt_the_task_is_a_dead_letter(shop: World) -> None:
    shop.fail("still broken")
    task = shop.enqueue(payload={"k": 1}).task_id
    shop.forward(HOUR, by=MINUTE)
    stored = shop.task(task)
    assert (stored.state, stored.attempt, stored.last_error, stored.payload) == ("dead", 3, "still broken", '{"k":1}')
    assert shop.types("failure", "retry", "dead") == ["failure", "retry", "failure", "retry", "failure", "dead"]


def test_x5_an_attempt_counts_when_it_is_claimed(shop: World) -> None:
    shop.hosts.script = lambda attempt: None
    task = shop.enqueue().task_id
    shop.step()
    stored = shop.task(task)
    assert (stored.state, stored.attempt, stored.claim, stored.claimer) == ("running", 1, 1, "core-1")
    assert stored.lease_until == shop.now + 60_000 + GRACE_MS


def test_x5_attempts_cut_short_by_a_dead_core_are_spent_and_the_last_one_s_is_a_dead_letter_that_says_so(shop: World) -> None:
    shop.hosts.script = lambda attempt: None
    task = shop.enqueue().task_id
    for _ in range(3):
        shop.step()
        shop.dispatcher = shop.new_dispatcher()
        shop.forward(60_000 + GRACE_MS)
    stored = shop.task(task)
    assert (stored.state, stored.attempt) == ("dead", 3)
    assert stored.last_error == "attempt 3 of 3 was cut short: the core that ran it stopped"
    assert [past.outcome for past in shop.store.tasks.attempts(task)] == ["lost", "lost", "lost"]


def test_x6_while_the_host_is_unavailable_claiming_pauses_for_that_plugin_only(shop: World) -> None:
    shop.install(nextskin("mail", jobs={"send": {}}))
    shop.hosts.slots["shop"] = 0
    waiting, sent = shop.enqueue().task_id, shop.enqueue("mail", "send").task_id
    shop.step()
    assert [attempt.task_id for attempt in shop.hosts.started] == [sent]
    assert shop.task(waiting).attempt == 0
    shop.hosts.slots["shop"] = 1
    shop.step()
    assert [attempt.task_id for attempt in shop.hosts.started] == [sent, waiting]


def test_x6_a_deferred_attempt_is_given_back_and_last_error_untouched(shop: World) -> None:
    shop.fail("first")
    task = shop.enqueue().task_id
    shop.step()
    shop.hosts.script = lambda attempt: Ending("deferred", "host exited")
    shop.hosts.slots["shop"] = 1
    shop.clock.advance_to(shop.task(task).run_at)
    shop.dispatcher.run_once(shop.now)
    shop.hosts.slots["shop"] = 0
    shop.dispatcher.run_once(shop.now)
    stored = shop.task(task)
    assert (stored.state, stored.attempt, stored.claim, stored.last_error) == ("queued", 1, 2, "first")
    assert [past.outcome for past in shop.store.tasks.attempts(task)] == ["failure", "deferred"]


def test_q2_the_claim_number_is_never_reset_so_an_old_result_can_t_pass_for_a_new_one(shop: World) -> None:
    shop.hosts.script = lambda attempt: None
    task = shop.enqueue().task_id
    shop.step()
    (first,) = shop.hosts.started
    shop.hosts.end(first, "deferred")
    shop.step()
    second = shop.hosts.started[1]
    assert (second.attempt, second.claim) == (first.attempt, first.claim + 1)
    shop.hosts.end(first, "success")
    shop.step()
    assert shop.task(task).state == "running"
    assert shop.types("refused") == ["refused"]


def test_q2_a_result_after_the_lease_is_lost_is_refused_by_the_store_itself(shop: World) -> None:
    """The core that claimed it was stopped for a while; it doesn't know that its lease is over."""
    shop.hosts.script = lambda attempt: None
    task = shop.enqueue().task_id
    shop.step()
    (attempt,) = shop.hosts.started
    sleeper, shop.dispatcher = shop.dispatcher, shop.new_dispatcher("core-2")
    shop.hosts.end(attempt, "success")
    shop.hosts.running.clear()
    shop.forward(60_000 + GRACE_MS)
    sleeper.run_once(shop.now)
    stored = shop.task(task)
    assert (stored.state, stored.attempt, stored.claimer) == ("running", 2, "core-2")
    assert shop.types("refused") == ["refused"]


def test_e3_a_delayed_task_waits_to_the_millisecond(shop: World) -> None:
    shop.enqueue(delaySec=60)
    shop.forward(60 * SECOND - 1)
    assert shop.hosts.started == []
    shop.forward(1)
    assert len(shop.hosts.started) == 1


@pytest.mark.parametrize("phase", ["queued", "delayed", "waiting for a retry", "running"])
def test_e5_a_key_is_taken_while_its_task_is_unfinished(shop: World, phase: str) -> None:
    shop.hosts.script = {"waiting for a retry": lambda a: Ending("failure"), "running": lambda a: None}.get(
        phase, lambda a: Ending()
    )
    first = shop.enqueue(dedupeKey="k", delaySec=60 if phase == "delayed" else 0)
    if phase not in ("queued", "delayed"):
        shop.step()
    again = shop.enqueue(dedupeKey="k")
    assert (again.task_id, again.duplicate) == (first.task_id, True)
    assert shop.enqueue(job="other", dedupeKey="k").duplicate is False, "the key belongs to a job"
    assert shop.enqueue(dedupeKey="K").duplicate is False


def test_e6_success_frees_the_key(shop: World) -> None:
    first = shop.enqueue(dedupeKey="k")
    shop.step()
    again = shop.enqueue(dedupeKey="k")
    assert again.task_id != first.task_id
    assert not again.duplicate


def test_e6_a_dead_letter_frees_the_key(shop: World) -> None:
    shop.fail()
    first = shop.enqueue(dedupeKey="k")
    shop.forward(HOUR, by=MINUTE)
    assert shop.dead_letters() == [first.task_id]
    assert shop.enqueue(dedupeKey="k").duplicate is False


def test_a1_dead_letters_are_listed_and_one_can_be_deleted(shop: World) -> None:
    shop.fail()
    first, second = shop.enqueue().task_id, shop.enqueue().task_id
    shop.forward(HOUR, by=MINUTE)
    assert sorted(shop.dead_letters()) == sorted([first, second])
    assert shop.store.tasks.delete([first], plugin="mail") == []
    assert shop.store.tasks.delete([first, "TSK000000000000"], plugin="shop") == [first]
    assert shop.dead_letters() == [second]
    assert shop.store.tasks.attempts(first) == []


def test_a2_a_retry_starts_from_0_attempts_under_a_new_claim(shop: World) -> None:
    shop.fail()
    task = shop.enqueue().task_id
    shop.forward(HOUR, by=MINUTE)
    shop.hosts.script = lambda attempt: Ending()
    assert shop.store.tasks.retry([task, "TSK000000000000"], plugin="shop", now=shop.now) == {task: True}
    assert (shop.task(task).attempt, shop.task(task).claim, shop.task(task).run_at) == (0, 3, shop.now)
    shop.step()
    assert (shop.hosts.started[-1].attempt, shop.hosts.started[-1].claim) == (1, 4)
    assert shop.dead_letters() == []


def test_a2_a_retried_dead_letter_is_dropped_when_its_key_is_queued(shop: World) -> None:
    shop.fail()
    old = shop.enqueue(dedupeKey="k").task_id
    shop.forward(HOUR, by=MINUTE)
    new = shop.enqueue(dedupeKey="k", delaySec=3600).task_id
    assert shop.store.tasks.retry([old], plugin="shop", now=shop.now) == {old: False}
    assert shop.store.tasks.task(old) is None
    assert shop.task(new).state == "queued"


def test_a2_of_two_dead_letters_with_one_key_one_is_retried(shop: World) -> None:
    shop.fail()
    first = shop.enqueue(dedupeKey="k").task_id
    shop.forward(HOUR, by=MINUTE)
    second = shop.enqueue(dedupeKey="k").task_id
    shop.forward(HOUR, by=MINUTE)
    results = shop.store.tasks.retry([first, second], plugin="shop", now=shop.now)
    assert sorted(results.values()) == [False, True]
    assert shop.dead_letters() == []


def test_a3_dead_letters_are_kept_30_days(shop: World) -> None:
    shop.fail()
    task = shop.enqueue().task_id
    shop.forward(HOUR, by=MINUTE)
    died = shop.task(task).finished_at
    assert died is not None
    shop.clock.advance_to(died + 30 * DAY - 1)
    shop.sweeper.run_once(shop.now)
    assert shop.dead_letters() == [task]
    assert len(shop.store.tasks.attempts(task)) == 3, "its attempts stay with it"
    shop.clock.advance_to(died + 30 * DAY)
    while shop.sweeper.run_once(shop.now):
        pass
    assert shop.dead_letters() == []
    assert shop.store.tasks.attempts(task) == []


def test_a4_disabling_keeps_tasks_and_enabling_continues_them(shop: World) -> None:
    shop.hosts.script = lambda attempt: None
    running = shop.enqueue().task_id
    shop.step()
    shop.registry.disable("shop")
    waiting = shop.enqueue().task_id
    shop.hosts.end(shop.hosts.started[0], "failure", "boom")
    shop.forward(HOUR, by=MINUTE)
    assert [attempt.task_id for attempt in shop.hosts.started] == [running]
    assert {shop.task(running).state, shop.task(waiting).state} == {"queued"}
    shop.registry.enable("shop")
    shop.hosts.script = lambda attempt: Ending()
    shop.forward(2 * SECOND)
    assert sorted(a.task_id for a in shop.hosts.started[1:]) == sorted([running, waiting])


def test_a4_uninstalling_removes_tasks_and_dead_letters(shop: World) -> None:
    shop.install(nextskin("mail", jobs={"send": {}}))
    shop.fail()
    dead = shop.enqueue().task_id
    shop.forward(HOUR, by=MINUTE)
    shop.hosts.script = lambda attempt: None
    running, delayed, kept = shop.enqueue(), shop.enqueue(delaySec=9), shop.enqueue("mail", "send", delaySec=9)
    shop.step()
    shop.registry.uninstall("shop")
    assert [shop.store.tasks.task(task) for task in (dead, running.task_id, delayed.task_id)] == [None, None, None]
    assert shop.task(kept.task_id).state == "queued"
    assert [depth.plugin for depth in shop.store.tasks.depths()] == ["mail"]
    shop.hosts.end(next(a for a in shop.hosts.started if a.task_id == running.task_id), "success")
    shop.step()
    assert shop.types("refused") == ["refused"]
    with pytest.raises(Fault, match="no plugin 'shop' is installed"):
        shop.enqueue()


def test_a5_last_error_holds_500_characters_and_nothing_a_store_can_t(shop: World) -> None:
    shop.fail("ü" * 499 + "\0" + "x" * 500 + "\ud800")
    task = shop.enqueue().task_id
    shop.step()
    assert shop.task(task).last_error == "ü" * 499 + "\N{REPLACEMENT CHARACTER}"
    shop.fail("half \ud83d pair")
    shop.clock.advance_to(shop.task(task).run_at)
    shop.step()
    assert shop.task(task).last_error == "half ? pair"


def test_e1_an_undeclared_job_is_refused(shop: World) -> None:
    with pytest.raises(Fault, match=r"ctx\.jobs\.enqueue: no job 'snyc' is declared; did you mean 'sync'"):
        shop.enqueue(job="snyc")


def test_e1_a_job_that_an_upgrade_removed_after_the_check_is_refused_by_the_store(shop: World) -> None:
    order = checked(load("nextskin"), {"sync", "other"}, "other", {}, {}, shop.now)
    shop.install(nextskin())
    with pytest.raises(Fault, match=r"plugin 'shop' declares no job 'other' \(declared: sync\)"):
        shop.enqueuer.accept(load("nextskin"), "shop", [order])


def test_k3_an_upgrade_gives_waiting_tasks_the_new_limits(shop: World) -> None:
    shop.fail()
    fresh, tried = shop.enqueue(delaySec=86_400).task_id, shop.enqueue().task_id
    shop.step()
    shop.install(nextskin(jobs={"sync": {"maxAttempts": 1, "timeoutMs": 5_000}, "other": {}}))
    assert (shop.task(fresh).max_attempts, shop.task(fresh).timeout_ms) == (1, 5_000)
    assert shop.task(tried).max_attempts == 2, "a task that had as many gets one last attempt"
    shop.clock.advance_to(shop.task(tried).run_at)
    shop.step()
    assert shop.task(tried).state == "dead"


def test_one_plugin_s_backlog_does_not_keep_another_waiting(shop: World) -> None:
    shop.install(nextskin("mail", jobs={"send": {}}))
    for _ in range(50):
        shop.enqueue()
    shop.clock.advance_to(shop.now + 1)
    late = shop.enqueue("mail", "send").task_id
    shop.hosts.slots = {"shop": 2, "mail": 2}
    shop.hosts.script = lambda attempt: None
    shop.step()
    assert sorted(a.plugin for a in shop.hosts.started) == ["mail", "shop", "shop"]
    assert late in [a.task_id for a in shop.hosts.started]


def test_tasks_of_a_plugin_start_in_the_order_they_are_due(shop: World) -> None:
    tasks = [shop.enqueue(delaySec=delay).task_id for delay in (3, 1, 2)]
    shop.hosts.slots["shop"] = 1
    shop.forward(5 * SECOND)
    assert [a.task_id for a in shop.hosts.started] == [tasks[1], tasks[2], tasks[0]]


def test_a_stop_gives_back_what_runs(shop: World) -> None:
    shop.hosts.script = lambda attempt: None
    task = shop.enqueue().task_id
    shop.step()
    shop.dispatcher.stop_claiming()
    shop.step()
    assert shop.dispatcher.in_flight == 1
    assert shop.dispatcher.give_back(shop.now) == 1
    assert shop.dispatcher.in_flight == 0
    stored = shop.task(task)
    assert (stored.state, stored.attempt) == ("queued", 0)
    assert shop.dispatcher.run_once(shop.now) == 0


def test_hosts_that_can_t_start_an_attempt_cost_it_nothing(shop: World, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(attempt: Attempt) -> Ending:
        shop.hosts.slots["shop"] = 0
        shop.hosts.running.clear()
        raise OSError("no more processes")

    shop.hosts.script = refuse
    task = shop.enqueue().task_id
    shop.step()
    assert (shop.task(task).state, shop.task(task).attempt) == ("queued", 0)
    assert "no more processes" in caplog.text


def test_a_task_accepted_while_endings_are_written_starts_in_the_same_round(
    core: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is later than the round's beginning; claiming as of then would cost it a look and another claim."""
    core.install(nextskin())
    finish = SqlTasks.finish

    def meanwhile(tasks: SqlTasks, endings: Sequence[Any], *, now: int) -> set[tuple[str, int]]:
        written = finish(tasks, endings, now=now)
        core.clock.advance_to(core.now + 3)
        accepted.append(core.enqueue().task_id)
        return written

    accepted = [core.enqueue().task_id]
    core.dispatcher.run_once(core.now)
    monkeypatch.setattr(SqlTasks, "finish", meanwhile)
    core.hosts.tick()
    core.dispatcher.run_once(core.now)
    assert [attempt.task_id for attempt in core.hosts.started] == accepted
    assert len(accepted) == 2
