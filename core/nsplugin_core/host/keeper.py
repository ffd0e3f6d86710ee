"""Keeps the host of one plugin alive: starts it when there is work, again after growing waits when it exits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from math import inf
from typing import Literal

from nsplugin.runtime.providers import Services
from nsplugin_core.attempts import Attempt, Deliver
from nsplugin_core.clock import Clock
from nsplugin_core.host.capabilities.answers import Answers
from nsplugin_core.host.logs import LogRecord, LogSink
from nsplugin_core.host.process import HostProcess
from nsplugin_core.host.routes import RouteRequest, RouteResponse
from nsplugin_core.host.settings import HostSettings, PluginSource
from nsplugin_core.host.table import HostFailed, refusals


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStatus:
    """How a plugin's host is. ``paused``: it exited; ``reason`` says why, ``resumes_in_s`` when it is started again.

    ``exits``: how often it exited in a row. ``running``: attempts and requests in it. ``held``: why none is started
    (:meth:`nsplugin_core.host.pool.Hosts.hold`).
    """

    plugin: str
    state: Literal["stopped", "starting", "ready", "paused"]
    reason: str = ""
    pid: int | None = None
    running: int = 0
    exits: int = 0
    resumes_in_s: float = 0.0
    held: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What all hosts share. ``held``: why no host is started now, "" when they are."""

    settings: HostSettings
    services: Services
    clock: Clock
    sink: LogSink
    changed: Callable[[str], None]
    held: Callable[[], str]


def pause_s(settings: HostSettings, exits: int) -> float:
    """How long a plugin is paused after its host exited ``exits`` times in a row (spec/core.md Q3)."""
    return min(settings.restart_s * 2.0 ** min(exits - 1, 30), settings.restart_max_s)


class Keeper:
    """One plugin's host, over its exits and restarts. Safe from any thread; nothing blocks."""

    def __init__(self, source: PluginSource, shared: Surroundings) -> None:
        self._source, self._shared = source, shared
        self._answers = Answers(source, shared.services)
        self._lock = threading.Lock()
        self._host: HostProcess | None = None
        self._leaving: list[HostProcess] = []
        self._exits = 0
        self._reason = ""
        self._resumes = 0.0
        self._closed = False

    def free(self) -> int:
        """How many attempts can start now. A host that only sleeps is as good as ready; one that exited proves itself first."""
        with self._lock:
            host = self._host
            if host is None and not self._may_start():
                return 0
            if host is None and not self._exits:
                return self._shared.settings.slots
        host = self._wanted()
        if host is not None and self._exits:
            # one at a time until the host has settled: whatever ends it takes nobody else along
            return min(host.free(), int(host.running() == 0))
        return 0 if host is None else host.free()

    def wake(self) -> None:
        """Start the host now, so that the first attempt finds it ready."""
        self._wanted()

    def _wanted(self) -> HostProcess | None:
        with self._lock:
            if self._host is None and self._may_start():
                self._host = self._new()
            return self._host

    def _may_start(self) -> bool:
        return not self._closed and not self._shared.held() and time.monotonic() >= self._resumes

    def _new(self) -> HostProcess | None:
        shared = self._shared
        host = HostProcess(self._source, shared.settings, self._answers, shared.sink, shared.clock, self._changed)
        try:
            host.begin()
        except RuntimeError as error:  # the system has no thread to spare
            self._pause(str(error))
            return None
        return host

    def _pause(self, reason: str) -> None:
        self._reason = reason
        self._exits += 1
        self._resumes = time.monotonic() + pause_s(self._shared.settings, self._exits)

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        """Run attempts, or give them back."""
        host = self._wanted()
        if host is not None:
            host.add(attempts, deliver)
        else:
            deliver(refusals(attempts, self._absent()))

    def request(self, route: str, request: RouteRequest, answer: Future[RouteResponse]) -> None:
        """Call a route, once a host that is starting is ready; not when it is paused."""
        host = self._wanted()
        if host is None:
            answer.set_exception(HostFailed(self._absent(), "HOST_UNAVAILABLE"))
        else:
            host.request(route, request, answer)

    def _absent(self) -> str:
        return self._shared.held() or self._reason or "the plugin has no host now"

    def cancel(self, task_id: str, claim: int) -> None:
        """Give up an attempt, in whichever host it runs."""
        for host in self._hosts():
            host.cancel(task_id, claim)

    def replace(self, source: PluginSource) -> None:
        """Run another version from now on; what runs is finished by the old host."""
        with self._lock:
            self._source, self._answers = source, Answers(source, self._shared.services)
            self._exits, self._resumes, self._reason = 0, 0.0, ""
            host = self._host
        if host is not None:
            host.retire("the plugin was replaced", successor=True)

    @property
    def plugin(self) -> str:
        """Whose host it is."""
        return self._source.id

    def status(self) -> HostStatus:
        """How the host is."""
        with self._lock:
            host, wait = self._host, max(0.0, self._resumes - time.monotonic())
            running = sum(each.running() for each in (host, *self._leaving) if each is not None)
            if host is not None:
                state: Literal["starting", "ready"] = "ready" if host.state == "ready" else "starting"
                return HostStatus(plugin=self._source.id, state=state, pid=host.pid, running=running, exits=self._exits)
            idle: Literal["paused", "stopped"] = "paused" if wait else "stopped"
            return HostStatus(
                plugin=self._source.id,
                state=idle,
                reason=self._reason,
                running=running,
                exits=self._exits,
                resumes_in_s=wait,
                held=self._shared.held(),
            )

    def tick(self, now: float) -> float:
        """Do what time brings; returns the next moment at which to look (monotonic seconds)."""
        moments = [host.tick(now) for host in self._hosts()]
        host = self._host
        if host is not None:
            moments.append(self._look_at(host, now))
        elif self._resumes:
            moments.append(self._resumes)
            if self._resumes <= now:
                self._resumes = 0.0
                self._shared.changed(self._source.id)
        return min((moment for moment in moments if moment > now), default=inf)

    def _look_at(self, host: HostProcess, now: float) -> float:
        settings = self._shared.settings
        settled, idle = host.started + settings.settled_s, host.last_work + settings.idle_s
        if settled <= now:
            self._exits = 0
        if idle <= now and host.state == "ready" and not host.running() and not self._shared.held():
            host.retire("it had nothing to do", successor=False)
        return min(moment for moment in (settled, idle, inf) if moment > now)

    def close(self) -> None:
        """Start nothing more; let what runs finish."""
        with self._lock:
            self._closed = True
        for host in self._hosts():
            host.retire("the core is stopping", successor=False)

    def kill(self) -> None:
        """End every host now; what runs is given back."""
        for host in self._hosts():
            host.kill("the core is stopping", blamed=False)

    def join(self, timeout: float) -> bool:
        """Wait until all hosts are gone; whether they are."""
        end = time.monotonic() + timeout
        return all(host.join(max(0.0, end - time.monotonic())) for host in self._hosts())

    def _hosts(self) -> list[HostProcess]:
        with self._lock:
            return [*([self._host] if self._host else ()), *self._leaving]

    def _changed(self, host: HostProcess) -> None:
        """A host became ready, retires, or is gone."""
        with self._lock:
            if host.state == "retiring" and host is self._host:
                self._host = self._new() if host.successor and self._may_start() else None
                self._leaving.append(host)
            elif host.state == "ended":
                self._gone(host)
        self._shared.changed(self._source.id)

    def _gone(self, host: HostProcess) -> None:
        if host in self._leaving:
            self._leaving.remove(host)
        if host is not self._host:  # it was told to retire just then, and says a second time that it is gone
            return
        self._host = None
        self._reason = host.reason
        if host.blamed:
            self._pause(host.reason)
        elif self._may_start():
            self._host = self._new()
        if self._shared.held():
            self._say(f"its host has ended ({host.reason}), and starts again later: {self._shared.held()}")

    def _say(self, message: str) -> None:
        self._shared.sink(LogRecord(plugin=self._source.id, level="warning", message=message, stream="host"))
