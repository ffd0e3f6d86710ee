"""Queue and scheduler against small models, by hypothesis' stateful tests, on both stores."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from engine_world import DAY, MINUTE, NOON, SECOND, World, cogover, nextskin, world
from nsplugin.cron import Calendar, parse, zone
from nsplugin_core.attempts import Attempt
from nsplugin_core.clock import VirtualClock
from nsplugin_core.dispatcher import GRACE_MS
from nsplugin_core.store import SqlStore
from nsplugin_core.store.records import TaskFilter

EXAMPLES = {"sqlite": 100, "postgres": 30}
STEPS = 30
SLOTS, MAX_ATTEMPTS, TIMEOUT = 2, 3, 60 * SECOND
LEASE = TIMEOUT + GRACE_MS


class Half(random.Random):
    """A random source whose draws are all in the middle: waits are the formula's without jitter."""

    def random(self) -> float:
        return 0.5


@dataclass(frozen=True)
class Model:
    """A task as the model sees it. ``deadline`` is set while a living core runs it."""

    id: str
    key: str | None
    state: str
    run_at: int
    attempt: int = 0
    lease: int = 0
    deadline: int | None = None
    ended_at: int = 0


class Queue(RuleBasedStateMachine):
    """Every way a NextSkin task can go: time, endings, crashes, switches, the administrator's hands."""

    store: ClassVar[SqlStore]

    def __init__(self) -> None:
        super().__init__()
        self.tasks: dict[str, Model] = {}
        self.enabled = True
        self.core = empty(self.store)
        self.core.install(nextskin(jobs={"sync": {"maxAttempts": MAX_ATTEMPTS, "timeoutMs": TIMEOUT}}))
        self.core.hosts.script = lambda attempt: None
        self.core.hosts.slots["shop"] = SLOTS

    @rule(key=st.sampled_from([None, "a", "b"]), delay=st.sampled_from([0, 0, 5, 100]))
    def enqueue(self, key: str | None, delay: int) -> None:
        options: dict[str, Any] = {"delaySec": delay} | ({"dedupeKey": key} if key else {})
        result = self.core.enqueue(**options)
        holder = next((t for t in self.tasks.values() if key and t.key == key and t.state in ("queued", "running")), None)
        assert (result.duplicate, result.task_id if holder else None) == (holder is not None, holder.id if holder else None)
        if holder is None:
            run_at = self.core.now + delay * SECOND
            self.tasks[result.task_id] = Model(id=result.task_id, key=key, state="queued", run_at=run_at)
        self.look()

    @rule(ms=st.sampled_from([0, SECOND, 10 * SECOND, TIMEOUT, LEASE, 2 * LEASE]))
    def forward(self, ms: int) -> None:
        self.core.clock.advance_to(self.core.now + ms)
        self.look()

    @precondition(lambda self: self.core.hosts.running)
    @rule(data=st.data(), kind=st.sampled_from(["success", "failure", "timeout", "deferred"]))
    def end(self, data: st.DataObject, kind: Any) -> None:
        running = sorted(self.core.hosts.running.values(), key=lambda attempt: attempt.task_id)
        attempt: Attempt = data.draw(st.sampled_from(running))
        self.core.hosts.end(attempt, kind, "boom")
        self.conclude(attempt.task_id, kind)
        self.look()

    @rule()
    def crash(self) -> None:
        self.core.hosts.running.clear()
        self.core.dispatcher = self.core.new_dispatcher()
        self.tasks = {task.id: replace(task, deadline=None) for task in self.tasks.values()}

    @rule(off=st.sampled_from([True, False, False, False]))
    def switch(self, off: bool) -> None:
        """The dispatcher may take a second to notice."""
        if off == (not self.enabled):
            return
        self.enabled = not self.enabled
        (self.core.registry.enable if self.enabled else self.core.registry.disable)("shop")
        self.forward(SECOND)

    @precondition(lambda self: any(task.state == "dead" for task in self.tasks.values()))
    @rule(data=st.data(), delete=st.booleans())
    def dead_letter(self, data: st.DataObject, delete: bool) -> None:
        dead = data.draw(st.sampled_from(sorted(task.id for task in self.tasks.values() if task.state == "dead")))
        task = self.tasks.pop(dead)
        if delete:
            assert self.core.store.tasks.delete([dead], plugin="shop") == [dead]
            return
        free = not any(t.key == task.key and t.state in ("queued", "running") for t in self.tasks.values() if task.key)
        assert self.core.store.tasks.retry([dead], plugin="shop", now=self.core.now) == {dead: free}
        if free:
            self.tasks[dead] = replace(task, state="queued", attempt=0, run_at=self.core.now)

    @rule(days=st.sampled_from([1, 30]))
    def sweep(self, days: int) -> None:
        self.forward(days * DAY)
        while self.core.sweeper.run_once(self.core.now):
            pass
        gone = [t.id for t in self.tasks.values() if t.state == "dead" and t.ended_at + 30 * DAY <= self.core.now]
        self.tasks = {task.id: task for task in self.tasks.values() if task.id not in gone}

    def look(self) -> None:
        """One round of the dispatcher, here and in the model: late ones, lost ones, then claims in order."""
        now = self.core.now
        self.core.dispatcher.run_once(now)
        for task in list(self.tasks.values()):
            if task.deadline is not None and task.deadline <= now:
                self.tasks[task.id] = replace(task, deadline=None)
                if task.lease > now:
                    self.conclude(task.id, "timeout")
        for task in list(self.tasks.values()):
            if task.state == "running" and task.lease <= now:
                self.conclude(task.id, "lost")
        due = sorted((t.run_at, t.id) for t in self.tasks.values() if t.state == "queued" and t.run_at <= now)
        free = SLOTS - sum(1 for task in self.tasks.values() if task.deadline is not None)
        for _, task_id in due[:free] if self.enabled else ():
            task = self.tasks[task_id]
            self.tasks[task_id] = replace(
                task, state="running", attempt=task.attempt + 1, lease=now + LEASE, deadline=now + TIMEOUT
            )

    def conclude(self, task_id: str, kind: str) -> None:
        task, now = self.tasks.pop(task_id), self.core.now
        if kind == "success":
            return
        if kind == "deferred":
            after = replace(task, state="queued", attempt=task.attempt - 1, run_at=now)
        elif task.attempt == MAX_ATTEMPTS:
            after = replace(task, state="dead", ended_at=now)
        else:
            wait = 0 if kind == "lost" else 10 * SECOND * 2 ** (task.attempt - 1)
            after = replace(task, state="queued", run_at=now + wait)
        self.tasks[task_id] = replace(after, deadline=None)

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        stored = {
            task.id: (task.state, task.attempt, task.run_at if task.state == "queued" else None)
            for state in ("queued", "running", "dead")
            for task in self.core.store.tasks.page(TaskFilter(plugin="shop", state=state, limit=1000))
        }
        expected = {t.id: (t.state, t.attempt, t.run_at if t.state == "queued" else None) for t in self.tasks.values()}
        assert stored == expected
        assert {a.task_id for a in self.core.hosts.running.values()} == {t.id for t in self.tasks.values() if t.deadline}


EXPRESSIONS = ("* * * * *", "*/7 * * * *", "30 2 * * *", "0 */6 * * *", "0 0 1 * *")
ZONES = ("UTC", "America/New_York", "Australia/Lord_Howe")


class Schedules(RuleBasedStateMachine):
    """One cron entry through time, downtime, upgrades, moves and switches; every fire is reckoned minute by minute."""

    store: ClassVar[SqlStore]
    made_up: ClassVar[bool]
    """Whether missed fires are made up once and unfinished predecessors hold fires up (NextSkin), or neither (Cogover)."""

    @initialize(expression=st.sampled_from(EXPRESSIONS), timezone=st.sampled_from(ZONES))
    def install(self, expression: str, timezone: str) -> None:
        self.core = empty(self.store)
        self.core.hosts.script = lambda attempt: None
        self.expression, self.timezone, self.enabled, self.unfinished = expression, timezone, True, False
        self.fires = self.skipped = self.caught_up = 0
        self.core.install(self.manifest(), timezone)
        self.plan()

    def manifest(self) -> Any:
        if self.made_up:
            return nextskin("p", cron=[{"schedule": self.expression, "job": "sync"}])
        return cogover("p", jobs=[{"key": "sync", "schedule": {"cron": self.expression, "timezone": self.timezone}}])

    def plan(self) -> None:
        self.next = self.after(self.core.now)

    def after(self, moment: int) -> int:
        calendar = Calendar(parse(self.expression), zone(self.timezone), "defer-once" if self.made_up else "every-match")
        minute = calendar.next(moment // MINUTE)
        assert minute is not None
        return minute * MINUTE

    @rule(ms=st.sampled_from([MINUTE, 90 * SECOND, 59_999, 3 * 3600 * SECOND, 3 * DAY]))
    def forward(self, ms: int) -> None:
        self.core.clock.advance_to(self.core.now + ms)
        self.core.scheduler.run_once(self.core.now)
        due: list[int] = []
        while self.enabled and self.next <= self.core.now:
            due.append(self.next)
            self.next = self.after(self.next)
        if due:
            (self.fire_once if self.made_up else self.fire_each)(due)

    def fire_once(self, due: list[int]) -> None:
        if self.unfinished:
            self.skipped += 1
            return
        self.fires += 1
        self.caught_up += int(len(due) > 1 or self.core.now - due[-1] >= MINUTE)
        self.unfinished = True

    def fire_each(self, due: list[int]) -> None:
        self.fires += sum(1 for moment in due if self.core.now - moment < MINUTE)

    @rule()
    def finish(self) -> None:
        self.core.dispatcher = self.core.new_dispatcher()
        self.core.dispatcher.run_once(self.core.now)
        for attempt in list(self.core.hosts.running.values()):
            self.core.hosts.end(attempt, "success")
        self.core.dispatcher.run_once(self.core.now)
        if self.enabled:
            self.unfinished = False

    @rule(expression=st.sampled_from(EXPRESSIONS))
    def upgrade(self, expression: str) -> None:
        changed = expression != self.expression
        self.expression = expression
        self.core.registry.install(self.manifest())
        if changed:
            self.plan()

    @precondition(lambda self: self.made_up)
    @rule(timezone=st.sampled_from(ZONES))
    def move(self, timezone: str) -> None:
        changed = timezone != self.timezone
        self.timezone = timezone
        self.core.registry.set_timezone("p", timezone)
        if changed:
            self.plan()

    @rule()
    def switch(self) -> None:
        self.enabled = not self.enabled
        (self.core.registry.enable if self.enabled else self.core.registry.disable)("p")
        if self.enabled:
            self.plan()
        if not self.made_up:
            self.fires = 0

    @invariant()
    def the_row_is_the_model_s(self) -> None:
        rows = self.core.store.registry.schedules("p")
        if not self.enabled and not self.made_up:
            assert rows == []
            return
        for row in rows:
            assert (row.fires, row.skipped, row.caught_up) == (self.fires, self.skipped, self.caught_up)
            assert row.next_fire == self.next or not self.enabled


def empty(store: SqlStore) -> World:
    """A core over the store as if nothing had ever been there, the same each time."""
    core = World(store, VirtualClock(NOON), source=Half)
    for plugin in store.registry.plugins():
        core.registry.uninstall(plugin.id)
    return core


def check(machine: type[RuleBasedStateMachine], kind: str, folder: Path, **facts: Any) -> None:
    with world(kind, folder) as core:
        bound: type[Any] = type(machine.__name__, (machine,), {"store": core.store, **facts})
        run_state_machine_as_test(
            bound,
            settings=settings(
                max_examples=EXAMPLES[kind],
                stateful_step_count=STEPS,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
            ),
        )


def test_the_queue_does_what_the_model_does(kind: str, tmp_path: Path) -> None:
    check(Queue, kind, tmp_path)


@pytest.mark.parametrize("made_up", [True, False], ids=["catch-up-once-skip", "none-allow"])
def test_schedules_do_what_the_model_does(kind: str, tmp_path: Path, made_up: bool) -> None:
    check(Schedules, kind, tmp_path, made_up=made_up)
