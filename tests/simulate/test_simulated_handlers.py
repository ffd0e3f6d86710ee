"""Simulations of real handlers in real hosts: virtual sleep, calls, and what real time does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import simulated
from nsplugin_core import timeline
from nsplugin_core.simulation import Scenario, Simulation, SimulationFailed, simulate
from nsplugin_core.simulation.scenario import EnqueueOrder, Hits
from simulated import at, nextskin, told

HEADER = """\
import asyncio, os, time
from nsplugin import Job, define_plugin

"""
START, END = "2026-06-01T00:00", "2026-06-01T06:00"


def _scenario(folder: Path, code: str, *orders: str, **rest: Any) -> Scenario:
    """A plugin whose jobs are the functions of the code; ``orders`` are enqueued at the start."""
    names = [line.split("def ")[1].partition("(")[0] for line in code.splitlines() if line.startswith(("def ", "async def "))]
    jobs = ", ".join(f'"{name}": Job({name}, max_attempts=3, timeout_ms=60_000)' for name in names)
    definition = f'plugin = define_plugin(id="stock", capabilities=["storage.kv"], jobs={{{jobs}}})\n'
    (folder / "plugin.py").write_text(f"{HEADER}{code}\n\n{definition}")
    manifest = nextskin((), **{name: {"maxAttempts": 3, "timeoutMs": 60_000} for name in names})
    enqueues = tuple(EnqueueOrder(at=at(START), job=("stock", name), payload={}) for name in orders)
    given = {"handlers": True, "enqueues": enqueues, "folder": folder} | rest
    return simulated.scenario(_with_storage(manifest), START, END, **given)


def _with_storage(manifest: simulated.Manifest) -> simulated.Manifest:
    return simulated.Manifest.of({**manifest.value, "capabilities": ["storage.kv"]}, manifest.platform)


def _run(folder: Path, code: str, *orders: str, **rest: Any) -> Simulation:
    return simulate(_scenario(folder, code, *orders, **rest))


def test_sleep_takes_virtual_time_alone(tmp_path: Path) -> None:
    code = "async def naps(ctx): await ctx.sleep(50)\ndef dozes(ctx): ctx.sleep(30).result()\n"
    assert told(_run(tmp_path, code, "naps", "dozes")) == [
        "00:00:00 enqueue", "00:00:00 enqueue", "00:00:00 attempt 1", "00:00:00 attempt 1",
        "00:00:30 success 1", "00:00:50 success 1",
    ]  # fmt: skip


def test_sleeps_side_by_side_wake_in_the_order_of_their_times(tmp_path: Path) -> None:
    code = (
        "async def part(ctx, name, seconds):\n"
        "    await ctx.sleep(seconds)\n"
        "    await ctx.jobs.enqueue('note', name)\n"
        "async def both(ctx): await asyncio.gather(part(ctx, 'late', 40), part(ctx, 'soon', 10), part(ctx, 'now', 0))\n"
        "def note(payload): print(payload)\n"
    ).replace("async def part", "async  def part")
    assert told(_run(tmp_path, code, "both")) == [
        "00:00:00 enqueue", "00:00:00 attempt 1", "00:00:00 enqueue", "00:00:00 attempt 1", "00:00:00 success 1",
        "00:00:10 enqueue", "00:00:10 attempt 1", "00:00:10 success 1",
        "00:00:40 enqueue", "00:00:40 success 1", "00:00:40 attempt 1", "00:00:40 success 1",
    ]  # fmt: skip


def test_the_time_out_cuts_a_sleep(tmp_path: Path) -> None:
    found = _run(tmp_path, "async def naps(ctx): await ctx.sleep(3_600)\n", "naps")
    assert (found.summary.timeouts, found.summary.dead_letters) == (3, 1)
    assert found.events[2].at == at(START) + 60_000


def test_errors_are_retried_and_told(tmp_path: Path) -> None:
    code = "def sync(attempt):\n    if attempt < 3: raise OSError(f'shop is down {attempt}')\n"
    found = _run(tmp_path, code, "sync")
    assert [(event.type, event.error) for event in found.events if event.type in ("failure", "success")] == [
        ("failure", "shop is down 1"), ("failure", "shop is down 2"), ("success", None),
    ]  # fmt: skip


def test_ordered_faults_come_before_the_handler(tmp_path: Path) -> None:
    found = _run(tmp_path, "def sync(): pass\n", "sync", fail={("stock", "sync"): Hits(first=1)}, exits={("stock", "sync"): 1})
    assert [event.type for event in found.events] == [
        "enqueue", "attempt", "deferral", "attempt", "failure", "retry", "attempt", "success",
    ]  # fmt: skip


def test_what_a_plugin_keeps_lasts_over_attempts_and_hosts(tmp_path: Path) -> None:
    code = (
        "async def sync(ctx):\n"
        "    seen = await ctx.kv.get('seen') or 0\n"
        "    await ctx.kv.set('seen', seen + 1)\n"
        "    if seen == 0: os._exit(3)\n"
        "    if seen == 1: raise OSError('again')\n"
    )
    found = _run(tmp_path, code, "sync")
    assert [event.type for event in found.events] == [
        "enqueue", "attempt", "deferral", "attempt", "failure", "retry", "attempt", "success",
    ]  # fmt: skip
    assert "the plugin's host exited: exit code 3" in next(remark.text for remark in found.remarks)


def test_a_handler_that_waits_on_real_time_is_told_to_use_ctx_sleep(tmp_path: Path) -> None:
    """It runs into its time-out in virtual time; its host, and what sleeps there, go on."""
    code = "async def waits(): await asyncio.sleep(600)\nasync def naps(ctx): await ctx.sleep(50)\n"
    found = _run(tmp_path, code, "naps", "waits", real_s=0.3)
    assert told(found)[4:7] == ["00:00:50 success 1", "00:01:00 timeout 1", "00:01:00 retry 1"]
    (note,) = found.notes
    assert note.startswith("job 'waits' was still waiting after 0.3 s of real time, so its attempt runs into its time-out")
    assert note.endswith("should use ctx.sleep, virtual here")


def test_a_handler_that_never_lets_go_takes_its_host_along(tmp_path: Path) -> None:
    """spec/core.md H2: the host is killed after the grace; others in it are given back."""
    code = "def blocks(): time.sleep(600)\nasync def naps(ctx): await ctx.sleep(59.99)\n"
    found = _run(tmp_path, code, "blocks", real_s=0.3, enqueues=(
        EnqueueOrder(at=at(START), job=("stock", "blocks"), payload={}),
        EnqueueOrder(at=at(START) + 10_000, job=("stock", "naps"), payload={}),
    ))  # fmt: skip
    assert [text for text in told(found) if "deferral" in text] == ["00:01:00 deferral 1"]
    assert found.summary.succeeded == 1


def test_a_plugin_that_can_not_be_loaded_ends_the_simulation(tmp_path: Path) -> None:
    scenario = _scenario(tmp_path, "def sync(): pass\n", "sync")
    (tmp_path / "plugin.py").write_text("raise OSError('no such shop')\n")
    with pytest.raises(SimulationFailed, match="plugin 'stock' can't be run: OSError: no such shop"):
        simulate(scenario)


BUSY = """\
async def sync(ctx, attempt):
    await asyncio.gather(*(ctx.jobs.enqueue("tidy", {"n": n}, delay_sec=n % 3) for n in range(8)))
    await ctx.sleep(attempt * 1.5)
    if attempt < 3: raise OSError("again")
async def tidy(payload, ctx):
    await asyncio.gather(ctx.sleep(payload["n"] / 7), ctx.kv.set("n", payload["n"]))
    if payload["n"] == 5: raise OSError("no")
def walk(ctx):
    for step in range(5):
        ctx.sleep(0.4).result()
        ctx.jobs.enqueue("tidy", {"n": step}).result()
"""


def test_the_same_seed_gives_the_same_bytes_with_handlers_too(tmp_path: Path) -> None:
    scenario = _scenario(tmp_path, BUSY, "sync", "walk", "sync", "walk")
    one, other = (timeline.render_json(simulate(scenario)) for _ in range(2))
    assert one == other
    assert one.count('"attempt"') > 200
