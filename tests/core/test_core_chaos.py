"""Cores killed, stopped and cut off from their database while tasks flow; then nothing may be missing (spec/core.md B2).

``NSPLUGIN_CHAOS_ROUNDS`` sets the number of rounds on both stores together. Some are on a PostgreSQL server of their own, which
is restarted meanwhile.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

import host_chaos
from engine_chaos import MAX_ATTEMPTS, TIMEOUT_MS, Audit, FastClock, quiet, run_core
from engine_world import STORES, nextskin, store_url
from nsplugin_core.enqueueing import Enqueuer
from nsplugin_core.registry import Registry
from nsplugin_core.store import SqlStore, open_store
from nsplugin_core.store.errors import StoreUnavailable
from nsplugin_core.tasks import UNFINISHED
from postgres_cluster import Cluster, cluster

ROUNDS = int(os.environ.get("NSPLUGIN_CHAOS_ROUNDS", "200"))
SHARE = {"sqlite": 0.35, "postgres": 0.4}
HOST_SHARE = 0.15
RESTART_SHARE = 0.1
CORES, BURST, PAUSE_S = 2, 15, 0.08
DRAIN_S = 90


class Chaos:
    """Core processes, somebody who enqueues, and somebody who breaks things."""

    def __init__(self, url: str, folder: Path, run: Callable[[str, int, str, int], None] = run_core) -> None:
        self.url, self.marks, self.run = url, folder / "marks", run
        self.marks.touch()
        self.clock = FastClock(time.time_ns() // 1_000_000)
        self.random = random.Random(42)
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["engine_chaos", "host_chaos"])
        self.cores: list[BaseProcess] = []
        self.store: SqlStore = open_store(url)
        self.enqueuer = Enqueuer(store=self.store, clock=self.clock, observe=quiet)
        self.accepted: set[str] = set()
        self.doubtful = 0
        self.registry = Registry(store=self.store, clock=self.clock)

    def start_core(self) -> None:
        arguments = (self.url, self.clock.start, str(self.marks), self.random.getrandbits(32))
        process = self.context.Process(target=self.run, args=arguments, daemon=True)
        process.start()
        self.cores.append(process)

    def enqueue(self) -> None:
        """What was accepted must be done; what failed for the database's sake may or may not be."""
        for _ in range(BURST):
            try:
                self.accepted.add(self.enqueuer.enqueue("shop", "sync", None, self.options()).task_id)
            except StoreUnavailable:
                self.doubtful += 1

    def options(self) -> dict[str, Any]:
        """Some delays, some keys."""
        key = {"dedupeKey": f"k{self.random.randrange(40)}"} if self.random.random() < 0.3 else {}
        return {"delaySec": self.random.choice([0, 0, 0, 5]), **key}

    def kill(self) -> None:
        victim = self.cores.pop(self.random.randrange(len(self.cores)))
        victim.kill()
        victim.join()
        self.start_core()

    def pause(self) -> None:
        """A core that sleeps beyond its leases, and then goes on as if nothing had been."""
        victim = self.random.choice(self.cores)
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGSTOP)
        time.sleep(self.random.choice([0.05, 0.3]))
        os.kill(victim.pid, signal.SIGCONT)

    def cut_off(self) -> None:
        """Connections die: on PostgreSQL by the server's hand; SQLite has none."""
        server, _, schema = self.url.partition("?schema=")
        if not schema:
            return
        import psycopg

        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s AND random() < 0.5",
                (f"nsplugin:{schema}",),
            )

    def harm(self) -> None:
        """One of the things that can happen."""
        self.random.choice([self.kill, self.kill, self.pause, self.cut_off, self.cut_off])()

    def round(self) -> None:
        self.enqueue()
        self.harm()
        time.sleep(PAUSE_S)

    def settle(self) -> None:
        """What is queued is worked off."""
        end = time.monotonic() + DRAIN_S
        while any(depth.state in UNFINISHED for depth in self.until_it_answers(self.store.tasks.depths)):
            assert time.monotonic() < end, f"not worked off: {self.store.tasks.depths()}"
            time.sleep(0.2)

    def until_it_answers(self, call: Any) -> Any:
        while True:
            try:
                return call()
            except StoreUnavailable:
                time.sleep(0.2)

    def close(self) -> None:
        for core in self.cores:
            core.kill()
            core.join()
        self.store.close()


class HostChaos(Chaos):
    """The same with real hosts, of a Cogover project, and somebody who kills those too."""

    def options(self) -> dict[str, Any]:
        key = {"idempotencyKey": f"k{self.random.randrange(200)}"} if self.random.random() < 0.3 else {}
        return {"delayMs": self.random.choice([0, 0, 0, 5_000]), **key}

    def harm(self) -> None:
        self.random.choice([self.kill, self.pause, self.cut_off, self.kill_host, self.kill_host])()
        time.sleep(0.4)

    def kill_host(self) -> None:
        """While it works."""
        self.enqueue()
        victim = self.random.choice(self.cores)
        assert victim.pid is not None
        self.hosts_killed += host_chaos.kill_hosts(victim.pid)

    hosts_killed = 0


class RestartChaos(Chaos):
    """The same with a database server that is restarted, every other time as if it had crashed, while tasks are accepted."""

    restarts = 0

    def harm(self) -> None:
        if self.restarts > 1 and self.random.random() < 0.6:
            super().harm()
            return
        self.restarts += 1
        restart = self.server.restart("immediate" if self.restarts % 2 else "fast")
        while restart.poll() is None:
            self.enqueue()
        assert restart.returncode == 0, "PostgreSQL did not come back"

    server: Cluster


@contextmanager
def chaos(kind: str, folder: Path, made_of: type[Chaos] = Chaos, **options: Any) -> Iterator[Chaos]:
    with store_url(kind, folder) as url:
        made = made_of(url, folder, **options)
        try:
            yield made
        finally:
            made.close()


def endure(made: Chaos, rounds: int) -> None:
    """Start, break things for so many rounds, and let everything come to its end."""
    for _ in range(CORES):
        made.start_core()
    for _ in range(rounds):
        made.round()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.postgres] * (kind == "postgres")) for kind in STORES])
def test_b2_killing_any_process_at_any_moment_loses_nothing_and_runs_nothing_twice_at_once(kind: str, tmp_path: Path) -> None:
    limits = {"maxAttempts": MAX_ATTEMPTS, "timeoutMs": TIMEOUT_MS}
    jobs = {"sync": limits, "tick": limits}
    rounds = int(ROUNDS * SHARE[kind])
    with chaos(kind, tmp_path) as made:
        made.registry.install(nextskin(jobs=jobs, cron=[{"schedule": "* * * * *", "job": "tick"}]), timezone="UTC")
        endure(made, rounds)
        made.until_it_answers(lambda: made.registry.install(nextskin(jobs=jobs)))
        made.settle()
        audit = Audit(store=made.store, accepted=made.accepted, marks=made.marks)
        assert audit.run() == []
        assert len(made.accepted) > rounds * BURST // 2
        assert audit.attempts > len(made.accepted), "some attempts were cut short"
        assert audit.lost > 0, "no core died with work in hand"


@pytest.mark.slow
@pytest.mark.postgres
def test_b2_restarting_the_database_loses_nothing_and_runs_nothing_twice_at_once(tmp_path: Path) -> None:
    limits = {"maxAttempts": MAX_ATTEMPTS, "timeoutMs": TIMEOUT_MS}
    with cluster() as server, closing(RestartChaos(f"{server.url}?schema=chaos", tmp_path)) as made:
        made.server = server
        made.registry.install(nextskin(jobs={"sync": limits}), timezone="UTC")
        endure(made, max(10, int(ROUNDS * RESTART_SHARE)))
        made.settle()
        audit = Audit(store=made.store, accepted=made.accepted, marks=made.marks)
        assert audit.run() == []
        assert made.restarts > 1, "once as a crash, once in order"
        assert len(made.accepted) > BURST * made.restarts


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.postgres] * (kind == "postgres")) for kind in STORES])
def test_b2_killing_hosts_too_loses_nothing_and_costs_no_attempt(kind: str, tmp_path: Path) -> None:
    rounds = max(10, int(ROUNDS * HOST_SHARE / 2))
    (tmp_path / "main.py").write_text(host_chaos.CODE)
    with chaos(kind, tmp_path, HostChaos, run=host_chaos.run_core) as made:
        assert isinstance(made, HostChaos)
        made.registry.install(host_chaos.MANIFEST, timezone="UTC")
        endure(made, rounds)
        made.settle()
        audit = host_chaos.HostAudit(store=made.store, accepted=made.accepted, marks=made.marks, start=made.clock.start)
        assert audit.run() == []
        assert made.hosts_killed > 0
        assert audit.given_back > 0, "no host died with work in hand"


def test_the_audit_finds_what_must_not_be(tmp_path: Path) -> None:
    """An audit that can't fail proves nothing."""
    with store_url("sqlite", tmp_path) as url:
        store = open_store(url)
        marks = tmp_path / "marks"
        marks.write_text("begin TSKA 1 1000\nbegin TSKA 1 1001\nend TSKA 1 1002\nbegin TSKB 2 5000\n")
        faults = Audit(store=store, accepted={"TSKC"}, marks=marks).run()
        store.close()
    assert "TSKA: claim 1 was started twice" in faults
    assert "TSKB: work of claim 2 that no attempt explains" in faults
    assert "TSKC: 0 successes, dead letter: False, attempts: none" in faults
