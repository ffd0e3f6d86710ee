"""What a host is started with: the plugin it runs, and the limits it lives in."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSource:
    """Where a plugin's code lies and what its installed manifest says.

    ``entry`` is ``module:attribute``, found below ``directory``. ``manifest`` is the normalised manifest, whose jobs and
    capabilities the core enforces. ``environment`` is added to the few variables that a host gets; ``secrets`` are served
    by ``ctx.secrets`` and are never in the environment. ``allow_internal_system`` is the project's approved identity
    policy (spec/cogover.md X1).
    """

    id: str
    platform: str
    directory: Path
    entry: str
    manifest: Mapping[str, Any]
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow_internal_system: bool = False
    jobs_enabled: bool = True
    python: str = sys.executable


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """The limits of every host. Seconds, bytes and counts; see docs/providers.md for the reasons.

    ``slots``: attempts that run at once in one host. ``grace_s``: how long an attempt may go on after its time-out before
    its host is killed. ``restart_s`` and ``restart_max_s``: the first and the longest wait after a host's exit; it doubles
    between, and starts anew once a host has lived for ``settled_s``. ``patience_s``: how long an attempt waits for a slot
    before it is given back. ``enforce_deadlines`` False leaves time-outs to the dispatcher (simulated time).
    """

    slots: int = 8
    start_s: float = 10.0
    grace_s: float = 5.0
    route_s: float = 30.0
    restart_s: float = 0.5
    restart_max_s: float = 60.0
    settled_s: float = 30.0
    patience_s: float = 1.0
    idle_s: float = 600.0
    memory_bytes: int = 4 << 30
    open_files: int = 512
    processes: int = 512
    log_lines_per_s: int = 500
    log_burst: int = 2_000
    log_bytes_per_s: int = 4 << 20
    log_line_bytes: int = 8 << 10
    calls_in_flight: int = 1_000
    call_threads: int = 32
    enforce_deadlines: bool = True
    isolation: Literal["namespace", "process-group"] = "namespace"
    work_directory: Path | None = None
