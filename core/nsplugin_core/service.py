"""The core as one thing: store, loops, hosts, metrics and health, put together; the only place that picks a store."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from nsplugin.runtime.providers import Providers
from nsplugin_core import roster, sweeper
from nsplugin_core.clock import Clock, SystemClock
from nsplugin_core.dispatcher import Dispatcher
from nsplugin_core.enqueueing import Enqueuer
from nsplugin_core.events import EngineEvent, Observe, log_event
from nsplugin_core.host.capabilities.services import core_services
from nsplugin_core.host.logs import LogSink, to_logging
from nsplugin_core.host.pool import Hosts
from nsplugin_core.host.settings import HostSettings
from nsplugin_core.loops import Loop
from nsplugin_core.metrics import Metrics
from nsplugin_core.operations import Operations
from nsplugin_core.roster import Roster
from nsplugin_core.scheduler import Scheduler
from nsplugin_core.store import open_store
from nsplugin_core.store.errors import StoreError
from nsplugin_core.sweeper import Sweeper

POLL_MS: Final = 1_000
GRACE_S: Final = 30.0
_LOOK_S: Final = 0.02
_logger: Final = logging.getLogger("nsplugin.core")
State = Literal["new", "running", "stopping", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """``workers``: attempts of one plugin that run at once. ``hosts``: their limits. ``providers``: what answers for records,
    messages and the like.
    """

    workers: int = 8
    hosts: HostSettings = field(default_factory=HostSettings)
    providers: Providers = field(default_factory=Providers)


class Service:
    """A core on a database: many plugins, each in a host of its own. Any number of them may share the database.

    Raises ``StoreError`` when the database can't be opened.
    """

    def __init__(
        self,
        database: str,
        *,
        settings: ServiceSettings | None = None,
        clock: Clock | None = None,
        observe: Observe = log_event,
        sink: LogSink = to_logging,
    ) -> None:
        settings = settings or ServiceSettings()
        self.clock: Clock = clock or SystemClock()
        self.metrics = Metrics()
        self._observe = observe
        self.state: State = "new"
        self.store = open_store(database)
        enqueuer = Enqueuer(store=self.store, clock=self.clock, observe=self._tell)
        services = core_services(self.store, self.clock, enqueuer, self._platform, settings.providers)
        limits = replace(settings.hosts, slots=settings.workers)
        self.hosts = Hosts(services, settings=limits, clock=self.clock, sink=sink, changed=self._host_changed)
        self.roster = Roster(self.store, self.hosts)
        self.dispatcher = Dispatcher(self.store, self.roster, self.clock, observe=self._tell)
        self.operations = Operations.on(self.store, self.clock, enqueuer)
        self.metrics.show_queue(self.store, lambda: self.dispatcher.in_flight, self.hosts.statuses)
        self._dispatching, self._others = self._loops()

    def _loops(self) -> tuple[Loop, list[Loop]]:
        scheduler = Scheduler(store=self.store, observe=self._tell)
        dispatching = Loop("dispatcher", self.dispatcher, self.clock, every_ms=POLL_MS, next_due=self.dispatcher.next_due)
        self.dispatcher.wake = dispatching.wake
        others = [
            Loop("roster", self.roster, self.clock, every_ms=roster.EVERY_MS),
            Loop("scheduler", scheduler, self.clock, every_ms=POLL_MS, next_due=scheduler.next_due),
            Loop("sweeper", Sweeper(store=self.store), self.clock, every_ms=sweeper.EVERY_MS),
        ]
        return dispatching, others

    def start(self) -> None:
        """Begin to work."""
        self.state = "running"
        self.roster.run_once(self.clock.now_ms())
        for loop in (self._dispatching, *self._others):
            loop.start()

    def stop(self, grace_s: float = GRACE_S, hurry: threading.Event | None = None) -> int:
        """Claim nothing more, let what runs finish for ``grace_s`` (or until ``hurry``), and give the rest back.

        Returns how many attempts were given back (spec/core.md Q3).
        """
        self.state = "stopping"
        self.dispatcher.stop_claiming()
        for loop in self._others:
            loop.stop()
        self._await(lambda: not self.dispatcher.in_flight, grace_s, hurry or threading.Event())
        left = self.dispatcher.in_flight
        self.hosts.close()
        self._dispatching.stop()
        self._write_last()
        self.dispatcher.close()
        self.store.close()
        self.state = "stopped"
        return left

    def _await(self, done: Callable[[], bool], seconds: float, hurry: threading.Event) -> None:
        end = time.monotonic() + seconds
        while not done() and not hurry.is_set() and time.monotonic() < end:
            hurry.wait(_LOOK_S)

    def _write_last(self) -> None:
        """The hosts are gone: what ran in them is over, and given back."""
        try:
            self.dispatcher.run_once(self.clock.now_ms())
            self.dispatcher.give_back(self.clock.now_ms())
        except StoreError as error:
            _logger.error("%s; what ran here is found when its leases run out", error)

    def live(self) -> str | None:
        """What is wrong with the process itself, ``None`` when nothing: it should be restarted otherwise."""
        dead = [loop.name for loop in (self._dispatching, *self._others) if not loop.alive]
        dead += [] if self.hosts.watching else ["hosts"]
        return f"stopped: {', '.join(dead)}" if dead and self.state == "running" else None

    def ready(self) -> str | None:
        """Why it does not work now, ``None`` when it does: stopping, or the database is away."""
        if self.state != "running":
            return f"the core is {self.state}"
        failing = [loop.name for loop in (self._dispatching, *self._others) if loop.failing]
        return f"failing: {', '.join(failing)}" if failing else None

    def _tell(self, event: EngineEvent) -> None:
        self.metrics.observe(event)
        self._observe(event)

    def _platform(self, plugin: str) -> str:
        return self.roster.platform(plugin)

    def _host_changed(self, plugin: str) -> None:
        self.metrics.host_changed(self.hosts.status(plugin))
        self.dispatcher.look_again()
