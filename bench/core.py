"""The core's queue side by side with procrastinate, pgqueuer and huey, in one run on one server: prints a table.

Run it with ``python bench/core.py --postgres postgresql://user@host/database`` (the user may create databases); without a
server SQLite alone is measured. Durability is on everywhere: PostgreSQL as it is set up, SQLite with a sync for every commit.
*in-process* runs handlers as a function call, so that the queue alone is measured; *hosts* runs them in a host process, as a
real core does. *enqueue* is one caller who enqueues one by one, each with its own commit; *at once* are 50 callers who each do,
for *hosts* the handlers of a host that enqueue 100 tasks each. Rates are the best of the rounds: other work on the machine only
slows. ``--delayed 1000000`` also measures a claim beside that many delayed tasks.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import psycopg
from workloads import core_ours, core_peers
from workloads.core_ours import CLOCK, Core, InProcess, running
from workloads.core_peers import CALLERS, Timed, timed


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
"""What was measured, the ratio reached, and the one wanted (0: none)."""


class Contender(NamedTuple):
    """Who takes part, where it works, how enqueueing one by one and draining are measured, and how enqueueing at once is."""

    name: str
    place: Place
    alone: Callable[[str, int], Timed]
    at_once: Callable[[str, int], float] | None


class Rate(NamedTuple):
    """Tasks a second."""

    enqueue: float
    at_once: float | None
    drain: float


def contenders(server: str | None) -> Iterator[Contender]:
    """Everybody; the peers' ways of enqueueing at once are told in ``core_peers.py``."""
    ours: list[tuple[str, Place]] = [("SQLite", file)]
    if server is not None:
        ours.append(("PostgreSQL", partial(database, server)))
    for name, place in ours:
        yield Contender(f"{name}: nsplugin, in-process", place, core_ours.ours, core_ours.crowd)
        yield Contender(f"{name}: nsplugin, hosts", place, core_ours.ours_with_hosts, core_ours.gathering_handlers)
    yield Contender("SQLite: huey", file, core_peers.huey, None)
    if server is not None:
        place = partial(database, server)
        yield Contender("PostgreSQL: pgqueuer", place, core_peers.pgqueuer, core_peers.pgqueuer_crowd)
        yield Contender("PostgreSQL: procrastinate", place, core_peers.procrastinate, core_peers.procrastinate_crowd)


def rates(server: str | None, tasks: int, rounds: int) -> dict[str, Rate]:
    """The best of the rounds; everybody takes a turn in each."""
    taken: dict[str, list[tuple[float, ...]]] = {}
    for _ in range(rounds):
        for each in contenders(server):
            with each.place() as url:
                alone = each.alone(url, tasks)
            with each.place() as url:
                crowd = () if each.at_once is None else (each.at_once(url, tasks),)
            taken.setdefault(each.name, []).append((*alone, *crowd))
    print(f"{'tasks a second':36} {'enqueue':>9} {'at once':>9} {'drain':>9}")
    best = {name: _rate(tasks, times) for name, times in taken.items()}
    for name, rate in best.items():
        at_once = "" if rate.at_once is None else f"{rate.at_once:,.0f}"
        print(f"{name:36} {rate.enqueue:9,.0f} {at_once:>9} {rate.drain:9,.0f}")
    return best


def _rate(tasks: int, times: list[tuple[float, ...]]) -> Rate:
    enqueue, drain, *at_once = (tasks / min(column) for column in zip(*times, strict=True))
    return Rate(enqueue, at_once[0] if at_once else None, drain)


GOALS = (
    ("PostgreSQL", "enqueue", "pgqueuer", 1.1),
    ("PostgreSQL", "at_once", "pgqueuer", 1.1),
    ("PostgreSQL", "drain", "pgqueuer", 1.1),
    ("PostgreSQL", "enqueue", "procrastinate", 0.0),
    ("PostgreSQL", "at_once", "procrastinate", 4.0),
    ("PostgreSQL", "drain", "procrastinate", 4.0),
    ("SQLite", "drain", "huey", 2.0),
)
WORDS = {"enqueue": "one caller enqueues", "at_once": f"{CALLERS} callers enqueue", "drain": "drain"}


def compared(measured: dict[str, Rate]) -> Iterator[Reached]:
    """Ours by theirs."""
    for runner in ("in-process", "hosts"):
        for store_name, what, peer, wanted in GOALS:
            mine, theirs = measured.get(f"{store_name}: nsplugin, {runner}"), measured.get(f"{store_name}: {peer}")
            if mine and theirs:
                ratio = getattr(mine, what) / getattr(theirs, what)
                # No peer was asked to enqueue out of its workers: that ratio is told, not wanted.
                told = what == "at_once" and runner == "hosts"
                yield f"{store_name}, {runner}: {WORDS[what]} / {peer}'s", ratio, 0.0 if told else wanted


def handlers(place: Place, name: str, tasks: int) -> None:
    """Say what attempts in a host reach that enqueue one task each."""
    with place() as url:
        taken = core_ours.single_handlers(url, tasks)
    print(f"{name}: {tasks / taken:,.0f} attempts a second in a host that enqueue a task each")


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
    handlers(file, "SQLite", chosen.tasks)
    reached += at_rest("SQLite", file, chosen.delayed)
    if server is not None:
        handlers(partial(database, server), "PostgreSQL", chosen.tasks)
        reached += at_rest("PostgreSQL", partial(database, server), chosen.delayed)
        reached.append(two_processes(server, chosen.tasks))
    print(f"\n{'goal':64} {'reached':>8} {'wanted':>7}")
    for what, ratio, wanted in reached:
        print(f"{what:64} {ratio:8.2f} {f'{wanted:.2f}' if wanted else '':>7}{'' if ratio >= wanted else '  missed'}")
    return int(any(ratio < wanted for _, ratio, wanted in reached))


if __name__ == "__main__":
    sys.exit(main())
