"""The whole core in this process, on a clock that is moved ahead where real waiting would take too long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from nsplugin_core.events import EngineEvent
from nsplugin_core.host.settings import HostSettings
from nsplugin_core.operations import Operations, TaskQuery
from nsplugin_core.service import Service, ServiceSettings
from nsplugin_core.store.records import Depth
from service_world import ShiftedClock, Site
from waiting import until

HOUR, MINUTE = 3_600_000, 60_000
SETTINGS = ServiceSettings(workers=4, hosts=HostSettings(grace_s=0.3, restart_s=0.2, restart_max_s=0.5))
FAILS = """
    def work(payload, attempt, ctx):
        note(attempt)
        if not (HERE / "well").exists():
            raise ValueError("the mail server\\x1b[31m is away")
    plugin = define_plugin(jobs={"work": {"handler": work, "maxAttempts": 3}})
"""
FIRES = """
    def work(payload, attempt, ctx):
        note(f"{payload['key']} {attempt}")
    plugin = define_plugin(
        jobs={"work": {"handler": work}}, cron=[Cron("*/10 * * * *", job="work", payload={"key": "cache"})]
    )
"""


def _retried(events: list[EngineEvent], times: int) -> bool:
    return [event.type for event in events].count("retry") == times


@contextmanager
def running(site: Site, clock: ShiftedClock, events: list[EngineEvent] | None = None) -> Iterator[Service]:
    """A core that works meanwhile."""
    told = [] if events is None else events
    service = Service(site.url, clock=clock, settings=SETTINGS, observe=told.append)
    service.start()
    try:
        yield service
    finally:
        service.stop(grace_s=1)


def test_a_task_is_retried_becomes_a_dead_letter_and_is_brought_back(site: Site) -> None:
    """spec/nextskin.md X3, X4, A1, A2, A5"""
    site.install(FAILS)
    clock, events = ShiftedClock(), list[EngineEvent]()
    with running(site, clock, events) as core:
        task_id = site.enqueue("work")
        for attempt, wait in ((1, 10_000), (2, 20_000)):
            until(partial(_retried, events, attempt), "a retry")
            retry = [event for event in events if event.type == "retry"][-1]
            assert 0.8 * wait <= (retry.due or 0) - retry.at <= 1.2 * wait
            clock.ahead += 2 * wait
        letters = until(lambda: core.operations.tasks(TaskQuery(states=["dead"])).items, "the dead letter")
        assert [(each.id, each.attempt, each.last_error) for each in letters] == [
            (task_id, 3, "the mail server\x1b[31m is away")
        ]
        assert "the mail server\\x1b[31m is away" in site.run("dead", "list")
        assert len(site.json("dead", "show", task_id)["attempts"]) == 3
        (site.folder / "shop" / "well").touch()
        assert site.json("dead", "retry", task_id)["queued"] == [task_id]
        until(lambda: site.diary() == ["1", "2", "3", "1"], "the attempt after the retry")
        until(lambda: site.task(task_id) is None, "its success")
    assert 'nsplugin_dead_letters_total{job="work",plugin="shop"} 1.0' in core.metrics.text().decode()
    assert 'nsplugin_retries_total{job="work",plugin="shop"} 2.0' in core.metrics.text().decode()


def test_a_schedule_fires_once_however_many_cores_watch(site: Site) -> None:
    """spec/core.md K1"""
    site.install(FIRES)
    (row,) = site.json("jobs", "schedules", "--count", "1")["schedules"]
    first, second = list[EngineEvent](), list[EngineEvent]()
    clock = ShiftedClock()
    with running(site, clock, first) as core, running(site, clock, second):
        due = core.store.registry.next_fire() or 0
        clock.ahead = due - ShiftedClock().now_ms() - 300
        until(lambda: site.diary() == ["cache 1"], "the fire")
        until(lambda: not core.dispatcher.in_flight, "its end")
        assert core.operations.schedules()[0].fires == 1
        assert [event.type for event in (*first, *second) if event.type in ("fire", "catch-up", "skip")] == ["fire"]
    assert row["lastFire"] is None
    assert site.diary() == ["cache 1"]


def test_fires_that_were_missed_are_made_up_once(site: Site) -> None:
    """spec/nextskin.md C6"""
    site.install(FIRES)
    events: list[EngineEvent] = []
    with running(site, ShiftedClock(5 * HOUR), events) as core:
        until(lambda: site.diary() == ["cache 1"], "the fire that is made up")
        until(lambda: core.operations.schedules()[0].caught_up == 1, "its count")
    assert [event.type for event in events if event.type in ("fire", "catch-up", "skip")] == ["catch-up"]


def test_a_handler_that_ignores_its_time_out_loses_its_host_and_nobody_else_s(site: Site) -> None:
    """spec/core.md H2, spec/nextskin.md X2"""
    site.install(
        """
        def work(payload, attempt, ctx):
            while True:
                time.sleep(0.01)
        plugin = define_plugin(jobs={"work": {"handler": work, "timeoutMs": 300, "maxAttempts": 1}})
        """,
        plugin="deaf",
    )
    site.install(FIRES)
    with running(site, ShiftedClock()) as core:
        core.hosts.wake("deaf")
        until(lambda: core.hosts.status("deaf").state == "ready", "the host")
        task_id = site.enqueue("work", plugin="deaf")
        until(lambda: site.count("dead", "deaf"), "the dead letter")
        for _ in range(5):
            site.enqueue("work", {"key": "other"})
        until(lambda: len(site.diary()) == 5, "the other plugin")
    task = site.task(task_id)
    assert task is not None
    assert (task.last_error, task.last_error_code) == ("timed out: not finished within 300 ms", "JOB_TIMEOUT")


def test_what_a_handler_enqueues_runs_and_what_it_stores_stays(site: Site) -> None:
    """spec/nextskin.md E1, spec/core.md H3"""
    site.install(
        """
        async def first(payload, attempt, ctx):
            await ctx.kv.set("greeting", {"text": "hello"})
            await ctx.jobs.enqueue("second", {"from": "first"})
        async def second(payload, attempt, ctx):
            note((await ctx.kv.get("greeting"))["text"] + " " + payload["from"])
        plugin = define_plugin(
            capabilities=["storage.kv"], jobs={"first": {"handler": first}, "second": {"handler": second}}
        )
        """
    )
    with running(site, ShiftedClock()):
        site.enqueue("first")
        until(lambda: site.diary() == ["hello first"], "the second job")


def test_a_plugin_without_code_here_waits_and_says_so(local: Site) -> None:
    folder = local.install(FIRES)
    folder.rename(local.folder / "elsewhere")
    with running(local, ShiftedClock()) as core:
        assert core.roster.elsewhere == {"shop": f"there is no folder {folder} on this machine"}
        task_id = local.enqueue("work", {"key": "waits"})
        core.dispatcher.run_once(core.clock.now_ms())
        task = local.task(task_id)
        assert task is not None and (task.state, task.attempt) == ("queued", 0)
        (local.folder / "elsewhere").rename(folder)
        until(lambda: local.diary() == ["waits 1"], "the task")
        assert core.roster.elsewhere == {}


def test_uninstalling_ends_the_host_and_removes_all(local: Site) -> None:
    """spec/nextskin.md A4"""
    local.install(FIRES)
    with running(local, ShiftedClock()) as core:
        local.enqueue("work", {"key": "a"})
        until(lambda: local.diary(), "the task")
        local.enqueue("work", {"key": "b"}, "--delay-sec", "60")
        removed = local.json("uninstall", "shop", "--yes")
        assert removed["removed"] == {"queued": 1, "running": 0, "succeeded": 0, "dead": 0}
        until(lambda: core.hosts.status("shop").state == "stopped", "the end of the host")
        assert core.store.tasks.depths() == list[Depth]()


def test_a_core_whose_database_is_away_is_alive_and_not_ready(local: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from nsplugin_core.store.errors import StoreUnavailable

    def away(store: object) -> None:
        raise StoreUnavailable("the database is away")

    local.install(FIRES)
    with running(local, ShiftedClock()) as core:
        assert (core.live(), core.ready()) == (None, None)
        with monkeypatch.context() as patch:
            patch.setattr("nsplugin_core.store.tasks.SqlTasks.horizon", away)
            core.dispatcher.look_again()
            until(lambda: core.ready() == "failing: dispatcher", "the failure")
            assert core.live() is None
        until(lambda: core.ready() is None, "the recovery")
    assert core.ready() == "the core is stopped"


def test_stopping_what_never_started_only_closes(local: Site) -> None:
    service = Service(local.url)
    assert service.ready() == "the core is new"
    assert service.stop() == 0


def test_operations_of_a_service_are_counted(local: Site) -> None:
    local.install(FIRES)
    with running(local, ShiftedClock()) as core:
        operations: Operations = core.operations
        operations.enqueue("shop", "work", {"key": "a"}, {"dedupeKey": "k", "delaySec": 60})
        operations.enqueue("shop", "work", {"key": "a"}, {"dedupeKey": "k", "delaySec": 60})
        text = core.metrics.text().decode()
    assert 'nsplugin_enqueued_total{job="work",plugin="shop"} 1.0' in text
    assert 'nsplugin_duplicates_total{job="work",plugin="shop"} 1.0' in text
