"""Real hosts over a plugin written for one test: a folder, a pool, and what its attempts came to."""

from __future__ import annotations

import itertools
import json
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nsplugin.platforms import load
from nsplugin.record import replace
from nsplugin.runtime.invocation import Facts
from nsplugin.runtime.memory import MemoryQueue, MemoryValues
from nsplugin.runtime.providers import Providers, Services
from nsplugin_core.attempts import Attempt, Outcome
from nsplugin_core.clock import Clock, SystemClock
from nsplugin_core.host.keeper import HostStatus
from nsplugin_core.host.logs import LogRecord
from nsplugin_core.host.pool import Hosts
from nsplugin_core.host.routes import RouteRequest, RouteResponse
from nsplugin_core.host.settings import HostSettings, PluginSource
from waiting import PATIENCE, until

QUICK = HostSettings(start_s=10, grace_s=0.4, restart_s=0.2, restart_max_s=1.0)
HEADER = "import asyncio, os, signal, sys, threading, time\n"


@dataclass(slots=True, kw_only=True)
class World:
    """A pool with one or more plugins. ``outcomes`` come in as they are delivered."""

    hosts: Hosts
    directory: Path
    values: MemoryValues
    queue: MemoryQueue
    logs: list[LogRecord]
    outcomes: list[Outcome] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    sources: dict[str, PluginSource] = field(default_factory=dict)

    def deliver(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes, as a dispatcher does."""
        with self.arrived:
            self.outcomes.extend(outcomes)
            self.arrived.notify_all()

    def attempt(self, job: str, payload: Any = None, *, plugin: str = "p", **given: Any) -> Attempt:
        """An attempt of a job, claimed just now."""
        source = self.sources[plugin]
        attempt = Attempt(
            task_id=f"task-{next(self.numbers)}",
            claim=1,
            plugin=plugin,
            platform=source.platform,
            job=job,
            payload_json=json.dumps(payload),
            attempt=1,
            max_attempts=5,
            timeout_ms=20_000,
            source="enqueue",
            run_at=1_700_000_000_000,
        )
        return replace(attempt, **given)

    def start(self, *attempts: Attempt) -> tuple[Attempt, ...]:
        """Hand attempts over once the host takes them."""
        for attempt in attempts:
            until(partial(self.hosts.free, attempt.plugin), f"a slot in {attempt.plugin}")
            self.hosts.start([attempt], self.deliver)
        return attempts

    def outcome(self, attempt: Attempt, seconds: float = PATIENCE) -> Outcome:
        """What an attempt came to."""

        def found() -> Outcome | None:
            return next((each for each in self.outcomes if each.task_id == attempt.task_id), None)

        with self.arrived:
            assert self.arrived.wait_for(lambda: found() is not None, seconds), f"no outcome of {attempt.job}"
        outcome = found()
        assert outcome is not None
        return outcome

    def run(self, job: str, payload: Any = None, **given: Any) -> Outcome:
        """Run one attempt to its end."""
        (attempt,) = self.start(self.attempt(job, payload, **given))
        return self.outcome(attempt)

    def request(self, route: str, *, plugin: str = "p", seconds: float = PATIENCE, **given: Any) -> RouteResponse:
        """Call a route."""
        method, path = route.split(" ")
        return self.hosts.request(plugin, route, RouteRequest(method=method, path=path, **given)).result(seconds)

    def status(self, plugin: str = "p") -> HostStatus:
        """How a plugin's host is."""
        return self.hosts.status(plugin)

    def ready(self, plugin: str = "p") -> HostStatus:
        """Start a plugin's host and wait for it."""

        def awake() -> HostStatus | None:
            self.hosts.wake(plugin)
            status = self.status(plugin)
            return status if status.state == "ready" else None

        status: HostStatus = until(awake, f"host {plugin}")
        return status

    def lines(self, *streams: str) -> list[str]:
        """The messages logged on some streams."""
        return [record.message for record in list(self.logs) if record.stream in streams]

    def put(self, code: str, *, id: str = "p", platform: str = "nextskin", **given: Any) -> PluginSource:
        """Write a plugin's code into a folder and let it run. ``manifest`` may be given in part."""
        folder = self.directory / f"{id}-{len(list(self.directory.iterdir()))}"
        folder.mkdir()
        (folder / "main.py").write_text(HEADER + textwrap.dedent(code), encoding="utf-8")
        manifest = _manifest(id, platform, given.pop("jobs", ()), given.pop("capabilities", ("storage.kv",)))
        source = PluginSource(
            id=id,
            platform=platform,
            directory=folder,
            entry=f"main:{load(platform).layout.attribute}",
            manifest=manifest,
            **given,
        )
        self.sources[id] = source
        self.hosts.put(source)
        return source


def _manifest(id: str, platform: str, jobs: Sequence[str], capabilities: Sequence[str]) -> Mapping[str, Any]:
    """As much of a manifest as a host looks at."""
    if load(platform).layout.jobs == "list":
        return {"id": id, "jobs": [{"key": name} for name in jobs]}
    return {"id": id, "jobs": {name: {} for name in jobs}, "capabilities": list(capabilities)}


@contextmanager
def world(
    directory: Path,
    settings: HostSettings = QUICK,
    providers: Providers | None = None,
    clock: Clock | None = None,
    sleep: Callable[[Facts, int], Any] | None = None,
) -> Iterator[World]:
    """A pool whose stores are in memory; closed, with all its hosts, at the end. ``sleep`` passes virtual time."""
    clock = clock or SystemClock()
    values, queue, logs = MemoryValues(), MemoryQueue(clock.now_ms), list[LogRecord]()
    services = Services(values=values, queue=queue, now=clock.now_ms, providers=providers or Providers(), sleep=sleep)
    hosts = Hosts(services, settings=settings, clock=clock, sink=logs.append)
    directory.mkdir(exist_ok=True)
    try:
        yield World(hosts=hosts, directory=directory, values=values, queue=queue, logs=logs)
    finally:
        hosts.close()


def plugin(jobs: str, *, extra: str = "", capabilities: str = '["storage.kv"]', routes: str = "{}") -> str:
    """The end of a NextSkin plugin's module: its definition. ``jobs`` is the inside of a mapping."""
    return (
        "from nsplugin import Job, Response, Route, define_plugin\n"
        f"plugin = define_plugin(id='p', capabilities={capabilities}, jobs={{{jobs}}}, routes={routes}{extra})\n"
    )
