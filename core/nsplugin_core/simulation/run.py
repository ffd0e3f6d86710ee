"""Runs a scenario: the engine's own loops' bodies, called whenever the virtual clock reaches something to do."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from nsplugin.runtime.faults import Fault
from nsplugin.runtime.providers import Providers
from nsplugin.runtime.standins import local_providers
from nsplugin_core.clock import VirtualClock
from nsplugin_core.dispatcher import Dispatcher, Settings
from nsplugin_core.enqueueing import Enqueuer, Origin
from nsplugin_core.events import EngineEvent
from nsplugin_core.host.logs import LogRecord, LogSink
from nsplugin_core.host.settings import HostSettings
from nsplugin_core.registry import Registry
from nsplugin_core.scheduler import Scheduler
from nsplugin_core.simulation.clock_changes import clock_changes
from nsplugin_core.simulation.handlers import HandlersFailed, RealHandlers
from nsplugin_core.simulation.hosts import VirtualHosts
from nsplugin_core.simulation.orders import ABSENT, OrderError
from nsplugin_core.simulation.scenario import EnqueueOrder, Scenario
from nsplugin_core.simulation.summary import Remark, RemarkKind, Simulation, summarised
from nsplugin_core.store import MEMORY, SqlStore, open_store, open_transient
from nsplugin_core.sweeper import Sweeper

SWEEP_EVERY_MS: Final = 3_600_000
MANAGEMENT: Final = Origin(by="management")


class SimulationFailed(Exception):
    """The plugins can't be simulated; the message says why."""


def simulate(
    scenario: Scenario,
    *,
    settings: HostSettings | None = None,
    providers: Providers | None = None,
    sink: LogSink | None = None,
) -> Simulation:
    """Run a scenario to its end. The same scenario without handlers gives the same result, wherever it runs.

    With handlers that holds as far as they do the same. ``providers`` answer for records, messages and the like, stand-ins
    where there are none; ``sink`` gets what plugins log. Raises :class:`SimulationFailed`,
    and ``OrderError`` for an order to enqueue what the platform refuses.
    """
    store = open_store(MEMORY) if scenario.handlers else open_transient()
    collects = gc.isenabled()
    gc.disable()  # few cycles are made here, and a long list of events is looked through again and again
    try:
        with _World(scenario, store, settings or HostSettings(), providers or local_providers(), sink or _unheard) as world:
            world.run()
            return world.result()
    except HandlersFailed as error:
        raise SimulationFailed(str(error)) from error
    finally:
        store.close()
        if collects:
            gc.enable()


def _unheard(record: LogRecord) -> None:
    pass


@dataclass(slots=True)
class _Agenda:
    """What is ordered for which moment, in order of time; what is ordered first goes first."""

    items: list[tuple[int, Callable[[], None]]] = field(default_factory=list)

    def add(self, at: int, action: Callable[[], None]) -> None:
        self.items.append((at, action))

    def close(self) -> None:
        self.items.sort(key=lambda item: item[0])
        self.items.reverse()

    def next_due(self) -> int | None:
        return self.items[-1][0] if self.items else None

    def run(self, now: int) -> bool:
        """Do what is due; whether there was anything."""
        due = bool(self.items) and self.items[-1][0] <= now
        while self.items and self.items[-1][0] <= now:
            self.items.pop()[1]()
        return due


class _World:
    """One core on a virtual clock, with its faults."""

    def __init__(
        self, scenario: Scenario, store: SqlStore, settings: HostSettings, providers: Providers, sink: LogSink
    ) -> None:
        self._scenario, self._store = scenario, store
        self._clock = VirtualClock(scenario.start)
        self._events: list[EngineEvent] = []
        self._remarks: list[Remark] = []
        self._notes: list[str] = []
        observe = self._events.append
        self._enqueuer = Enqueuer(store=store, clock=self._clock, source=scenario.source("ids"), observe=observe)
        self._scheduler = Scheduler(store=store, source=scenario.source("fires"), observe=observe)
        self._registry = Registry(store=store, clock=self._clock, source=scenario.source("rows"))
        self._jitter = scenario.source("jitter")
        self._handlers = (
            RealHandlers(scenario, store, self._clock, self._enqueuer, settings, providers, sink, self._notes.append)
            if scenario.handlers
            else None
        )
        self._hosts = VirtualHosts(scenario, self._clock, settings, self._handlers, self._host_exited)
        self._dispatcher: Dispatcher | None = None
        self._fire: int | None = None
        self._sweeper, self._swept = Sweeper(store=store), scenario.start
        self._agenda = _Agenda()

    def __enter__(self) -> _World:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handlers is not None:
            self._handlers.close()

    def run(self) -> None:
        """From the first moment to the last."""
        self._prepare()
        now: int | None = self._clock.now_ms()
        while now is not None and now < self._scenario.end:
            self._clock.advance_to(now)
            self._sweep(now)
            if self._agenda.run(now):
                self._fire = self._scheduler.next_due()
            self._work(now)
            now = self._next(now)

    def result(self) -> Simulation:
        """Everything that happened, in order of time."""
        remarks = sorted([*self._remarks, *clock_changes(self._scenario)], key=lambda remark: remark.at)
        unfinished = sum(depth.tasks for depth in self._store.tasks.depths() if depth.state in ("queued", "running"))
        return Simulation(
            scenario=self._scenario,
            events=self._events,
            remarks=remarks,
            summary=summarised(self._events, remarks, unfinished),
            notes=self._notes,
        )

    def _prepare(self) -> None:
        scenario, agenda = self._scenario, self._agenda
        for plugin in scenario.plugins:
            self._registry.install(plugin.manifest, timezone=scenario.timezone, internal_system=scenario.internal_system)
        self._start()
        for begin, end in scenario.outages:
            agenda.add(begin, self._stop)
            agenda.add(end, self._start_again)
        for at, zone in scenario.zone_changes:
            agenda.add(at, partial(self._move, zone))
        for at, plugin_id in scenario.exits_at:
            agenda.add(at, partial(self._exit, plugin_id))
        for order in scenario.enqueues:
            agenda.add(order.at, partial(self._enqueue, order))
        agenda.close()
        self._fire = self._scheduler.next_due()

    def _sweep(self, now: int) -> None:
        """As often as matters: nothing happened since the moment before, so nobody could tell a sweep in between."""
        if self._dispatcher is not None and now - self._swept >= SWEEP_EVERY_MS:
            while self._sweeper.run_once(now):
                pass
            self._swept = now

    def _work(self, now: int) -> None:
        """Until nothing is left to do at this moment."""
        dispatcher = self._dispatcher
        if dispatcher is None:
            return
        if self._fire is not None and self._fire <= now:
            self._scheduler.run_once(now)
            self._fire = self._scheduler.next_due()
        while dispatcher.run_once(now) or self._hosts.advance():
            pass

    def _next(self, now: int) -> int | None:
        moments = [self._agenda.next_due()]
        if self._dispatcher is not None:
            moments += [self._fire, self._dispatcher.next_due(), self._hosts.next_due()]
        later = [moment for moment in moments if moment is not None and moment > now]
        return min(later) if later else None

    def _start(self) -> None:
        self._dispatcher = Dispatcher(
            self._store,
            self._hosts,
            self._clock,
            source=self._jitter,
            observe=self._events.append,
            settings=Settings(claimer="simulation"),
        )

    def _stop(self) -> None:
        """The core is killed: what runs is cut short, and nobody looks at the clock (spec/nextskin.md X5, C6)."""
        if self._dispatcher is not None:
            self._hosts.stop()
            self._dispatcher.close()
            self._dispatcher = None
            self._remark("down", "the core goes down; what runs is cut short")

    def _start_again(self) -> None:
        self._start()
        self._remark("up", "the core is back")

    def _exit(self, plugin: str) -> None:
        if self._dispatcher is not None:
            self._hosts.exit(plugin)

    def _move(self, zone: str) -> None:
        for plugin in self._scenario.plugins:
            self._registry.set_timezone(plugin.manifest.id, zone)
        self._remark("zone-change", f"the site's time zone is {zone} from now on")

    def _enqueue(self, order: EnqueueOrder) -> None:
        plugin, job = order.job
        manifest = next(each.manifest for each in self._scenario.plugins if each.manifest.id == plugin)
        payload = manifest.platform.payload.absent_value if order.payload is ABSENT else order.payload
        try:
            self._enqueuer.enqueue(plugin, job, payload, order.options, MANAGEMENT)
        except Fault as fault:
            raise OrderError(f"--enqueue {job}: {fault}") from fault

    def _host_exited(self, plugin: str, reason: str) -> None:
        self._remark("host-exit", reason, plugin)

    def _remark(self, kind: RemarkKind, text: str, plugin: str = "") -> None:
        self._remarks.append(Remark(at=self._clock.now_ms(), kind=kind, text=text, plugin=plugin))
