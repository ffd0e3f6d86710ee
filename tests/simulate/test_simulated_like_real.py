"""A simulation and a real core, with real hosts, make the same history of the same scenario."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from pathlib import Path

import simulated
from nsplugin_core.clock import SystemClock
from nsplugin_core.events import EngineEvent
from nsplugin_core.registry import Registry
from nsplugin_core.service import Service
from nsplugin_core.simulation import simulate
from simulated import at, nextskin
from waiting import until

CODE = """\
import os
from nsplugin import Cron, Job, define_plugin


async def sync(ctx, attempt):
    if attempt < 3:
        raise OSError(f"shop is down {attempt}")
    await ctx.jobs.enqueue("tidy", {"from": attempt}, delay_sec=2, dedupe_key="one")


async def tidy(payload, ctx):
    await ctx.jobs.enqueue("exits", None, delay_sec=6)


def broken(): raise ValueError("never works")


async def exits(ctx):
    if await ctx.kv.get("exited") is None:
        await ctx.kv.set("exited", True)
        os._exit(7)


plugin = define_plugin(
    id="stock",
    capabilities=["storage.kv"],
    jobs={"sync": Job(sync), "tidy": Job(tidy), "broken": Job(broken, max_attempts=2), "exits": Job(exits)},
    cron=[Cron("* * * * *", job="sync"), Cron("*/2 * * * *", job="broken")],
)
"""
CRON = [("* * * * *", "sync"), ("*/2 * * * *", "broken")]
START, END = at("2026-06-01T00:00:30"), at("2026-06-01T00:03:55")
FAST = 30
"""So many times faster than life; a wait of 60 s, the least that matters here, is 2 s of real time."""


class FastClock(SystemClock):
    """The machine's clock from a moment on, faster."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = time.monotonic()

    def now_ms(self) -> int:
        """The fast time."""
        return START + int((time.monotonic() - self._began) * 1000 * FAST)

    def wait(self, event: threading.Event, until: int | None) -> None:
        """Wait in fast time."""
        event.wait(None if until is None else max(0.0, (until - self.now_ms()) / 1000 / FAST))


def _history(events: Iterable[EngineEvent]) -> list[tuple[str, ...]]:
    """What happened to each task, in order: its job, its fire, then events and attempts; times of waits left out."""
    tasks: dict[str, list[str]] = {}
    for event in list(events):
        story = tasks.setdefault(event.task, [event.job])
        due = f" of {event.due}" if event.type == "fire" else ""
        story.append(f"{event.type} {event.attempt}{due} {event.error or ''}".strip())
    return sorted(tuple(story) for story in tasks.values())


def _manifest() -> simulated.Manifest:
    jobs = {"sync": {}, "tidy": {}, "broken": {"maxAttempts": 2}, "exits": {}}
    plain = nextskin(CRON, **jobs)
    return simulated.Manifest.of({**plain.value, "capabilities": ["storage.kv"]}, plain.platform)


def _real(folder: Path) -> list[EngineEvent]:
    events: list[EngineEvent] = []
    clock = FastClock()
    service = Service(f"sqlite:///{folder / 'core.db'}", clock=clock, observe=events.append, sink=lambda record: None)
    try:
        Registry(store=service.store, clock=clock).install(_manifest(), timezone="UTC", folder=str(folder))
        service.start()
        service.hosts.wake("stock")
        until(lambda: clock.now_ms() >= END, "the end of the scenario")
    finally:
        service.stop(grace_s=0)
    return events


def test_the_same_history_as_in_a_real_core(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text(CODE)
    scenario = simulated.scenario(_manifest(), "2026-06-01T00:00:30", "2026-06-01T00:03:55", folder=tmp_path, handlers=True)
    virtual = _history(simulate(scenario).events)
    assert virtual == _history(_real(tmp_path))
    assert len(virtual) == 10
    assert any("exit code 7" in step for story in virtual for step in story)
