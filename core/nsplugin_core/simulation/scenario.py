"""What a simulation is told: the plugins, the window, and the faults to order. Plain data; times are UTC milliseconds."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nsplugin.manifest import Manifest

Job = tuple[str, str]
"""A plugin's id and the name of one of its jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPlugin:
    """A manifest and the folder that its entry is found in; without handlers the folder does not matter."""

    manifest: Manifest
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Which attempts a fault meets: the ``first`` ones of each task, and any other with a ``chance`` from 0 to 1."""

    first: int = 0
    chance: float = 0.0

    def hits(self, number: int, source: random.Random) -> bool:
        """Whether it meets attempt ``number`` (from 1)."""
        return number <= self.first or (self.chance > 0 and source.random() < self.chance)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnqueueOrder:
    """A task that somebody enqueues at a moment; ``payload`` is JSON data, ``options`` the platform's own."""

    at: int
    job: Job
    payload: Any
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All of one simulation.

    ``start`` to ``end`` (exclusive); ``timezone`` the site's. ``handlers``: run the plugins' own code, else attempts succeed
    unless a fault meets them. ``fail``, ``timeout``: attempts that fail, or do not end in time, by job. ``takes``: how many
    ms of virtual time an attempt without handlers takes. ``exits``: the first starts of each task of a job at which its host
    exits; ``exits_at``: plugin and moment of a host's exit. ``outages``: when the core is down. ``zone_changes``: moment and
    the site's new zone. ``real_s``: after so many real seconds an attempt is taken to run into its time-out.
    ``internal_system``: the projects' identity policy lets runs without a user use data (spec/cogover.md X1).
    """

    plugins: tuple[SimulatedPlugin, ...]
    start: int
    end: int
    timezone: str
    seed: int = 0
    handlers: bool = True
    fail: Mapping[Job, Hits] = field(default_factory=dict)
    timeout: Mapping[Job, Hits] = field(default_factory=dict)
    takes: Mapping[Job, int] = field(default_factory=dict)
    exits: Mapping[Job, int] = field(default_factory=dict)
    exits_at: tuple[tuple[int, str], ...] = ()
    outages: tuple[tuple[int, int], ...] = ()
    zone_changes: tuple[tuple[int, str], ...] = ()
    enqueues: tuple[EnqueueOrder, ...] = ()
    real_s: float = 10.0
    internal_system: bool = False

    def source(self, name: str) -> random.Random:
        """A stream of random numbers of its own for each use, so that one more draw here changes nothing there."""
        return random.Random(f"{self.seed}/{name}")
