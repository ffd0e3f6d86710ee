"""What the stores tell of tasks: pages, attempts, horizons, claims within bounds."""

from __future__ import annotations

import pytest

from engine_world import HOUR, MINUTE, NOON, World, cogover, nextskin
from nsplugin_core.clock import VirtualClock
from nsplugin_core.dispatcher import GRACE_MS
from nsplugin_core.store import MEMORY, open_store
from nsplugin_core.store.records import Horizon, TaskFilter
from nsplugin_core.store.tasks import SqlTasks


def test_pages_list_without_payloads_and_go_on_where_they_ended(shop: World) -> None:
    shop.fail()
    shop.install(cogover())
    made = []
    for number in range(7):
        made.append(shop.enqueue(payload={"n": number}).task_id)
        shop.clock.advance_to(shop.now + 1)
    queued = shop.store.tasks.page(TaskFilter(plugin="shop", state="queued", limit=3))
    assert [task.id for task in queued] == made[:3]
    assert {(task.payload, task.payload_bytes) for task in queued} == {(None, 7)}
    rest = shop.store.tasks.page(TaskFilter(state="queued", after=(queued[-1].run_at, queued[-1].id)))
    assert [task.id for task in rest] == made[3:]
    shop.forward(HOUR, by=MINUTE)
    dead = shop.store.tasks.page(TaskFilter(plugin="shop", state="dead", limit=4))
    last = dead[-1]
    assert last.finished_at is not None
    older = shop.store.tasks.page(TaskFilter(plugin="shop", state="dead", after=(last.finished_at, last.id)))
    assert sorted(task.id for task in [*dead, *older]) == sorted(made)
    assert [t.finished_at or 0 for t in [*dead, *older]] == sorted((t.finished_at or 0 for t in [*dead, *older]), reverse=True)
    assert shop.store.tasks.page(TaskFilter(plugin="shop", state="dead", job="other")) == []
    assert [(d.job, d.state, d.tasks) for d in shop.store.tasks.depths()] == [("sync", "dead", 7)]


def test_recent_attempts_come_latest_first(shop: World) -> None:
    first = shop.enqueue().task_id
    shop.step()
    shop.clock.advance_to(shop.now + 5)
    second = shop.enqueue().task_id
    shop.step()
    assert [past.task_id for past in shop.store.tasks.recent("shop", 10)] == [second, first]
    assert len(shop.store.tasks.recent("shop", 1)) == 1
    assert shop.store.tasks.recent("mail", 10) == []


def test_the_horizon_tells_what_is_next_what_is_first_and_who_is_enabled(shop: World) -> None:
    tasks, alone, both = shop.store.tasks, {"shop"}, {"shop", "mail"}
    assert tasks.horizon() == Horizon(due={}, lease=None, first=None, plugins=alone)
    shop.install(nextskin("mail", jobs={"send": {}}))
    shop.enqueue(delaySec=50)
    shop.enqueue("mail", "send", delaySec=20)
    now = shop.now
    assert tasks.horizon() == Horizon(
        due={"mail": now + 20_000, "shop": now + 50_000}, lease=None, first=now + 20_000, plugins=both
    )
    assert tasks.horizon(since=now + 20_001) == Horizon(
        due={"shop": now + 50_000}, lease=None, first=now + 50_000, plugins=both
    )
    shop.registry.disable("mail")
    assert tasks.horizon() == Horizon(due={"shop": now + 50_000}, lease=None, first=now + 20_000, plugins=alone)
    shop.hosts.script = lambda attempt: None
    shop.enqueue()
    shop.step()
    lease = now + 60_000 + GRACE_MS
    assert tasks.horizon() == Horizon(due={"shop": now + 50_000}, lease=lease, first=now + 20_000, plugins=alone)


def test_word_of_work_costs_one_claim_and_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory: a file is watched as well, and every change to it is a word of work."""
    shop = World(open_store(MEMORY), VirtualClock(NOON))
    shop.install(nextskin(jobs={"sync": {}}))
    calls: list[str] = []
    look, claim = SqlTasks.horizon, SqlTasks.claim
    monkeypatch.setattr(SqlTasks, "horizon", lambda self, **terms: (calls.append("look"), look(self, **terms))[1])
    monkeypatch.setattr(SqlTasks, "claim", lambda self, *a, **terms: (calls.append("claim"), claim(self, *a, **terms))[1])
    shop.step()
    calls.clear()
    task = shop.enqueue().task_id
    shop.step()
    assert calls == ["claim", "look"]
    assert [past.outcome for past in shop.store.tasks.attempts(task)] == ["success"]
    shop.store.close()


def test_more_work_than_slots_is_claimed_as_slots_get_free(shop: World) -> None:
    shop.step()
    tasks = [shop.enqueue(payload={"n": number}).task_id for number in range(30)]
    shop.step()
    started = [event.task for event in shop.events if event.type == "attempt"]
    assert sorted(started) == sorted(tasks)


def test_a_claim_takes_what_is_due_between_its_bounds(shop: World) -> None:
    first, second, third = (shop.enqueue(delaySec=delay).task_id for delay in (1, 2, 3))
    tasks = shop.store.tasks
    now = shop.now + 2_000
    claimed = tasks.claim({"shop": 9, "nobody": 9}, now=now, since=now, grace_ms=1, claimer="test")
    assert [attempt.task_id for attempt in claimed] == [second]
    assert [a.task_id for a in tasks.claim({"shop": 9}, now=now, grace_ms=1, claimer="test")] == [first]
    assert shop.task(third).state == "queued"


def test_a_task_meant_for_the_past_is_due_from_when_it_was_enqueued(core: World) -> None:
    core.install(cogover())
    task = core.task(core.enqueue("orders", runAt=core.now - HOUR).task_id)
    assert (task.due_at, task.run_at) == (core.now - HOUR, core.now)
