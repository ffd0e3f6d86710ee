"""Cores killed, stopped and cut off from their database while tasks flow; then nothing may be missing (spec/core.md B2).

``NSPLUGIN_CHAOS_ROUNDS`` sets the number of rounds on both stores together; ``NSPLUGIN_CHAOS_RESTART`` is a command that
restarts PostgreSQL, run every fiftieth round if set.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from engine_chaos import MAX_ATTEMPTS, TIMEOUT_MS, Audit, FastClock, run_core
from engine_world import STORES, nextskin, store_url
from nsplugin_core.enqueueing import Enqueuer
from nsplugin_core.events import EngineEvent
from nsplugin_core.registry import Registry
from nsplugin_core.store import SqlStore, open_store
from nsplugin_core.store.errors import StoreUnavailable

ROUNDS = int(os.environ.get("NSPLUGIN_CHAOS_ROUNDS", "200"))
SHARE = {"sqlite": 0.4, "postgres": 0.6}
CORES, BURST, PAUSE_S = 2, 15, 0.08
DRAIN_S = 90


class Chaos:
    """Core processes, somebody who enqueues, and somebody who breaks things."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.marks = url, folder / "marks"
        self.marks.touch()
        self.clock = FastClock(time.time_ns() // 1_000_000)
        self.random = random.Random(42)
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["engine_chaos"])
        self.cores: list[BaseProcess] = []
        self.store: SqlStore = open_store(url)
        self.enqueuer = Enqueuer(store=self.store, clock=self.clock, observe=_quiet)
        self.accepted: set[str] = set()
        self.doubtful = 0
        limits = {"maxAttempts": MAX_ATTEMPTS, "timeoutMs": TIMEOUT_MS}
        self.jobs = {"sync": limits, "tick": limits}
        cron = [{"schedule": "* * * * *", "job": "tick"}]
        registry = Registry(store=self.store, clock=self.clock)
        registry.install(nextskin(jobs=self.jobs, cron=cron), timezone="UTC")

    def start_core(self) -> None:
        arguments = (self.url, self.clock.start, str(self.marks), self.random.getrandbits(32))
        process = self.context.Process(target=run_core, args=arguments, daemon=True)
        process.start()
        self.cores.append(process)

    def enqueue(self) -> None:
        """What was accepted must be done; what failed for the database's sake may or may not be."""
        for _ in range(BURST):
            key: dict[str, Any] = {"dedupeKey": f"k{self.random.randrange(40)}"} if self.random.random() < 0.3 else {}
            try:
                result = self.enqueuer.enqueue("shop", "sync", None, {"delaySec": self.random.choice([0, 0, 0, 5]), **key})
                self.accepted.add(result.task_id)
            except StoreUnavailable:
                self.doubtful += 1

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

    def round(self, number: int) -> None:
        self.enqueue()
        self.random.choice([self.kill, self.kill, self.pause, self.cut_off, self.cut_off])()
        restart = os.environ.get("NSPLUGIN_CHAOS_RESTART")
        if restart and number % 50 == 49 and self.url.startswith("postgres"):
            subprocess.run(restart, shell=True, check=True)
        time.sleep(PAUSE_S)

    def settle(self) -> None:
        """No more fires; what is queued is worked off."""
        self._until_it_answers(lambda: Registry(store=self.store, clock=self.clock).install(nextskin(jobs=self.jobs)))
        end = time.monotonic() + DRAIN_S
        while any(depth.state != "dead" for depth in self._until_it_answers(self.store.tasks.depths)):
            assert time.monotonic() < end, f"not worked off: {self.store.tasks.depths()}"
            time.sleep(0.2)

    def _until_it_answers(self, call: Any) -> Any:
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


def _quiet(event: EngineEvent) -> None:
    pass


@contextmanager
def chaos(kind: str, folder: Path) -> Iterator[Chaos]:
    with store_url(kind, folder) as url:
        made = Chaos(url, folder)
        try:
            yield made
        finally:
            made.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.postgres] * (kind == "postgres")) for kind in STORES])
def test_b2_killing_any_process_at_any_moment_loses_nothing_and_runs_nothing_twice_at_once(kind: str, tmp_path: Path) -> None:
    with chaos(kind, tmp_path) as made:
        for _ in range(CORES):
            made.start_core()
        rounds = int(ROUNDS * SHARE[kind])
        for number in range(rounds):
            made.round(number)
        made.settle()
        audit = Audit(store=made.store, accepted=made.accepted, marks=made.marks)
        faults = audit.run()
        assert faults == []
        assert len(made.accepted) > rounds * BURST // 2
        assert audit.attempts > len(made.accepted), "some attempts were cut short"
        assert audit.lost > 0, "no core died with work in hand"


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
