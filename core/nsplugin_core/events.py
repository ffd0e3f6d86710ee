"""What the engine did, told to whoever listens: logs, metrics, a simulation's timeline."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, Literal

from nsplugin.record import record

EventType = Literal[
    "fire", "skip", "catch-up", "enqueue", "duplicate", "attempt", "success", "failure", "timeout", "lost", "retry", "deferral",
    "dead", "refused",
]  # fmt: skip


@record
class EngineEvent:
    """One thing that happened. ``at`` and ``due`` are UTC ms: ``due`` is a fire's instant, when a retry is due, or
    when the task of an attempt was first meant to run.

    An ended attempt gives one event for its ending (success, failure, timeout, lost, deferral) and, where that decides the
    task's fate, another (retry, dead). ``refused``: a result came for an attempt that is not running any more.
    """

    at: int
    type: EventType
    plugin: str
    job: str
    task: str
    attempt: int = 0
    due: int | None = None
    error: str | None = None


Observe = Callable[[EngineEvent], None]

_LEVEL: Final[dict[str, int]] = {
    "failure": logging.WARNING,
    "timeout": logging.WARNING,
    "lost": logging.WARNING,
    "refused": logging.WARNING,
    "dead": logging.ERROR,
}
_logger: Final = logging.getLogger("nsplugin.engine")


def log_event(event: EngineEvent) -> None:
    """Write an event to the standard library's log: what most programs want when they want nothing else."""
    level = _LEVEL.get(event.type, logging.INFO)
    if _logger.isEnabledFor(level):
        _logger.log(level, "%s %s/%s %s attempt %d%s", event.type, event.plugin, event.job, event.task, event.attempt,
                    f": {event.error}" if event.error else "")  # fmt: skip
