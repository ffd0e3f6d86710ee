"""The engine on real hosts: tasks in a database, handlers in processes, calls back into the same database."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import host_world
from host_world import QUICK
from nsplugin.manifest import Manifest
from nsplugin.platforms import load
from nsplugin_core.clock import SystemClock
from nsplugin_core.dispatcher import Dispatcher
from nsplugin_core.enqueueing import Enqueuer, Origin
from nsplugin_core.host.capabilities.services import core_services
from nsplugin_core.host.pool import Hosts
from nsplugin_core.host.settings import PluginSource
from nsplugin_core.registry import Registry
from nsplugin_core.store import open_store
from nsplugin_core.store.records import Task
from nsplugin_core.store.sqlite import SqliteDatabase

CODE = """
from nsplugin.cogover import RetryableError, define_job
async def first(jobs, payload, state):
    done = await jobs.enqueue("second", {"from": payload}, idempotency_key="only-one")
    again = await jobs.enqueue("second", None, idempotency_key="only-one")
    assert (done.run_id, again.run_id, again.duplicate) == (done.run_id, done.run_id, True), (done, again)
async def second(payload, state, locks, invocation):
    async with await locks.acquire("l", lease_ms=5000) as lock:
        await state.set("seen", {**payload, "user": invocation.user, "token": lock.token > 0})
async def exits_once(state):
    if await state.get("exited") is None:
        await state.set("exited", True)
        os._exit(3)
async def goes_on(): await asyncio.sleep(60)
async def retries(): raise RetryableError("later")
async def fails(): raise ValueError("boom")
async def many(jobs, state):
    calls = [jobs.enqueue("second", n, delay_ms=60_000) for n in range(60)]
    ends = await asyncio.gather(*calls, return_exceptions=True)
    codes = sorted(end.code for end in ends if isinstance(end, Exception))
    await state.set("many", [len({end.run_id for end in ends if not isinstance(end, Exception)}), codes])
names = ("first", "second", "exits_once", "goes_on", "retries", "fails", "many")
jobs = [define_job({"key": name, "timeoutMs": 1000 if name == "goes_on" else 20000}, globals()[name]) for name in names]
"""
NAMES = ("first", "second", "exits_once", "goes_on", "retries", "fails", "many")


class Core:
    """A store, a dispatcher that is driven by hand, and real hosts."""

    def __init__(self, folder: Path) -> None:
        self.clock = SystemClock()
        self.store = open_store(f"sqlite:///{folder / 'core.db'}")
        self.enqueuer = Enqueuer(store=self.store, clock=self.clock)
        self.woken = threading.Event()
        services = core_services(self.store, self.clock, self.enqueuer, lambda plugin: "cogover")
        self.hosts = Hosts(services, settings=QUICK, clock=self.clock, changed=self._changed)
        self.dispatcher = Dispatcher(self.store, self.hosts, self.clock)
        self.dispatcher.wake = self.woken.set
        self._install(folder)

    def _changed(self, plugin: str) -> None:
        self.dispatcher.look_again()

    def _install(self, folder: Path) -> None:
        (folder / "main.py").write_text(host_world.HEADER + CODE)
        jobs = [{"key": name, "timeoutMs": 1_000 if name == "goes_on" else 20_000} for name in NAMES]
        raw = {"manifestVersion": 1, "platform": "cogover", "id": "p", "entry": "main:jobs", "jobs": jobs}
        manifest = Manifest.of(raw, load("cogover"))
        Registry(store=self.store, clock=self.clock).install(manifest, timezone="UTC")
        self.hosts.put(PluginSource(id="p", platform="cogover", directory=folder, entry="main:jobs", manifest=manifest.value))

    def enqueue(self, job: str, payload: Any = None, user: str | None = None) -> str:
        return self.enqueuer.enqueue("p", job, payload, {}, Origin(identity=user)).task_id

    def run_until(self, task_id: str, *states: str) -> Task:
        """Drive the dispatcher until the task is in one of these states."""
        end = time.monotonic() + host_world.PATIENCE
        while time.monotonic() < end:
            self.dispatcher.run_once(self.clock.now_ms())
            task = self.store.tasks.task(task_id)
            assert task is not None
            if task.state in states and (task.state != "queued" or task.last_error):
                return task
            self.woken.wait(0.01)
            self.woken.clear()
        raise AssertionError(f"task {task_id} was never {states}")


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    core = Core(tmp_path)
    try:
        yield core
    finally:
        core.hosts.close()
        core.dispatcher.close()
        core.store.close()


def test_a_handler_enqueues_with_its_own_identity_and_the_next_one_stores(core: Core) -> None:
    core.run_until(core.enqueue("first", [1], user="ann"), "succeeded")
    (task,) = _runs(core, "second")
    done = core.run_until(task, "succeeded")
    assert done.identity == "ann"
    entry = core.store.data.entry("p", "default", "seen", now=core.clock.now_ms())
    assert entry is not None
    assert entry.value == '{"from":[1],"user":"ann","token":true}'


def test_e8_what_a_handler_enqueues_at_once_shares_commits_and_is_counted_exactly(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60 calls at once; a run may enqueue 50 times (spec/cogover.md E8)."""
    commits: list[int] = []
    atomically = SqliteDatabase.atomically

    def counted(database: SqliteDatabase, work: Callable[[Any], Any]) -> Any:
        commits.append(1)
        return atomically(database, work)

    task = core.enqueue("many")
    monkeypatch.setattr(SqliteDatabase, "atomically", counted)
    core.run_until(task, "succeeded")
    entry = core.store.data.entry("p", "default", "many", now=core.clock.now_ms())
    assert entry is not None
    assert json.loads(entry.value) == [50, ["RATE_LIMITED"] * 10]
    assert len(_runs(core, "second")) == 50
    assert len(commits) < 40, "claims and endings among them"


def _runs(core: Core, job: str) -> list[str]:
    from nsplugin_core.store.records import TaskFilter

    filters = [TaskFilter(state=state, plugin="p", job=job) for state in ("queued", "running", "succeeded")]
    return [task.id for each in filters for task in core.store.tasks.page(each)]


def test_x6_a_host_that_exits_costs_no_attempt(core: Core) -> None:
    task = core.run_until(core.enqueue("exits_once"), "succeeded")
    assert (task.attempt, task.last_error) == (1, None)
    assert [past.outcome for past in core.store.tasks.attempts(task.id)] == ["deferred", "success"]


@pytest.mark.parametrize(
    ("job", "state", "error", "code"),
    [
        ("goes_on", "queued", "timed out after 1000 ms", "JOB_TIMEOUT"),
        ("retries", "queued", "later", "RETRYABLE"),
        ("fails", "dead", "boom", "ValueError"),
    ],
)
def test_x4_what_becomes_of_failed_attempts(core: Core, job: str, state: str, error: str, code: str) -> None:
    task = core.run_until(core.enqueue(job), state)
    assert (task.attempt, task.last_error_code) == (1, code)
    assert error.split(" after")[0] in str(task.last_error)
