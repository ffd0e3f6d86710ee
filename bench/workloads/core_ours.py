"""Our core as the benchmark drives it: one who enqueues, many at once, handlers of a real host that enqueue, and the drain."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workloads.core_peers import CALLERS, Timed, timed

from nsplugin.manifest import Manifest
from nsplugin.platforms import load
from nsplugin.runtime.enqueueing import checked
from nsplugin_core.attempts import Attempt, Deliver, HostPool, Outcome
from nsplugin_core.clock import SystemClock
from nsplugin_core.dispatcher import Dispatcher, Settings
from nsplugin_core.enqueueing import Enqueuer
from nsplugin_core.events import EngineEvent
from nsplugin_core.host.capabilities.services import core_services
from nsplugin_core.host.pool import Hosts
from nsplugin_core.host.settings import HostSettings, PluginSource
from nsplugin_core.loops import Loop
from nsplugin_core.registry import Registry
from nsplugin_core.store import SqlStore, open_store

PLATFORM = load("nextskin")
SLOTS = 400
PLUGIN = """import asyncio

from nsplugin import Job, define_plugin


async def noop():
    pass


async def gathered(payload, attempt, ctx):
    await asyncio.gather(*(ctx.jobs.enqueue("noop", delay_sec=86_400) for _ in range(payload)))


async def single(payload, attempt, ctx):
    await ctx.jobs.enqueue("noop", delay_sec=86_400)


plugin = define_plugin(id="bench", jobs={"noop": Job(noop), "gathered": Job(gathered), "single": Job(single)})
"""
MANIFEST = Manifest.of(
    {"manifestVersion": 1, "platform": "nextskin", "id": "bench", "version": "1.0.0", "entry": "plugin:plugin",
     "capabilities": [], "jobs": {"noop": {}, "gathered": {}, "single": {}}, "cron": [], "routes": {}}, PLATFORM,
)  # fmt: skip
JOBS = ("noop", "gathered", "single")
GATHERED = 100
CLOCK = SystemClock()


def quiet(event: EngineEvent) -> None:
    """Nobody listens."""


class InProcess:
    """Runs a no-op by calling nothing."""

    def __init__(self) -> None:
        self.started: dict[str, float] = {}

    def free(self, plugin: str) -> int:
        return SLOTS

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        now = time.perf_counter()
        for attempt in attempts:
            self.started[attempt.payload_json or ""] = now
        deliver([Outcome(task_id=attempt.task_id, claim=attempt.claim, kind="success") for attempt in attempts])

    def cancel(self, task_id: str, claim: int) -> None:
        pass


@dataclass
class Core:
    """Our engine over a store with the plugin installed."""

    store: SqlStore
    enqueuer: Enqueuer
    woken: Callable[[], None] = lambda: None

    @classmethod
    def over(cls, url: str) -> Core:
        store = open_store(url)
        Registry(store=store, clock=CLOCK).install(MANIFEST, timezone="UTC")
        return cls(store, Enqueuer(store=store, clock=CLOCK, observe=quiet))

    def enqueue(self, payload: Any = None, delay: int = 0, job: str = "noop") -> None:
        order = checked(PLATFORM, JOBS, job, payload, {"delaySec": delay}, CLOCK.now_ms())
        self.enqueuer.accept(PLATFORM, "bench", [order])

    def enqueue_many(self, count: int, delay: int) -> None:
        order = checked(PLATFORM, JOBS, "noop", None, {"delaySec": delay}, CLOCK.now_ms())
        for _ in range(count // 1000):
            self.enqueuer.accept(PLATFORM, "bench", [order] * 1000)

    def dispatcher(self, pool: HostPool) -> Dispatcher:
        dispatcher = Dispatcher(self.store, pool, CLOCK, observe=quiet, settings=Settings(batch=SLOTS))
        self.woken = dispatcher.look_again
        return dispatcher


@contextmanager
def running(dispatcher: Dispatcher) -> Iterator[Loop]:
    """The dispatcher's loop in its thread, as in a real core."""
    loop = Loop("dispatcher", dispatcher, CLOCK, every_ms=1_000, next_due=dispatcher.next_due)
    dispatcher.wake = loop.wake
    loop.start()
    try:
        yield loop
    finally:
        loop.stop()
        dispatcher.close()


def drained(dispatcher: Dispatcher, tasks: int) -> None:
    """Run until that many tasks are finished and written."""
    with running(dispatcher):
        while dispatcher.counts.finished < tasks:
            time.sleep(0.001)


def ours(url: str, tasks: int) -> Timed:
    """Through handlers that are a function call."""
    core = Core.over(url)
    return _timed(core, tasks, InProcess())


def ours_with_hosts(url: str, tasks: int) -> Timed:
    """The same through a host process."""
    core = Core.over(url)
    with hosted(core, SLOTS) as hosts:
        return _timed(core, tasks, hosts)


def _timed(core: Core, tasks: int, pool: HostPool) -> Timed:
    enqueued = timed(lambda: [core.enqueue() for _ in range(tasks)])
    dispatcher = core.dispatcher(pool)
    taken = timed(lambda: drained(dispatcher, tasks))
    assert core.store.tasks.depths() == []
    core.store.close()
    return enqueued, taken


def crowd(url: str, tasks: int) -> float:
    """Seconds for that many threads at once to enqueue all, each one by one."""
    core = Core.over(url)

    def work() -> None:
        for _ in range(tasks // CALLERS):
            core.enqueue()

    threads = [threading.Thread(target=work) for _ in range(CALLERS)]

    def run() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    taken = timed(run)
    assert [depth.tasks for depth in core.store.tasks.depths()] == [tasks // CALLERS * CALLERS]
    core.store.close()
    return taken


@contextmanager
def hosted(core: Core, slots: int) -> Iterator[Hosts]:
    """A host process of the plugin, ready beforehand as the peers' workers are; its handlers enqueue into the core."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plugin.py").write_text(PLUGIN)
        services = core_services(core.store, CLOCK, core.enqueuer, lambda plugin: "nextskin")
        hosts = Hosts(services, settings=HostSettings(slots=slots), changed=lambda plugin: core.woken())
        source = PluginSource(
            id="bench", platform="nextskin", directory=Path(folder), entry="plugin:plugin", manifest=MANIFEST.value
        )
        hosts.put(source)
        hosts.wake("bench")
        while hosts.status("bench").state != "ready":
            time.sleep(0.01)
        try:
            yield hosts
        finally:
            hosts.close()


def gathering_handlers(url: str, tasks: int) -> float:
    """Seconds for attempts in a host, each of which enqueues :data:`GATHERED` tasks at once, to enqueue all."""
    return _handlers(url, "gathered", HostSettings().slots, tasks // GATHERED, tasks)


def single_handlers(url: str, tasks: int) -> float:
    """Seconds for as many attempts in a host, each of which enqueues one task, to begin, enqueue and end."""
    return _handlers(url, "single", CALLERS, tasks, tasks)


def _handlers(url: str, job: str, slots: int, attempts: int, tasks: int) -> float:
    core = Core.over(url)
    for _ in range(attempts):
        core.enqueue(GATHERED, job=job)
    with hosted(core, slots) as hosts:
        dispatcher = core.dispatcher(hosts)
        taken = timed(lambda: drained(dispatcher, attempts))
    assert [depth.tasks for depth in core.store.tasks.depths()] == [tasks]
    core.store.close()
    return taken
