"""Cores that are killed while tasks flow: the process that is killed, and the audit of what was left.

Time runs faster than real: an hour of waits fits into minutes. Every attempt leaves its marks in a file, before and after its
work, so that what really happened can be held against what the store recorded.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from nsplugin_core.attempts import Attempt, Deliver, Outcome, OutcomeKind
from nsplugin_core.dispatcher import Dispatcher, Settings
from nsplugin_core.events import EngineEvent
from nsplugin_core.loops import Loop
from nsplugin_core.scheduler import Scheduler
from nsplugin_core.store import SqlStore, open_store
from nsplugin_core.store.errors import StoreUnavailable
from nsplugin_core.store.records import PastAttempt, TaskFilter
from nsplugin_core.sweeper import Sweeper

SPEED = 20
TIMEOUT_MS, GRACE_MS, MAX_ATTEMPTS = 10_000, 5_000, 5
LEASE_MS = TIMEOUT_MS + GRACE_MS
SLOTS = 8
HANGS_S = 1.4 * TIMEOUT_MS / SPEED / 1000


@dataclass(frozen=True, slots=True)
class FastClock:
    """Real time since ``start`` (UTC ms), :data:`SPEED` times as fast; the same in every process."""

    start: int

    def now_ms(self) -> int:
        return self.start + int((time.time() * 1000 - self.start) * SPEED)

    def wait(self, event: threading.Event, until: int | None) -> None:
        event.wait(None if until is None else max(0.0, (until - self.now_ms()) / SPEED / 1000))


class Marks:
    """A file to which many processes append short lines."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(self, kind: str, attempt: Attempt, now: int) -> None:
        os.write(self._file, f"{kind} {attempt.task_id} {attempt.claim} {now}\n".encode())


class Threads:
    """Hosts that run attempts in threads, and fail, hang and give back at random."""

    def __init__(self, clock: FastClock, marks: Marks, seed: int) -> None:
        self._clock, self._marks, self._random = clock, marks, random.Random(seed)
        self._busy, self._lock = 0, threading.Lock()
        self._pool = ThreadPoolExecutor(4 * SLOTS)

    def free(self, plugin: str) -> int:
        return SLOTS - self._busy

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        with self._lock:
            self._busy += len(attempts)
        for attempt in attempts:
            self._pool.submit(self._run, attempt, deliver, self._random.random())

    def cancel(self, task_id: str, claim: int) -> None:
        """Nothing: a handler that ignores its signal."""

    def _run(self, attempt: Attempt, deliver: Deliver, chance: float) -> None:
        self._marks.write("begin", attempt, self._clock.now_ms())
        time.sleep(HANGS_S if chance > 0.97 else 0.1 if chance > 0.9 else 0.002)
        self._marks.write("end", attempt, self._clock.now_ms())
        with self._lock:
            self._busy -= 1
        kind: OutcomeKind = "deferred" if chance < 0.05 else "failure" if chance < 0.15 else "success"
        deliver([Outcome(task_id=attempt.task_id, claim=attempt.claim, kind=kind, error="chance")])


def run_core(url: str, start: int, marks: str, seed: int) -> None:
    """A core process with all its loops, until it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    clock = FastClock(start)
    store = opened(url)
    settings = Settings(grace_ms=GRACE_MS)
    dispatcher = Dispatcher(store, Threads(clock, Marks(marks), seed), clock, observe=quiet, settings=settings)
    loop = Loop("dispatcher", dispatcher, clock, every_ms=1_000, next_due=dispatcher.next_due)
    dispatcher.wake = loop.wake
    scheduler = Scheduler(store=store, observe=quiet)
    clockwork = Loop("scheduler", scheduler, clock, every_ms=1_000, next_due=scheduler.next_due)
    for each in (loop, clockwork, Loop("sweeper", Sweeper(store=store), clock, every_ms=60_000)):
        each.start()
    threading.Event().wait()


def opened(url: str) -> SqlStore:
    """A store, as soon as its database answers."""
    while True:
        try:
            return open_store(url)
        except StoreUnavailable:
            time.sleep(0.2)


def quiet(event: EngineEvent) -> None:
    """Nobody listens."""


@dataclass
class Life:
    """What the marks say of one attempt: when its work began and ended (``None``: it was killed first)."""

    begin: int
    end: int | None = None


@dataclass
class Audit:
    """Finds what must not be: each entry of ``faults`` is a sentence."""

    store: SqlStore
    accepted: set[str]
    marks: Path
    faults: list[str] = field(default_factory=list)
    attempts: int = 0
    lost: int = 0
    given_back: int = 0

    def run(self) -> list[str]:
        lives = self._lives()
        dead = {task.id: task for task in self.store.tasks.page(TaskFilter(state="dead", limit=100_000))}
        for task_id in self.accepted | set(lives):
            past = self.store.tasks.attempts(task_id)
            self.attempts += len(past)
            self.lost += sum(each.outcome == "lost" for each in past)
            self.given_back += sum(each.outcome == "deferred" for each in past)
            self._ended_once(task_id, past, dead)
            self._explained(task_id, past, lives.get(task_id, {}))
            self._apart(task_id, past, lives.get(task_id, {}))
        return self.faults

    def _lives(self) -> dict[str, dict[int, Life]]:
        lives: dict[str, dict[int, Life]] = defaultdict(dict)
        for line in self.marks.read_text().splitlines():
            kind, task, claim, moment = line.split()
            if kind == "end":
                lives[task][int(claim)].end = int(moment)
            elif int(claim) in lives[task]:
                self.faults.append(f"{task}: claim {claim} was started twice")
            else:
                lives[task][int(claim)] = Life(int(moment))
        return lives

    def _ended_once(self, task_id: str, past: list[PastAttempt], dead: Mapping[str, object]) -> None:
        """Nothing accepted is lost, nothing done is done on; a dead letter has used up its attempts (B2, X4, X5)."""
        successes = [each for each in past if each.outcome == "success"]
        spent = [each for each in past if each.outcome != "deferred"]
        if len(successes) + int(task_id in dead) != 1:
            self.faults.append(
                f"{task_id}: {len(successes)} successes, dead letter: {task_id in dead}, attempts: {_short(past)}"
            )
        if task_id in dead and len(spent) != MAX_ATTEMPTS:
            self.faults.append(f"{task_id}: dead after {len(spent)} attempts that count: {_short(past)}")
        if len(spent) > MAX_ATTEMPTS:
            self.faults.append(f"{task_id}: {len(spent)} attempts: {_short(past)}")

    def _explained(self, task_id: str, past: list[PastAttempt], lives: dict[int, Life]) -> None:
        """Every side effect has its recorded attempt, and every success its side effect."""
        claims = [each.claim for each in past]
        if claims != list(range(1, len(claims) + 1)):
            self.faults.append(f"{task_id}: claims {claims}")
        for claim in set(lives) - set(claims):
            self.faults.append(f"{task_id}: work of claim {claim} that no attempt explains")
        for each in past:
            life = lives.get(each.claim)
            if each.outcome == "success" and (life is None or life.end is None):
                self.faults.append(f"{task_id}: claim {each.claim} succeeded without its work")

    def _apart(self, task_id: str, past: list[PastAttempt], lives: dict[int, Life]) -> None:
        """An attempt begins when the one before has ended, or its host has, or its lease (B2)."""
        for before, after in pairwise(past):
            first, second = lives.get(before.claim), lives.get(after.claim)
            if first is None or second is None:
                continue
            over = before.started_at + LEASE_MS
            died = before.ended_at if before.outcome == "deferred" else over
            if second.begin < min(over, died if first.end is None else first.end):
                self.faults.append(f"{task_id}: claims {before.claim} and {after.claim} overlap: {first}, {second}")


def _short(past: list[PastAttempt]) -> str:
    return ", ".join(f"{each.claim}:{each.outcome}" for each in past) or "none"
