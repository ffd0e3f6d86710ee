"""Scenarios for the tests of simulations: manifests without code, and plugins with code in a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nsplugin.manifest import Manifest
from nsplugin.platforms import load
from nsplugin_core.simulation import Scenario, SimulatedPlugin, Simulation, simulate

Story = list[tuple[str, int]]


def at(text: str) -> int:
    """UTC ms of ``2026-03-08T07:00``."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def nextskin(cron: Sequence[tuple[str, str]] = (), **jobs: Mapping[str, Any]) -> Manifest:
    """A NextSkin plugin ``stock``; ``cron`` are pairs of schedule and job."""
    raw = {
        "manifestVersion": 1, "platform": "nextskin", "id": "stock", "entry": "plugin:plugin", "capabilities": [],
        "jobs": jobs or {"sync": {}}, "cron": [{"schedule": each, "job": job} for each, job in cron], "routes": {},
    }  # fmt: skip
    return Manifest.of(raw, load("nextskin"))


def cogover(cron: str, timezone: str = "UTC", **job: Any) -> Manifest:
    """A Cogover project ``orders`` with one scheduled job ``sync``."""
    schedule = {"cron": cron, "timezone": timezone}
    raw = {
        "manifestVersion": 1, "platform": "cogover", "id": "orders", "entry": "main:jobs",
        "jobs": [{"key": "sync", "schedule": schedule, **job}],
    }  # fmt: skip
    return Manifest.of(raw, load("cogover"))


def scenario(manifest: Manifest, start: str, end: str, *, folder: Path = Path(), **rest: Any) -> Scenario:
    """A scenario in UTC without handlers, unless told otherwise."""
    plugins = (SimulatedPlugin(manifest=manifest, folder=folder),)
    return Scenario(plugins=plugins, start=at(start), end=at(end), **{"timezone": "UTC", "handlers": False} | rest)


def run(manifest: Manifest, start: str, end: str, **rest: Any) -> Simulation:
    """The same, run."""
    return simulate(scenario(manifest, start, end, **rest))


def told(simulation: Simulation) -> list[str]:
    """Events as ``03:00:10 attempt 2`` on the UTC clock."""
    return [f"{_time(event.at)} {event.type} {event.attempt or ''}".rstrip() for event in simulation.events]


def _time(moment: int) -> str:
    return datetime.fromtimestamp(moment // 1000, UTC).strftime("%H:%M:%S")
