"""An engine under test: a store, a virtual clock, hosts that do as they are told, and everything the engine said."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nsplugin.manifest import Manifest
from nsplugin.platforms import load
from nsplugin_core.attempts import Attempt, Deliver, Outcome, OutcomeKind
from nsplugin_core.clock import VirtualClock
from nsplugin_core.dispatcher import Dispatcher, Settings
from nsplugin_core.enqueueing import NOBODY, Enqueuer, Origin
from nsplugin_core.events import EngineEvent
from nsplugin_core.registry import Registry
from nsplugin_core.scheduler import Scheduler
from nsplugin_core.store import SqlStore, open_store
from nsplugin_core.store.records import Enqueued, Task, TaskFilter
from nsplugin_core.sweeper import Sweeper

STORES = ("sqlite", "postgres")
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


def at(text: str) -> int:
    """UTC milliseconds of ``2026-03-08T07:00``."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


NOON = at("2026-06-01T12:00")


@contextmanager
def store_url(kind: str, folder: Path) -> Iterator[str]:
    """The URL of an empty store of that kind, gone afterwards; skips where PostgreSQL is wanted and not named."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'core.db'}"
        return
    server = os.environ.get("NSPLUGIN_TEST_POSTGRES")
    if not server:
        pytest.skip(
            "NSPLUGIN_TEST_POSTGRES is not set: nothing is known about PostgreSQL; set it to postgresql://user@host/database"
        )
    schema = f"t{uuid.uuid4().hex[:20]}"
    try:
        yield f"{server}{'&' if '?' in server else '?'}schema={schema}"
    finally:
        _drop(server, schema)


def _drop(server: str, schema: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE'.encode())


def nextskin(
    plugin: str = "shop",
    *,
    jobs: Mapping[str, Any] | None = None,
    cron: Sequence[Mapping[str, Any]] = (),
) -> Manifest:
    """A NextSkin manifest with a job ``sync`` unless told otherwise."""
    raw = {
        "manifestVersion": 1, "platform": "nextskin", "id": plugin, "version": "1.0.0", "entry": "plugin:plugin",
        "capabilities": [], "jobs": jobs or {"sync": {}}, "cron": list(cron), "routes": {},
    }  # fmt: skip
    return Manifest.of(raw, load("nextskin"))


def cogover(plugin: str = "orders", *, jobs: Sequence[Mapping[str, Any]] = ({"key": "sync"},)) -> Manifest:
    """A Cogover manifest with a job ``sync`` unless told otherwise."""
    raw = {"manifestVersion": 1, "platform": "cogover", "id": plugin, "entry": "main:jobs", "jobs": list(jobs)}
    return Manifest.of(raw, load("cogover"))


@dataclass
class Ending:
    """How a stand-in host ends an attempt; ``after`` ms of virtual time (``None``: never)."""

    kind: OutcomeKind = "success"
    error: str | None = None
    after: int | None = 0


class Hosts:
    """A pool without processes: attempts end as ``script`` says, at once or after some virtual time."""

    def __init__(self, clock: VirtualClock, script: Callable[[Attempt], Ending | None] = lambda attempt: Ending()) -> None:
        self.clock, self.script = clock, script
        self.slots: dict[str, int] = {}
        self.started: list[Attempt] = []
        self.running: dict[tuple[str, int], Attempt] = {}
        self.cancelled: list[tuple[str, int]] = []
        self.later: list[tuple[int, Outcome]] = []
        self.deliver: Deliver | None = None

    def free(self, plugin: str) -> int:
        used = sum(1 for attempt in self.running.values() if attempt.plugin == plugin)
        return max(0, self.slots.get(plugin, 100) - used)

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        self.deliver = deliver
        for attempt in attempts:
            self.started.append(attempt)
            self.running[attempt.task_id, attempt.claim] = attempt
            ending = self.script(attempt)
            if ending is not None and ending.after is not None:
                self.later.append((self.clock.now_ms() + ending.after, _outcome(attempt, ending)))
        self.tick()

    def cancel(self, task_id: str, claim: int) -> None:
        self.cancelled.append((task_id, claim))
        self.running.pop((task_id, claim), None)

    def tick(self) -> None:
        """Deliver what is due by now."""
        due = [outcome for moment, outcome in self.later if moment <= self.clock.now_ms()]
        self.later = [(moment, outcome) for moment, outcome in self.later if moment > self.clock.now_ms()]
        for outcome in due:
            self.running.pop((outcome.task_id, outcome.claim), None)
        if due and self.deliver is not None:
            self.deliver(due)

    def end(self, attempt: Attempt, kind: OutcomeKind, error: str | None = None) -> None:
        """End an attempt now, whether or not it was cancelled."""
        self.running.pop((attempt.task_id, attempt.claim), None)
        assert self.deliver is not None
        self.deliver([_outcome(attempt, Ending(kind, error))])


def _outcome(attempt: Attempt, ending: Ending) -> Outcome:
    return Outcome(task_id=attempt.task_id, claim=attempt.claim, kind=ending.kind, error=ending.error)


@dataclass
class World:
    """One core over a store: what a test drives."""

    store: SqlStore
    clock: VirtualClock
    seed: int = 1
    source: Callable[[int], random.Random] = random.Random
    events: list[EngineEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        source = self.source(self.seed)
        self.hosts = Hosts(self.clock)
        self.registry = Registry(store=self.store, clock=self.clock, source=source)
        self.enqueuer = Enqueuer(store=self.store, clock=self.clock, source=source, observe=self.events.append)
        self.scheduler = Scheduler(store=self.store, source=source, observe=self.events.append)
        self.sweeper = Sweeper(store=self.store)
        self.dispatcher = self.new_dispatcher()

    def new_dispatcher(self, claimer: str = "core-1") -> Dispatcher:
        """A core process's dispatcher on these hosts; the old one is as good as killed."""
        return Dispatcher(
            self.store, self.hosts, self.clock,
            source=self.source(self.seed), observe=self.events.append, settings=Settings(claimer=claimer),
        )  # fmt: skip

    @property
    def now(self) -> int:
        return self.clock.now_ms()

    def install(self, manifest: Manifest, timezone: str = "UTC") -> None:
        self.registry.install(manifest, timezone=timezone)

    def enqueue(
        self, plugin: str = "shop", job: str = "sync", payload: Any = None, origin: Origin = NOBODY, **options: Any
    ) -> Enqueued:
        return self.enqueuer.enqueue(plugin, job, payload, options, origin)

    def step(self) -> None:
        """Everything there is to do now, until there is no more."""
        for _ in range(1000):
            self.hosts.tick()
            if not self.scheduler.run_once(self.now) + self.dispatcher.run_once(self.now):
                return
        raise AssertionError("the engine finds no rest")

    def forward(self, ms: int, *, by: int | None = None) -> None:
        """Let time pass, with a look at every ``by`` ms (all at once by default)."""
        end = self.now + ms
        while self.now < end:
            self.clock.advance_to(min(end, self.now + (by or ms)))
            self.step()

    def task(self, task_id: str) -> Task:
        task = self.store.tasks.task(task_id)
        assert task is not None, f"task {task_id} is not stored"
        return task

    def fail(self, error: str = "boom") -> None:
        """From now on every attempt fails."""
        self.hosts.script = lambda attempt: Ending("failure", error)

    def dead_letters(self, plugin: str = "shop") -> list[str]:
        """The ids of a plugin's dead letters."""
        return [task.id for task in self.store.tasks.page(TaskFilter(plugin=plugin, state="dead"))]

    def types(self, *kinds: str) -> list[str]:
        """The events told so far, only those of these types if any are named."""
        return [event.type for event in self.events if not kinds or event.type in kinds]


@contextmanager
def world(kind: str, folder: Path, now: int = NOON) -> Iterator[World]:
    """A core over an empty store of that kind."""
    with store_url(kind, folder) as url:
        store = open_store(url)
        try:
            yield World(store, VirtualClock(now))
        finally:
            store.close()
