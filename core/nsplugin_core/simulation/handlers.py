"""Real handlers on virtual time: host processes in which one attempt at a time is awake.

An attempt is run until its handler has ended, or sleeps in ``ctx.sleep`` and its host has nothing else to do. Then the next
one is. So the order of everything that handlers do depends on virtual time alone, not on the machine.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from nsplugin.manifest import Manifest
from nsplugin.runtime.faults import Fault
from nsplugin.runtime.invocation import Facts
from nsplugin.runtime.providers import Providers
from nsplugin_core.attempts import Attempt, Outcome
from nsplugin_core.clock import Clock
from nsplugin_core.enqueueing import Enqueuer
from nsplugin_core.host.capabilities.secrets import from_environment
from nsplugin_core.host.capabilities.services import core_services
from nsplugin_core.host.logs import LogSink
from nsplugin_core.host.pool import Hosts
from nsplugin_core.host.settings import HostSettings, PluginSource
from nsplugin_core.simulation.scenario import Scenario
from nsplugin_core.store.protocol import Store

NOTICED_S: Final = 1.0
"""Real seconds after which a person is told that no virtual time passed."""
_START_S: Final = 60.0
_GRACE_S: Final = 1.0
"""Real seconds for a handler to let go once its time is over; it is cancelled after half of them."""
Key = tuple[str, int]


class HandlersFailed(Exception):
    """The plugin's code can't be run at all; the message says why."""


@dataclass(slots=True)
class _Awake:
    """The attempt that runs now. ``asleep``: how many of its sleeps are pending; ``rests``: its host waits for time alone."""

    attempt: Attempt
    asleep: int = 0
    rests: bool = False
    stuck: bool = False


@dataclass(slots=True)
class _State:
    """What the hosts' threads and the simulation share, under one condition."""

    awake: _Awake | None = None
    known: dict[str, _Awake] = field(default_factory=dict)
    sleepers: list[tuple[int, int, str, Future[None]]] = field(default_factory=list)
    ended: deque[Outcome] = field(default_factory=deque)


class RealHandlers:
    """:class:`~nsplugin_core.simulation.hosts.Handlers` over :class:`~nsplugin_core.host.pool.Hosts`."""

    def __init__(
        self,
        scenario: Scenario,
        store: Store,
        clock: Clock,
        enqueuer: Enqueuer,
        settings: HostSettings,
        providers: Providers,
        sink: LogSink,
        note: Callable[[str], None],
    ) -> None:
        self._scenario, self._clock, self._note = scenario, clock, note
        self._state, self._changed = _State(), threading.Condition()
        self._numbers = itertools.count()
        self._noted: set[str] = set()
        platforms = {plugin.manifest.id: plugin.manifest.platform.name for plugin in scenario.plugins}
        services = core_services(store, clock, enqueuer, platforms.__getitem__, providers, sleep=self._sleep, rest=self._rest)
        self._hosts = Hosts(services, settings=_unhurried(settings), clock=clock, sink=sink, changed=self._look)
        for plugin in scenario.plugins:
            self._hosts.put(_source(plugin.manifest, plugin.folder, scenario))

    def run(self, attempt: Attempt) -> list[Outcome]:
        """Start an attempt and let it go on until it rests."""
        self._ready(attempt.plugin)
        awake = _Awake(attempt)
        self._state.known[attempt.task_id] = awake
        with self._changed:
            self._state.awake = awake
        self._hosts.start([attempt], self._take)
        return self._until_rest(awake)

    def wake(self, now: int) -> list[Outcome]:
        """Wake the first sleeper that is due."""
        _, _, task_id, future = heapq.heappop(self._state.sleepers)
        awake = self._state.known[task_id]
        with self._changed:
            self._state.awake, awake.rests = awake, False
            awake.asleep -= 1
        future.set_result(None)
        return self._until_rest(awake)

    def next_due(self) -> int | None:
        """When the next sleeper wakes."""
        return self._state.sleepers[0][0] if self._state.sleepers else None

    def cancel(self, attempt: Attempt) -> list[Outcome]:
        """Abort an attempt, end its sleeps, and wait for its handler to let go; its host is ended when that does not help."""
        awake = self._state.known.pop(attempt.task_id, None)
        if awake is None:
            return []
        pid = self._hosts.status(attempt.plugin).pid
        self._hosts.cancel(attempt.task_id, attempt.claim)
        self._drop_sleeps({attempt.task_id}, f"timed out after {attempt.timeout_ms} ms")
        if self._released(attempt.plugin, pid):
            return []
        running = [each.attempt for each in self._state.known.values() if each.attempt.plugin == attempt.plugin]
        self.exit(attempt.plugin)
        reason = f"the plugin's host exited: attempt {attempt.attempt} of job {attempt.job!r} went on after its time was over"
        return [Outcome(task_id=each.task_id, claim=each.claim, kind="deferred", error=reason) for each in running[:1]]

    def exit(self, plugin: str) -> None:
        """End the plugin's host; the next attempt starts another."""
        gone = {task_id for task_id, each in self._state.known.items() if each.attempt.plugin == plugin}
        with self._changed:
            self._state.awake = None
            for task_id in gone:
                del self._state.known[task_id]
            self._state.ended = deque(each for each in self._state.ended if each.task_id not in gone)
        self._drop_sleeps(gone, "the host exited")
        pid = self._hosts.status(plugin).pid
        self._hosts.kill(plugin)
        with self._changed:
            self._changed.wait_for(lambda: pid is None or self._hosts.status(plugin).pid != pid, _START_S)

    def close(self) -> None:
        """End all hosts."""
        self._hosts.close()

    def _ready(self, plugin: str) -> None:
        """Start the plugin's host if there is none, and wait until it has loaded the plugin."""
        if self._hosts.status(plugin).state == "ready":
            return
        exits = self._hosts.status(plugin).exits
        self._hosts.wake(plugin)

        def decided() -> bool:
            status = self._hosts.status(plugin)
            return status.state == "ready" or (status.state != "starting" and status.exits > exits)

        with self._changed:
            self._changed.wait_for(decided, _START_S)
        status = self._hosts.status(plugin)
        if status.state != "ready":
            raise HandlersFailed(f"plugin {plugin!r} can't be run: {status.reason or 'its host does not start'}")

    def _until_rest(self, awake: _Awake) -> list[Outcome]:
        """Wait, in real time, until the attempt has ended or sleeps; what ended meanwhile."""
        began, state = time.monotonic(), self._state

        def rests() -> bool:
            return bool(state.ended) or (awake.rests and awake.asleep > 0)

        with self._changed:
            resting = self._changed.wait_for(rests, self._scenario.real_s)
            ended = list(state.ended)
            state.ended.clear()
            state.awake = None
        awake.stuck = not resting
        self._remark(awake, time.monotonic() - began)
        for outcome in ended:
            state.known.pop(outcome.task_id, None)
            self._drop_sleeps({outcome.task_id}, "the attempt has ended")
        return ended

    def _remark(self, awake: _Awake, seconds: float) -> None:
        job = awake.attempt.job
        if (seconds < NOTICED_S and not awake.stuck) or job in self._noted:
            return
        self._noted.add(job)
        what = (
            f"was still waiting after {seconds:.1f} s of real time, so its attempt runs into its time-out"
            if awake.stuck
            else f"took {seconds:.1f} s of real time"
        )
        self._note(
            f"job {job!r} {what}; no virtual time passes meanwhile: a handler that waits should use ctx.sleep, virtual here"
        )

    def _released(self, plugin: str, pid: int | None) -> bool:
        """Whether the host, the same as before, soon runs nothing any more but what should run."""
        wanted = sum(each.attempt.plugin == plugin for each in self._state.known.values())
        end = time.monotonic() + 2 * _GRACE_S
        while (status := self._hosts.status(plugin)).running > wanted and status.pid == pid:
            if time.monotonic() >= end:
                return False
            time.sleep(0.0005)
        return status.pid == pid

    def _drop_sleeps(self, tasks: set[str], reason: str) -> None:
        sleepers = self._state.sleepers
        gone = [each for each in sleepers if each[2] in tasks]
        if gone:
            self._state.sleepers = [each for each in sleepers if each[2] not in tasks]
            heapq.heapify(self._state.sleepers)
        for *_, future in gone:
            future.set_exception(Fault("JOB_TIMEOUT", reason))

    def _take(self, outcomes: Sequence[Outcome]) -> None:
        """In a host's thread: attempts ended. Those that nobody waits for any more are dropped."""
        with self._changed:
            self._state.ended.extend(each for each in outcomes if each.task_id in self._state.known)
            self._changed.notify_all()

    def _sleep(self, facts: Facts, milliseconds: int) -> Any:
        """In a host's thread: an attempt sleeps."""
        future: Future[None] = Future()
        with self._changed:
            awake = self._state.known.get(facts.id)
            if awake is None:
                raise Fault("JOB_TIMEOUT", "the attempt is over")
            awake.asleep, awake.rests = awake.asleep + 1, False
            heapq.heappush(self._state.sleepers, (self._clock.now_ms() + milliseconds, next(self._numbers), facts.id, future))
        return future

    def _rest(self, facts: Facts) -> None:
        """In a host's thread: nothing but time brings the host on."""
        with self._changed:
            awake = self._state.awake
            if awake is not None and awake.attempt.plugin == facts.plugin:
                awake.rests = True
                self._changed.notify_all()

    def _look(self, plugin: str) -> None:
        with self._changed:
            self._changed.notify_all()


def _unhurried(settings: HostSettings) -> HostSettings:
    """Without the limits that are counted in real time, and with calls answered in the order in which they are made.

    Attempts that were given up hold a slot until their handlers let go, so there are more slots than are used.
    """
    return replace(
        settings,
        slots=settings.slots * 2,
        start_s=_START_S,
        grace_s=_GRACE_S,
        restart_s=0.0,
        restart_max_s=0.0,
        idle_s=float("inf"),
        patience_s=float("inf"),
        call_threads=1,
        enforce_deadlines=False,
    )


def _source(manifest: Manifest, folder: Path, scenario: Scenario) -> PluginSource:
    return PluginSource(
        id=manifest.id,
        platform=manifest.platform.name,
        directory=folder,
        entry=manifest.entry,
        manifest=manifest.value,
        environment={"PYTHONHASHSEED": "0", "NSPLUGIN_RANDOM_SEED": f"{scenario.seed}/{manifest.id}"},
        secrets=from_environment(manifest.id, os.environ),
        allow_internal_system=scenario.internal_system,
    )
