"""Cores with real hosts, for the chaos test: handlers in processes of their own that are killed as well."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine_chaos import GRACE_MS, MAX_ATTEMPTS, SPEED, TIMEOUT_MS, Audit, FastClock, Life, opened, quiet
from nsplugin.manifest import Manifest
from nsplugin.platforms import load
from nsplugin_core.dispatcher import Dispatcher, Settings
from nsplugin_core.enqueueing import Enqueuer
from nsplugin_core.host.capabilities.services import core_services
from nsplugin_core.host.pool import Hosts
from nsplugin_core.host.settings import HostSettings, PluginSource
from nsplugin_core.loops import Loop

LIMITS: Final = {"timeoutMs": TIMEOUT_MS, "maxAttempts": MAX_ATTEMPTS}
MANIFEST: Final = Manifest.of(
    {
        "manifestVersion": 1,
        "platform": "cogover",
        "id": "shop",
        "entry": "main:jobs",
        "jobs": [{"key": "sync", **LIMITS}],
    },
    load("cogover"),
)
CODE: Final = f"""
import os, random, time
from nsplugin.cogover import RetryableError, define_job

marks = os.open(os.environ["MARKS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def mark(kind, job):
    os.write(marks, f"{{kind}} {{job.id}} {{job.attempt}} {{time.time() * 1000}}\\n".encode())

def sync(job):
    mark("begin", job)
    chance = random.random()
    time.sleep(0.1 if chance > 0.7 else 0.01)
    mark("end", job)
    if chance < 0.1:
        raise RetryableError("chance")

jobs = [define_job({{"key": "sync", **{LIMITS!r}}}, sync)]
"""
QUICK: Final = HostSettings(slots=4, restart_s=0.02, restart_max_s=0.1, grace_s=0.2)
SLACK_MS: Final = 2 * SPEED


def run_core(url: str, start: int, marks: str, seed: int) -> None:
    """A core process with a host, until it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    clock = FastClock(start)
    store = opened(url)
    enqueuer = Enqueuer(store=store, clock=clock, observe=quiet)
    services = core_services(store, clock, enqueuer, lambda plugin: "cogover")
    hosts = Hosts(services, settings=QUICK, clock=clock, changed=lambda plugin: dispatcher.look_again())
    dispatcher = Dispatcher(store, hosts, clock, observe=quiet, settings=Settings(grace_ms=GRACE_MS))
    loop = Loop("dispatcher", dispatcher, clock, every_ms=1_000, next_due=dispatcher.next_due)
    dispatcher.wake = loop.wake
    hosts.put(
        PluginSource(
            id="shop",
            platform="cogover",
            directory=Path(marks).parent,
            entry="main:jobs",
            manifest=MANIFEST.value,
            environment={"MARKS": marks},
        )
    )
    loop.start()
    threading.Event().wait()


def kill_hosts(core: int) -> int:
    """Kill every process below a core; returns how many."""
    killed = 0
    for process in _below(core):
        try:
            os.kill(process, signal.SIGKILL)
            killed += 1
        except ProcessLookupError:
            continue
    return killed


def _below(process: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:
            continue
        found += children + [deeper for child in children for deeper in _below(child)]
    return found


@dataclass
class HostAudit(Audit):
    """A handler knows no claim: its work belongs to the last attempt of its number that was claimed before it began."""

    start: int = 0

    def _lives(self) -> dict[str, dict[int, Life]]:
        lives: dict[str, list[tuple[str, Life]]] = {}
        for line in self.marks.read_text().splitlines():
            kind, task, attempt, moment = line.split()
            virtual = self.start + int((float(moment) - self.start) * SPEED)
            if kind == "begin":
                lives.setdefault(task, []).append((attempt, Life(virtual)))
            else:
                next(life for number, life in reversed(lives[task]) if number == attempt).end = virtual
        return {task: self._by_claim(task, known) for task, known in lives.items()}

    def _by_claim(self, task: str, known: list[tuple[str, Life]]) -> dict[int, Life]:
        past = self.store.tasks.attempts(task)
        claims: dict[int, Life] = {}
        for number, life in known:
            before = [each for each in past if each.number == int(number) and each.started_at <= life.begin + SLACK_MS]
            claim = before[-1].claim if before else 0
            if claim in claims:
                self.faults.append(f"{task}: claim {claim} was started twice")
            claims[claim] = life
        return claims
