"""Served cores, their hosts and their connections are killed at random while tasks flow; then nothing may be missing.

The same audit as of the engine alone (``tests/core/test_core_chaos.py``), with real plugins in real hosts.
``NSPLUGIN_CHAOS_ROUNDS`` sets the number of rounds there; here are one in twenty-five of them, for each is slower.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from nsplugin_core.clock import SystemClock
from nsplugin_core.operations import Operations
from nsplugin_core.store import SqlStore, open_store
from nsplugin_core.store.errors import StoreUnavailable
from service_world import Served, Site
from waiting import until

ROUNDS = max(1, int(os.environ.get("NSPLUGIN_CHAOS_ROUNDS", "200")) // 25)
CORES, BURST, PAUSE_S = 2, 25, 0.25
LEASE_S = 1.0 + 15.0
"""The time-out of the job and the grace of the dispatcher: after so long, what a killed core ran is found."""
PLUGIN = """
    import random
    def work(payload, attempt, ctx):
        life = f"{payload['n']} {random.getrandbits(60)}"
        note(f"begin {life} {time.monotonic()}")
        time.sleep(random.uniform(0, 0.03))
        note(f"end {life} {time.monotonic()}")
    plugin = define_plugin(jobs={"work": {"handler": work, "timeoutMs": 1000, "maxAttempts": 20}})
"""


class Chaos:
    """Cores, somebody who enqueues, and somebody who breaks things."""

    def __init__(self, site: Site) -> None:
        self.site, self.random = site, random.Random(7)
        site.install(PLUGIN)
        self.store = open_store(site.url)
        self.operations = Operations.on(self.store, SystemClock())
        self.accepted: dict[int, str] = {}
        self.numbers = iter(range(1_000_000))
        self.cores = [self.start() for _ in range(CORES)]

    def start(self) -> Served:
        return self.site.serve("--workers", "4", "--grace", "0.2")

    def enqueue(self) -> None:
        """What was accepted must be done; what failed for the database's sake may or may not be."""
        for number, _ in zip(self.numbers, range(BURST), strict=False):
            try:
                self.accepted[number] = self.operations.enqueue("shop", "work", {"n": number}).task_id
            except StoreUnavailable:
                continue

    def break_something(self) -> None:
        """Kill a core, stop one, kill a host, or cut connections."""
        self.random.choice([self.kill_core, self.stop_core, self.kill_host, self.kill_host, self.cut])()

    def kill_core(self) -> None:
        self._replace(signal.SIGKILL)

    def stop_core(self) -> None:
        self._replace(signal.SIGTERM)

    def _replace(self, number: int) -> None:
        victim = self.cores.pop(self.random.randrange(len(self.cores)))
        victim.stop(number)
        self.cores.append(self.start())

    def kill_host(self) -> None:
        """Any child of a core is a host."""
        core = self.random.choice(self.cores)
        for task in Path(f"/proc/{core.process.pid}/task").iterdir():
            for pid in (task / "children").read_text(encoding="ascii").split():
                os.kill(int(pid), signal.SIGKILL)

    def cut(self) -> None:
        """On PostgreSQL, end all connections to this schema at once."""
        if not self.site.url.startswith("postgresql"):
            return
        import psycopg

        server, _, query = self.site.url.partition("?")
        (schema,) = parse_qs(query)["schema"]
        assert urlsplit(server).scheme
        with psycopg.connect(server, autocommit=True) as connection:
            name = f"nsplugin:{schema}"
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", (name,))

    def drain(self) -> None:
        """Until nothing waits or runs; what killed cores ran is found when its leases are over."""
        until(self._is_done, "an empty queue", 4 * LEASE_S)

    def _is_done(self) -> bool:
        try:
            return not self.store.tasks.depths()
        except StoreUnavailable:
            return False


@dataclass
class Life:
    """One execution, as the handler noted it; ``end`` is ``None`` when it was killed."""

    number: int
    begin: float
    end: float | None = None


def lives(diary: list[str]) -> list[Life]:
    """All executions, by their begin."""
    found: dict[str, Life] = {}
    for line in diary:
        word, number, life, moment = line.split()
        if word == "begin":
            found[life] = Life(int(number), float(moment))
        else:
            found[life].end = float(moment)
    return sorted(found.values(), key=lambda life: life.begin)


def faults(accepted: dict[int, str], diary: list[str], store: SqlStore) -> list[str]:
    """What must not be, a sentence each."""
    by_number = defaultdict[int, list[Life]](list)
    for life in lives(diary):
        by_number[life.number].append(life)
    found = [f"{number} was never done" for number in accepted if not any(life.end for life in by_number[number])]
    for number, several in by_number.items():
        if any(first.end is not None and first.end > second.begin for first, second in pairwise(several)):
            found.append(f"{number} ran twice at once")
        recorded = len(store.tasks.attempts(accepted[number])) if number in accepted else len(several)
        if len(several) > recorded:
            found.append(f"{number} was begun {len(several)} times, and {recorded} attempts are recorded")
    return found


def test_the_audit_finds_what_must_not_be(local: Site) -> None:
    local.install(PLUGIN)
    diary = ["begin 1 a 0.1", "begin 1 b 0.2", "end 1 a 0.3", "end 1 b 0.4", "begin 2 c 0.5"]
    with local.store() as store:
        assert faults({1: "TSKA", 2: "TSKB", 3: "TSKC"}, diary, store) == [
            "2 was never done",
            "3 was never done",
            "1 ran twice at once",
            "1 was begun 2 times, and 0 attempts are recorded",
            "2 was begun 1 times, and 0 attempts are recorded",
        ]


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_runs_twice_at_once_whatever_is_killed(site: Site) -> None:
    """spec/core.md B2, spec/nextskin.md X1, X5, X6"""
    chaos = Chaos(site)
    for _ in range(ROUNDS):
        chaos.enqueue()
        time.sleep(chaos.random.uniform(0, PAUSE_S))
        chaos.break_something()
    chaos.drain()
    assert faults(chaos.accepted, site.diary(), chaos.store) == []
    assert len(chaos.accepted) > BURST * ROUNDS / 2
    chaos.store.close()
