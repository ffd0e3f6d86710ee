"""What must hold however many do it at once, on both stores, with real threads and processes."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from engine_processes import schedule_minutes
from engine_world import MINUTE, NOON, Ending, World, cogover, nextskin, store_url
from nsplugin.platforms import load
from nsplugin.runtime.enqueueing import Order
from nsplugin.runtime.faults import Fault
from nsplugin_core.clock import VirtualClock
from nsplugin_core.store import open_store
from nsplugin_core.store.errors import StoreError, StoreUnavailable
from nsplugin_core.store.records import TaskFilter


@contextmanager
def worlds(url: str, count: int) -> Iterator[list[World]]:
    """Several cores over one store, as good as processes: each has its own connections."""
    made = [World(open_store(url), VirtualClock(NOON), seed=number) for number in range(count)]
    yield made
    for each in made:
        each.store.close()


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Call ``work(n)`` in that many threads, released together; what each returned or raised."""
    start = Barrier(count)
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        start.wait()
        try:
            results[number] = work(number)
        except (Fault, StoreError) as error:
            results[number] = error

    threads = [Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def queued(core: World, plugin: str) -> set[str]:
    return {task.id for task in core.store.tasks.page(TaskFilter(state="queued", plugin=plugin, limit=1_000_000))}


@pytest.mark.parametrize("manifest", [nextskin("shop"), cogover("shop")], ids=["unfinished", "stored"])
def test_q4_e5_fifty_concurrent_enqueuers_with_one_key_leave_one_task(url: str, manifest: Any) -> None:
    option = manifest.platform.enqueue.key_field
    with worlds(url, 5) as cores:
        cores[0].install(manifest)
        results = at_once(50, lambda n: cores[n % 5].enqueuer.enqueue("shop", "sync", n, {option: "k"}))
        assert len({result.task_id for result in results}) == 1
        assert Counter(result.duplicate for result in results) == {True: 49, False: 1}
        assert [depth.tasks for depth in cores[0].store.tasks.depths()] == [1]


class Enqueuing:
    """A caller among many: enqueues in turn what is good, what another enqueues too, and what must be refused."""

    def __init__(self, core: World, plugin: str, number: int) -> None:
        self.core, self.plugin, self.number = core, plugin, number
        self.platform = load("nextskin" if plugin == "shop" else "cogover")
        self.done: dict[str, Any] = {}

    def __call__(self) -> None:
        for each in range(6):
            name = f"{self.number}.{each}"
            self.call("good", name, self.order(name))
            self.call("same", name, self.order(name, key=f"k{each}"))
            self.call("unknown", name, self.order(name, job="gone"))
            self.call("both", name, self.order(name), self.order(name, key=f"b{each}"))
            self.call("half", name, self.order(name), self.order(name, job="gone"), self.order(name, key=f"h{each}"))

    def order(self, payload: str, job: str = "sync", key: str | None = None) -> Order:
        return Order(job=job, payload=f'"{payload}"', due_at=NOON, key=key)

    def call(self, kind: str, name: str, *orders: Order) -> None:
        try:
            self.done[f"{kind} {name}"] = self.core.enqueuer.accept(self.platform, self.plugin, orders)
        except Fault as fault:
            self.done[f"{kind} {name}"] = fault

    def results(self, kind: str) -> list[Any]:
        return [result for name, result in self.done.items() if name.startswith(f"{kind} ")]


@pytest.mark.parametrize("plugin", ["shop", "orders"])
def test_b1_callers_whose_commits_are_shared_get_their_own_results_and_errors(core: World, plugin: str) -> None:
    core.install(nextskin() if plugin == "shop" else cogover())
    callers = [Enqueuing(core, plugin, number) for number in range(50)]
    assert at_once(50, lambda number: callers[number]()) == [None] * 50
    for caller in callers:
        for kind in ("unknown", "half"):
            assert {(fault.code, fault.details["job"]) for fault in caller.results(kind)} == {("VALIDATION_ERROR", "gone")}
        assert [len(result) for result in caller.results("both")] == [2] * 6
    stored = queued(core, plugin)
    told = [
        result for caller in callers for kind in ("good", "same", "both") for each in caller.results(kind) for result in each
    ]
    fresh = [result.task_id for result in told if not result.duplicate]
    assert len(fresh) == len(set(fresh)) == 50 * 6 * 2 + 6 * 2, "every order without a key, and one for each key"
    assert stored == set(fresh), "nothing of a refused call is there, all of an accepted one is"
    assert {result.task_id for result in told} == stored, "a duplicate names a task that is there"


def test_e8_callers_beyond_the_limit_do_not_take_others_along(core: World) -> None:
    platform = load("cogover")
    core.install(cogover())
    order = Order(job="sync", payload=None, due_at=NOON, key=None)
    core.enqueuer.accept(platform, "orders", [order] * (platform.enqueue.max_unfinished - 30))
    results = at_once(50, lambda number: core.enqueuer.accept(platform, "orders", [order] * (1 if number % 2 else 100)))
    assert [result.code for result in results[::2]] == ["RATE_LIMITED"] * 25
    assert [len(result) for result in results[1::2]] == [1] * 25
    assert [depth.tasks for depth in core.store.tasks.depths()] == [platform.enqueue.max_unfinished - 5]


@pytest.mark.postgres
def test_b2_what_was_acknowledged_is_there_when_connections_die_under_shared_commits(tmp_path: Path) -> None:
    with store_url("postgres", tmp_path) as url, worlds(url, 1) as (core,):
        core.install(nextskin())
        accepted: list[str] = []
        over = Event()

        def work(number: int) -> int:
            """How often the database was away."""
            away = 0
            while not over.is_set():
                try:
                    accepted.append(core.enqueue().task_id)
                except StoreUnavailable:
                    away += 1
            return away

        def cut() -> None:
            import psycopg

            server, _, schema = url.partition("?schema=")
            with psycopg.connect(server, autocommit=True) as connection:
                for cuts in range(100):  # on a crowded machine it takes a while to get anywhere between two cuts
                    if cuts >= 10 and len(accepted) > 100:
                        break
                    connection.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
                        (f"nsplugin:{schema}",),
                    )
                    time.sleep(0.1 + cuts * 0.02)
            over.set()

        results = at_once(51, lambda number: work(number) if number else cut())
        assert sum(results[1:]) > 0, "no connection died in use"
        stored = queued(core, "shop")
        assert len(accepted) == len(set(accepted)) > 100
        assert set(accepted) <= stored
        assert core.enqueue().duplicate is False, "and it goes on"


def test_e8_the_limit_of_unfinished_runs_is_exact_under_concurrency(url: str) -> None:
    platform = load("cogover")
    with worlds(url, 5) as cores:
        cores[0].install(cogover("shop"))
        order = Order(job="sync", payload=None, due_at=NOON, key=None)
        cores[0].enqueuer.accept(platform, "shop", [order] * (platform.enqueue.max_unfinished - 7))
        results = at_once(50, lambda n: cores[n % 5].enqueue())
        refused = [result for result in results if isinstance(result, Fault)]
        assert len(refused) == 43
        assert {fault.code for fault in refused} == {"RATE_LIMITED"}
        assert [depth.tasks for depth in cores[0].store.tasks.depths()] == [platform.enqueue.max_unfinished]


def test_q2_dispatchers_that_claim_at_once_never_share_a_task(url: str) -> None:
    with worlds(url, 4) as cores:
        cores[0].install(nextskin())
        tasks = [cores[0].enqueue().task_id for _ in range(300)]
        for core in cores:
            core.hosts.slots["shop"] = 7
        at_once(4, lambda n: cores[n].step())
        started = [attempt.task_id for core in cores for attempt in core.hosts.started]
        assert sorted(started) == sorted(tasks)
        assert cores[0].store.tasks.depths() == []


def test_x5_many_claimers_of_leases_that_ran_out_spend_one_attempt(url: str) -> None:
    with worlds(url, 4) as cores:
        cores[0].install(nextskin())
        cores[0].hosts.script = lambda attempt: None
        for _ in range(40):
            cores[0].enqueue()
        cores[0].step()
        for core in cores[1:]:
            core.clock.advance_to(NOON + 10 * MINUTE)
            core.hosts.slots["shop"] = 100
        at_once(3, lambda n: cores[n + 1].step())
        started = [(a.task_id, a.attempt) for core in cores[1:] for a in core.hosts.started]
        assert Counter(attempt for _, attempt in started) == {2: 40}
        assert len(set(started)) == 40


def test_a4_uninstalling_amid_enqueues_leaves_nothing_behind(url: str) -> None:
    with worlds(url, 5) as cores:
        cores[0].install(nextskin())
        at_once(30, lambda n: cores[0].registry.uninstall("shop") if n == 29 else [cores[n % 5].enqueue() for _ in range(5)])
        assert cores[0].store.tasks.depths() == []
        assert cores[0].store.registry.plugins() == []


def test_a4_enqueues_finishes_and_switches_at_once_do_not_stop_each_other(url: str) -> None:
    """Everything that locks more than one row, in one heap: a deadlock would show as an error."""
    with worlds(url, 5) as cores:
        cores[0].install(cogover("shop", jobs=[{"key": "sync", "schedule": {"cron": "* * * * *"}}]))
        for core in cores:
            core.hosts.script = lambda attempt: Ending("retryable") if attempt.attempt == 1 else Ending()

        def work(number: int) -> None:
            core = cores[number % 5]
            if number < 5:
                for minute in range(10):
                    core.clock.advance_to(NOON + minute * MINUTE)
                    core.step()
            elif number == 5:
                for _ in range(5):
                    core.registry.disable("shop")
                    core.registry.enable("shop")
            else:
                for each in range(10):
                    core.enqueue(idempotencyKey=f"k{each}")

        assert at_once(12, work) == [None] * 12


@pytest.mark.parametrize("platform", ["nextskin", "cogover"])
def test_k1_three_scheduler_processes_at_once_make_exactly_one_task_per_fire(url: str, platform: str) -> None:
    minutes = 40
    with worlds(url, 1) as (core,):
        core.install(
            nextskin("p", cron=[{"schedule": "* * * * *", "job": "sync"}, {"schedule": "*/2 * * * *", "job": "sync"}])
            if platform == "nextskin"
            else cogover(
                "p",
                jobs=[
                    {"key": "sync", "schedule": {"cron": "* * * * *"}},
                    {"key": "b", "schedule": {"cron": "*/2 * * * *"}},
                ],
            )
        )
        context = multiprocessing.get_context("spawn")
        barrier, told = context.Barrier(3), context.Queue()
        processes = [
            context.Process(target=schedule_minutes, args=(url, barrier, NOON, minutes, told), daemon=True) for _ in range(3)
        ]
        for process in processes:
            process.start()
        events = [event for _ in processes for event in told.get(timeout=120)]
        for process in processes:
            process.join(60)
        by_fire = Counter((kind, due) for kind, _, due in events)
        expected = minutes + minutes // 2
        assert len(events) == expected
        rows = core.store.registry.schedules("p")
        assert sum(row.fires + row.skipped for row in rows) == expected
        assert sum(depth.tasks for depth in core.store.tasks.depths()) == sum(row.fires for row in rows)
        assert {due for _, due in by_fire} == {NOON + minute * MINUTE for minute in range(1, minutes + 1)}
        skipped = sum(count for (kind, _), count in by_fire.items() if kind == "skip")
        assert skipped == (expected - 2 if platform == "nextskin" else 0), "NextSkin's two first tasks stay unfinished"
