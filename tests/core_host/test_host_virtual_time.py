"""Hosts under a virtual clock, as a simulation uses them: sleep is the core's to end, and so are time-outs."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import host_world
from host_world import QUICK
from nsplugin.runtime.invocation import Facts
from nsplugin_core.clock import VirtualClock
from waiting import until

CODE = """
from nsplugin.cogover import define_job
async def waits(locks, jobs):
    await locks.acquire("l", lease_ms=60_000)
    lock = await locks.acquire("l", lease_ms=60_000, wait_ms=3_600_000)
    print("got it")
async def plans(jobs): await jobs.enqueue("plans", None, run_at=5_000_000)
jobs = [define_job({"key": "waits"}, waits), define_job({"key": "plans"}, plans)]
"""
VIRTUAL = replace(QUICK, enforce_deadlines=False)


def test_sleep_moves_the_virtual_clock_alone(tmp_path: Path) -> None:
    clock = VirtualClock(1_000_000)

    def sleep(facts: Facts, ms: int) -> None:
        clock.advance_to(clock.now_ms() + ms)

    code = "async def naps(ctx): await ctx.sleep(86_400); print('slept')\n" + host_world.plugin('"naps": Job(naps)')
    with host_world.world(tmp_path / "w", VIRTUAL, clock=clock, sleep=sleep) as world:
        world.put(code)
        assert world.run("naps", timeout_ms=1).kind == "success"
        assert (clock.now_ms(), world.lines("stdout")) == (1_000_000 + 86_400_000, ["slept"])


def test_a_sleep_that_is_never_ended_is_cut_by_the_dispatcher(tmp_path: Path) -> None:
    asleep: list[tuple[str, int]] = []

    def sleep(facts: Facts, ms: int) -> Future[Any]:
        asleep.append((facts.id, ms))
        return Future()

    code = "async def naps(ctx): await ctx.sleep(1.5)\n" + host_world.plugin('"naps": Job(naps)')
    with host_world.world(tmp_path / "w", VIRTUAL, clock=VirtualClock(0), sleep=sleep) as world:
        world.put(code)
        (attempt,) = world.start(world.attempt("naps", timeout_ms=1))
        until(lambda: asleep == [(attempt.task_id, 1_500)], "the sleep")
        world.hosts.cancel(attempt.task_id, attempt.claim)
        until(lambda: world.status().running == 0, "the end")
        assert (world.outcomes, world.status().exits) == ([], 0)


def test_whoever_asks_for_the_time_gets_the_virtual_one(tmp_path: Path) -> None:
    """``runAt`` at most 30 days from the virtual now (spec/cogover.md E4)."""
    with host_world.world(tmp_path / "w", VIRTUAL, clock=VirtualClock(4_000_000), sleep=lambda facts, ms: None) as world:
        world.put(CODE, id="c", platform="cogover", jobs=["waits", "plans"])
        assert world.run("plans", plugin="c").kind == "success"
        assert world.queue.accepted[0].order.due_at == 5_000_000
    with host_world.world(tmp_path / "x", VIRTUAL, clock=VirtualClock(-2_600_000_000)) as world:
        world.put(CODE, id="c", platform="cogover", jobs=["waits", "plans"])
        assert "at most 30 days from now" in str(world.run("plans", plugin="c").error)


def test_waiting_for_a_lock_passes_virtual_time(tmp_path: Path) -> None:
    clock = VirtualClock(0)

    def sleep(facts: Facts, ms: int) -> None:
        clock.advance_to(clock.now_ms() + ms)

    with host_world.world(tmp_path / "w", VIRTUAL, clock=clock, sleep=sleep) as world:
        world.put(CODE, id="c", platform="cogover", jobs=["waits", "plans"])
        outcome = world.run("waits", plugin="c")
        assert outcome.kind == "success", (outcome, world.logs)
        assert 60_000 <= clock.now_ms() < 61_000
