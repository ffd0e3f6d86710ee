"""Accepting tasks: the platform's rules first, then the store (spec/nextskin.md E, spec/cogover.md E)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nsplugin.platforms import Platform, load
from nsplugin.runtime.enqueueing import INVALID, Order, checked
from nsplugin.runtime.faults import Fault
from nsplugin_core.clock import Clock
from nsplugin_core.events import EngineEvent, Observe, log_event
from nsplugin_core.ids import new_id
from nsplugin_core.store.errors import TooManyUnfinished, UnknownJob, UnknownPlugin
from nsplugin_core.store.protocol import Store
from nsplugin_core.store.records import Enqueued, NewTask

RATE_LIMITED: Final = "RATE_LIMITED"
ID_PREFIX: Final = "TSK"
ID_LENGTH: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """On whose behalf a task is enqueued (spec/cogover.md X1, X6, X8): ``identity`` is the user, ``None`` the system.

    ``by``: ``management``, ``process:<id>``, ``agent:<id>``, or ``None``. ``budget``: automation steps left.
    """

    identity: str | None = None
    by: str | None = None
    budget: int | None = None


NOBODY: Final = Origin()


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueuer:
    """Turns checked orders into stored tasks. May be called from any thread."""

    store: Store
    clock: Clock
    source: random.Random = field(default_factory=random.SystemRandom)
    observe: Observe = log_event

    def enqueue(self, plugin: str, job: str, payload: Any, options: Mapping[str, Any], origin: Origin = NOBODY) -> Enqueued:
        """Check what came from outside against the installed version, and accept it. Raises :class:`Fault`.

        ``options`` go by the platform's own names (``delaySec``, ``idempotencyKey``).
        """
        installed = self.store.registry.installed(plugin)
        if installed is None:
            raise Fault("NOT_FOUND", str(UnknownPlugin(plugin)))
        platform = load(installed.plugin.platform)
        declared = {limits.name for limits in installed.jobs}
        return self.accept(platform, plugin, [checked(platform, declared, job, payload, options, self.clock.now_ms())], origin)[
            0
        ]

    def accept(self, platform: Platform, plugin: str, orders: Sequence[Order], origin: Origin = NOBODY) -> list[Enqueued]:
        """Store orders that :func:`nsplugin.runtime.enqueueing.checked` let through, all or none. Raises :class:`Fault`."""
        now = self.clock.now_ms()
        tasks = [self._task(platform, plugin, order, origin, now) for order in orders]
        try:
            results = self.store.tasks.enqueue(tasks)
        except UnknownPlugin as error:
            raise Fault("NOT_FOUND", str(error)) from error
        except UnknownJob as error:
            raise Fault(INVALID, f"{platform.enqueue.method}: {error}", job=error.job) from error
        except TooManyUnfinished as error:
            raise Fault(RATE_LIMITED, f"{platform.enqueue.method}: {error}", limit=error.limit) from error
        for order, result in zip(orders, results, strict=True):
            self.observe(_event(plugin, order, result, now))
        return results

    def _task(self, platform: Platform, plugin: str, order: Order, origin: Origin, now: int) -> NewTask:
        return NewTask(
            id=task_id(platform, self.source),
            plugin=plugin,
            job=order.job,
            payload=order.payload,
            due_at=order.due_at,
            created_at=now,
            source="enqueue",
            key=order.key,
            key_scope=platform.enqueue.key_scope,
            max_unfinished=platform.enqueue.max_unfinished,
            enqueued_by=origin.by,
            identity=origin.identity,
            budget=origin.budget,
        )


def task_id(platform: Platform, source: random.Random) -> str:
    """A new id, of the form that the platform's file prescribes if it prescribes one (spec/cogover.md X7)."""
    if platform.run_id is None:
        return new_id(ID_PREFIX, ID_LENGTH, source)
    prefix, _, _ = platform.run_id.pattern.partition("[")
    return new_id(prefix, platform.run_id.max_length, source)


def _event(plugin: str, order: Order, result: Enqueued, now: int) -> EngineEvent:
    return EngineEvent(
        at=now,
        type="duplicate" if result.duplicate else "enqueue",
        plugin=plugin,
        job=order.job,
        task=result.task_id,
        due=order.due_at,
    )
