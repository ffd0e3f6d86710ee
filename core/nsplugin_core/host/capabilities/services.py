"""The core's own services behind the desk: its stores, its queue, its clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nsplugin.platforms import load
from nsplugin.runtime.enqueueing import Order
from nsplugin.runtime.invocation import Facts
from nsplugin.runtime.providers import Accepted, Providers, Services
from nsplugin_core.clock import Clock
from nsplugin_core.enqueueing import Enqueuer, Origin
from nsplugin_core.store.protocol import Store


class EngineQueue:
    """:class:`~nsplugin.runtime.providers.Queue` over the engine: what handlers enqueue becomes stored tasks.

    ``platform_of`` tells the platform of an installed plugin.
    """

    def __init__(self, enqueuer: Enqueuer, platform_of: Callable[[str], str]) -> None:
        self._enqueuer, self._platform_of = enqueuer, platform_of

    def enqueue(self, order: Order, facts: Facts, by: str | None) -> Accepted:
        """Store a task with the run's identity and what is left of its budget (spec/cogover.md X1, X6, X8)."""
        origin = Origin(identity=facts.user, by=by, budget=facts.automation_steps)
        platform = load(self._platform_of(facts.plugin))
        (stored,) = self._enqueuer.accept(platform, facts.plugin, [order], origin)
        return Accepted(task_id=stored.task_id, duplicate=stored.duplicate)


def core_services(
    store: Store,
    clock: Clock,
    enqueuer: Enqueuer,
    platform_of: Callable[[str], str],
    providers: Providers | None = None,
    sleep: Callable[[Facts, int], Any] | None = None,
    rest: Callable[[Facts], None] | None = None,
) -> Services:
    """What answers calls in a running core. ``sleep`` passes virtual time (it may return a future); without it time is real.

    ``rest`` hears that a host has nothing to do but sleep.
    """
    return Services(
        values=store.data,
        queue=EngineQueue(enqueuer, platform_of),
        now=clock.now_ms,
        providers=providers or Providers(),
        sleep=sleep,
        rest=rest,
    )
