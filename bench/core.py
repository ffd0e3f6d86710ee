"""The core's queue side by side with procrastinate, pgqueuer and huey, in one run on one server: prints a table.

Run it with ``python bench/core.py --postgres postgresql://user@host/database`` (the user may create databases); without a
server SQLite alone is measured. Durability is on everywhere: PostgreSQL as it is set up, SQLite with a sync for every commit.
*in-process* runs handlers as a function call, so that the queue alone is measured; *hosts* runs them in a host process, as a
real core does. Rates are the best of the rounds: other work on the machine only slows. ``--delayed 1000000`` also measures a
claim beside that many delayed tasks.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import core_peers
import psycopg
from core_peers import Timed, timed

from nsplugin.manifest import Manifest
from nsplugin.platforms import load
from nsplugin.runtime.enqueueing import checked
from nsplugin_core.attempts import Attempt, Deliver, HostPool, Outcome
from nsplugin_core.clock import SystemClock
from nsplugin_core.dispatcher import Dispatcher, Settings
from nsplugin_core.enqueueing import Enqueuer
from nsplugin_core.events import EngineEvent
from nsplugin_core.loops import Loop
from nsplugin_core.registry import Registry
from nsplugin_core.store import SqlStore, open_store

PLATFORM = load("nextskin")
SLOTS = 400
PLUGIN = """from nsplugin import Job, define_plugin


async def noop():
    pass


plugin = define_plugin(id="bench", jobs={"noop": Job(noop)})
"""
MANIFEST = Manifest.of(
    {"manifestVersion": 1, "platform": "nextskin", "id": "bench", "version": "1.0.0", "entry": "plugin:plugin",
     "capabilities": [], "jobs": {"noop": {}}, "cron": [], "routes": {}}, PLATFORM,
)  # fmt: skip
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

    @classmethod
    def over(cls, url: str) -> Core:
        store = open_store(url)
        Registry(store=store, clock=CLOCK).install(MANIFEST, timezone="UTC")
        return cls(store, Enqueuer(store=store, clock=CLOCK, observe=quiet))

    def enqueue(self, payload: Any = None, delay: int = 0) -> None:
        order = checked(PLATFORM, ("noop",), "noop", payload, {"delaySec": delay}, CLOCK.now_ms())
        self.enqueuer.accept(PLATFORM, "bench", [order])

    def enqueue_many(self, count: int, delay: int) -> None:
        order = checked(PLATFORM, ("noop",), "noop", None, {"delaySec": delay}, CLOCK.now_ms())
        for _ in range(count // 1000):
            self.enqueuer.accept(PLATFORM, "bench", [order] * 1000)

    def dispatcher(self, pool: HostPool) -> Dispatcher:
        return Dispatcher(self.store, pool, CLOCK, observe=quiet, settings=Settings(batch=SLOTS))


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


def ours(url: str, tasks: int, pool: HostPool | None = None) -> Timed:
    core = Core.over(url)
    enqueued = timed(lambda: [core.enqueue() for _ in range(tasks)])
    dispatcher = core.dispatcher(pool or InProcess())
    taken = timed(lambda: drained(dispatcher, tasks))
    assert core.store.tasks.depths() == []
    core.store.close()
    return enqueued, taken


def ours_with_hosts(url: str, tasks: int) -> Timed:
    """The same through a host process, ready beforehand as the peers' workers are."""
    from nsplugin.runtime.providers import Providers, Services
    from nsplugin_core.host.pool import Hosts
    from nsplugin_core.host.settings import HostSettings, PluginSource

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plugin.py").write_text(PLUGIN)
        core = Core.over(url)
        services = Services(values=core.store.data, queue=_NoQueue(), now=CLOCK.now_ms, providers=Providers())
        ready = threading.Event()
        hosts = Hosts(services, settings=HostSettings(slots=SLOTS), changed=lambda plugin: ready.set())
        source = PluginSource(
            id="bench", platform="nextskin", directory=Path(folder), entry="plugin:plugin", manifest=MANIFEST.value
        )
        hosts.put(source)
        hosts.wake("bench")
        while hosts.status("bench").state != "ready":
            ready.wait(0.05)
        try:
            return ours(url, tasks, hosts)
        finally:
            core.store.close()
            hosts.close()


class _NoQueue:
    """The bench's handler enqueues nothing."""

    def enqueue(self, order: Any, facts: Any, by: str | None) -> Any:
        raise AssertionError("the no-op job enqueues nothing")


def drain_process(url: str, barrier: Barrier) -> None:
    """A core process that drains what is there."""
    core = Core.over(url)
    dispatcher = core.dispatcher(InProcess())
    dispatcher.run_once(0)
    barrier.wait()
    while dispatcher.run_once(CLOCK.now_ms()) or core.store.tasks.horizon().due:
        pass
    barrier.wait()
    core.store.close()


def several(url: str, tasks: int, processes: int) -> float:
    """Seconds for that many core processes to drain the same queue."""
    core = Core.over(url)
    core.enqueue_many(tasks, 0)
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes + 1)
    started = [context.Process(target=drain_process, args=(url, barrier)) for _ in range(processes)]
    for process in started:
        process.start()
    barrier.wait()
    taken = timed(barrier.wait)
    for process in started:
        process.join()
    assert core.store.tasks.depths() == []
    core.store.close()
    return taken


def latency(url: str, count: int = 300) -> tuple[float, float]:
    """Milliseconds from the call of enqueue to the start of the attempt, in the middle and for 99 of 100, at light load."""
    core, pool = Core.over(url), InProcess()
    asked: dict[str, float] = {}
    with running(core.dispatcher(pool)):
        for number in range(count):
            time.sleep(0.01)
            asked[str(number)] = time.perf_counter()
            core.enqueue(number)
        end = time.monotonic() + 10
        while len(pool.started) < count and time.monotonic() < end:
            time.sleep(0.01)
    core.store.close()
    waits = [(pool.started[number] - moment) * 1000 for number, moment in asked.items()]
    return median(waits), quantiles(waits, n=100)[98]


def claims(url: str, delayed: int, rounds: int = 200) -> tuple[float, float]:
    """Milliseconds of a look and a claim of one due task, alone and beside many delayed ones."""
    core = Core.over(url)
    alone = _claim(core, rounds)
    core.enqueue_many(delayed, 86_400)
    beside = _claim(core, rounds)
    core.store.close()
    return alone, beside


def _claim(core: Core, rounds: int) -> float:
    tasks, taken = core.store.tasks, []
    for _ in range(rounds):
        core.enqueue()
        now = CLOCK.now_ms()
        start = time.perf_counter()
        tasks.horizon()
        (attempt,) = tasks.claim({"bench": 10}, now=now, grace_ms=15_000, claimer="bench")
        taken.append((time.perf_counter() - start) * 1000)
        del attempt
    return median(taken)


def idle_memory(url: str) -> float:
    """MB resident in a process that runs the loops of an idle core."""
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    process = context.Process(target=_idle, args=(url, told))
    process.start()
    resident: float = told.get(timeout=60)
    process.join()
    return resident


def _idle(url: str, told: Any) -> None:
    core = Core.over(url)
    with running(core.dispatcher(InProcess())):
        time.sleep(2)
        status = Path("/proc/self/status").read_text()
    told.put(int(status.partition("VmRSS:")[2].split()[0]) / 1024)
    core.store.close()


@contextmanager
def database(server: str) -> Iterator[str]:
    """The URL of a new, empty database on the server, dropped afterwards."""
    name = f"bench_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        connection.execute("CHECKPOINT")
    start, _, query = server.partition("?")
    try:
        yield f"{start.rpartition('/')[0]}/{name}{'?' if query else ''}{query}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def file() -> Iterator[str]:
    """The URL of a new SQLite database, removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/core.db"


Place = Callable[[], Any]
Reached = tuple[str, float, float]
"""What was measured, the ratio reached, and the one wanted."""


def contenders(server: str | None) -> Iterator[tuple[str, Place, Callable[[str, int], Timed]]]:
    """Who takes part: its name, where it works, and how it is measured."""
    yield "SQLite: nsplugin, in-process", file, ours
    yield "SQLite: nsplugin, hosts", file, ours_with_hosts
    yield "SQLite: huey", file, core_peers.huey
    if server is not None:
        place = partial(database, server)
        yield "PostgreSQL: nsplugin, in-process", place, ours
        yield "PostgreSQL: nsplugin, hosts", place, ours_with_hosts
        yield "PostgreSQL: pgqueuer", place, core_peers.pgqueuer
        yield "PostgreSQL: procrastinate", place, core_peers.procrastinate


def rates(server: str | None, tasks: int, rounds: int) -> dict[str, Timed]:
    """Tasks a second in the best of the rounds; everybody takes a turn in each."""
    taken: dict[str, list[Timed]] = {}
    for _ in range(rounds):
        for name, place, measure in contenders(server):
            with place() as url:
                taken.setdefault(name, []).append(measure(url, tasks))
    best: dict[str, Timed] = {}
    print(f"{'tasks a second':36} {'enqueue':>9} {'drain':>9}")
    for name, times in taken.items():
        enqueued, drained_in = (min(column) for column in zip(*times, strict=True))
        best[name] = (tasks / enqueued, tasks / drained_in)
        print(f"{name:36} {best[name][0]:9,.0f} {best[name][1]:9,.0f}")
    return best


GOALS = (
    ("PostgreSQL", "enqueue", "pgqueuer", 1.1),
    ("PostgreSQL", "drain", "pgqueuer", 1.1),
    ("PostgreSQL", "enqueue", "procrastinate", 4.0),
    ("PostgreSQL", "drain", "procrastinate", 4.0),
    ("SQLite", "drain", "huey", 2.0),
)


def compared(measured: dict[str, Timed]) -> Iterator[Reached]:
    """Ours by theirs."""
    for runner in ("in-process", "hosts"):
        for store_name, what, peer, wanted in GOALS:
            mine, theirs = measured.get(f"{store_name}: nsplugin, {runner}"), measured.get(f"{store_name}: {peer}")
            if mine and theirs:
                column = ("enqueue", "drain").index(what)
                yield f"{store_name}, {runner}: {what} / {peer}'s", mine[column] / theirs[column], wanted


def two_processes(server: str, tasks: int) -> Reached:
    """Whether a second core process makes the drain of a long queue faster."""
    taken = []
    for processes in (1, 2):
        with database(server) as url:
            taken.append(several(url, 5 * tasks, processes))
    return "PostgreSQL: drain, two processes / one", taken[0] / taken[1], 1.0


def at_rest(name: str, place: Place, delayed: int) -> Iterator[Reached]:
    """Latency at light load, memory when idle, and a claim beside delayed tasks."""
    with place() as url:
        middle, rare = latency(url)
    with place() as url:
        memory = idle_memory(url)
    print(f"{name}: enqueue to start {middle:.1f} ms, for 99 of 100 within {rare:.1f} ms; {memory:.0f} MB resident when idle")
    yield f"{name}: 10 ms / p50", 10 / middle, 1.0
    yield f"{name}: 30 ms / p99", 30 / rare, 1.0
    yield f"{name}: 80 MB / resident", 80 / memory, 1.0
    if delayed:
        with place() as url:
            alone, beside = claims(url, delayed)
        print(f"{name}: a look and a claim take {alone:.2f} ms, beside {delayed:,} delayed tasks {beside:.2f} ms")
        yield f"{name}: 1.5 x a claim alone / beside delayed", 1.5 * alone / beside, 1.0


def options() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description="Measure the core's queue beside other queues.")
    parser.add_argument("--postgres", default=os.environ.get("NSPLUGIN_TEST_POSTGRES"), help="a server's URL")
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--delayed", type=int, default=0, help="also claim beside that many delayed tasks")
    return parser.parse_args()


def headline(server: str | None, tasks: int) -> str:
    """The date, the machine, and what runs on it."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    if server is None:
        return f"{datetime.now(UTC):%Y-%m-%d}, {machine}; {tasks:,} no-op tasks; no PostgreSQL: name a server with --postgres\n"
    with psycopg.connect(server) as connection:
        version = connection.info.server_version // 10_000
    return f"{datetime.now(UTC):%Y-%m-%d}, {machine}, PostgreSQL {version}; {tasks:,} no-op tasks\n"


def main() -> int:
    """Measure and print; 1 when a goal is missed."""
    chosen = options()
    server: str | None = chosen.postgres
    print(headline(server, chosen.tasks))
    reached = list(compared(rates(server, chosen.tasks, chosen.rounds)))
    print()
    reached += at_rest("SQLite", file, chosen.delayed)
    if server is not None:
        reached += at_rest("PostgreSQL", partial(database, server), chosen.delayed)
        reached.append(two_processes(server, chosen.tasks))
    print(f"\n{'goal':52} {'reached':>8} {'wanted':>7}")
    for what, ratio, wanted in reached:
        print(f"{what:52} {ratio:8.2f} {wanted:7.2f}{'' if ratio >= wanted else '  missed'}")
    return int(any(ratio < wanted for _, ratio, wanted in reached))


if __name__ == "__main__":
    sys.exit(main())
