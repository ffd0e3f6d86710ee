"""The clock's work: due cron rows become tasks (spec/core.md K1, K2). Any number of processes may run it at once."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from nsplugin.platforms import Platform, load
from nsplugin_core import policy
from nsplugin_core.enqueueing import task_id
from nsplugin_core.events import EngineEvent, EventType, Observe, log_event
from nsplugin_core.store.errors import StoreUnavailable
from nsplugin_core.store.protocol import Store
from nsplugin_core.store.records import DueSchedule, Enqueued, Fired, NewTask, Schedule

BATCH: Final = 100
"""Cron rows taken in one transaction."""
AGAIN_MS: Final = 300_000
"""After how long to try a cron row again that could not be reckoned."""
_logger: Final = logging.getLogger("nsplugin.engine")


@dataclass(slots=True, kw_only=True)
class Scheduler:
    """Makes one task per fire, whoever else tries at the same moment. ``run_once`` and ``next_due`` belong to one thread."""

    store: Store
    source: random.Random = field(default_factory=random.SystemRandom)
    observe: Observe = log_event
    _expected: int | None = field(default=None, init=False)
    """The next fire as of the last look, until it has come."""
    _aside: dict[str, int] = field(default_factory=dict, init=False)
    """The rows that failed here, and when to try them again (UTC ms). They stay due: another core may do better."""

    def run_once(self, now_ms: int) -> int:
        """Take the cron rows that are due at ``now_ms``; returns how many."""
        if not self._expects(now_ms):
            return 0
        self._expected, taken, limit = None, 0, BATCH
        self._aside = {row: again for row, again in self._aside.items() if again > now_ms}
        while True:
            looked: dict[str, Schedule] = {}
            try:
                fired = self._fire(looked, now_ms, limit)
            except StoreUnavailable:
                raise
            except Exception as error:
                if len(looked) == 1:
                    self._put_aside(next(iter(looked.values())), error, now_ms)
                elif limit == 1 or not looked:
                    raise
                limit = 1  # one by one shows whose fault it is
                continue
            taken += len(fired)
            if len(looked) < limit:
                return taken

    def next_due(self) -> int | None:
        """The earliest next fire, or next try of a row that failed (UTC ms)."""
        fire = self.store.registry.next_fire(without=list(self._aside))
        self._expected = min((moment for moment in (fire, *self._aside.values()) if moment is not None), default=None)
        return self._expected

    def _expects(self, now: int) -> bool:
        """Whether something is due: a look that takes no lock, but for a fire that was seen coming."""
        due = self._expected
        if due is None or due > now:
            due = self.next_due()
        return due is not None and due <= now

    def _fire(self, looked: dict[str, Schedule], now: int, limit: int) -> list[tuple[Fired, Sequence[Enqueued]]]:
        """Take rows in one transaction, and tell of it; ``looked`` is filled with all that were due."""

        def decide(due: DueSchedule) -> Fired | None:
            looked[due.schedule.id] = due.schedule
            return self._decide(due, now)

        fired = self.store.registry.fire(decide, now=now, limit=limit, without=list(self._aside))
        for each, enqueued in fired:
            for event in _events(each, enqueued, now):
                self.observe(event)
        return fired

    def _decide(self, due: DueSchedule, now: int) -> Fired | None:
        """A row that can't be reckoned (its zone is gone from tzdata) waits; the others must not wait for it."""
        try:
            return self._fired(due, now)
        except Exception as error:
            self._put_aside(due.schedule, error, now)
            return None

    def _put_aside(self, row: Schedule, error: Exception, now: int) -> None:
        place = (row.plugin, row.pointer, row.expression, row.timezone)
        _logger.error("%s %s: %r in %s makes no task, next try in %d min: %s", *place, AGAIN_MS // 60_000, error)
        self._aside[row.id] = now + AGAIN_MS

    def _fired(self, due: DueSchedule, now: int) -> Fired:
        platform = load(due.platform)
        row = due.schedule
        times = policy.calendar(row.expression, row.timezone, platform.cron.clock_change)
        moment = now if row.next_fire is None else row.next_fire
        firing = policy.fire(platform.cron, times, due=moment, now=now, unfinished=due.unfinished)
        return Fired(
            schedule=row,
            tasks=[self._task(platform, row, instant, now) for instant in firing.instants],
            next_fire=firing.next_fire,
            skipped=firing.skipped,
            caught_up=firing.caught_up,
        )

    def _task(self, platform: Platform, row: Schedule, instant: int, now: int) -> NewTask:
        return NewTask(
            id=task_id(platform, self.source),
            plugin=row.plugin,
            job=row.job,
            payload=row.payload,
            due_at=instant,
            created_at=now,
            source="schedule",
            max_unfinished=platform.enqueue.max_unfinished,
            budget=None if platform.automation is None else platform.automation.max_count,
            schedule_id=row.id,
            fire_at=instant,
        )


def _events(fired: Fired, enqueued: Sequence[Enqueued], now: int) -> Iterator[EngineEvent]:
    for _ in range(fired.skipped):
        yield _event(fired, "skip", now, fired.schedule.last_task or "", fired.schedule.next_fire)
    kind: EventType = "catch-up" if fired.caught_up else "fire"
    for task, placed in zip(fired.tasks, enqueued, strict=True):
        yield _event(fired, kind, now, placed.task_id, task.fire_at)


def _event(fired: Fired, kind: EventType, now: int, task: str, due: int | None) -> EngineEvent:
    return EngineEvent(at=now, type=kind, plugin=fired.schedule.plugin, job=fired.schedule.job, task=task, due=due)
