"""What a simulation came to: everything that happened, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from nsplugin_core.events import EngineEvent
from nsplugin_core.simulation.scenario import Scenario

RemarkKind = Literal["deferred", "dropped", "suppressed", "repeated", "down", "up", "host-exit", "zone-change"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something beside the engine's events: what a clock change does to a schedule, or a fault that was ordered.

    ``at`` in UTC ms. ``fires``: how many fires a clock change concerns.
    """

    at: int
    kind: RemarkKind
    text: str
    plugin: str = ""
    job: str = ""
    fires: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts. ``fires`` are those in time, ``catch_ups`` those that make up for missed ones.

    ``deferred`` and ``dropped`` are what clock changes did to fires. Deferred: all that one gap moves to the moment after
    it are one fire. Dropped: each skipped minute that does not run, and each repeated one that runs only the first time.
    ``deferrals`` are attempts given back because a host exited, ``lost`` those cut short because the core went down.
    ``unfinished`` tasks are queued or running at the end. Waits between attempts are in ms.
    """

    fires: int = 0
    catch_ups: int = 0
    skips: int = 0
    deferred: int = 0
    dropped: int = 0
    enqueued: int = 0
    duplicates: int = 0
    attempts: int = 0
    succeeded: int = 0
    failures: int = 0
    timeouts: int = 0
    lost: int = 0
    deferrals: int = 0
    retries: int = 0
    dead_letters: int = 0
    unfinished: int = 0
    longest_wait_ms: int = 0
    total_wait_ms: int = 0

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the counts."""
        return tuple(field.name for field in fields(cls))


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """All of a simulation, in order of time. ``notes`` are for the person who ran it: they depend on real time."""

    scenario: Scenario
    events: Sequence[EngineEvent]
    remarks: Sequence[Remark]
    summary: Summary
    notes: Sequence[str] = ()


_COUNTED = {
    "fires": "fire", "catch_ups": "catch-up", "skips": "skip", "enqueued": "enqueue", "duplicates": "duplicate",
    "attempts": "attempt", "succeeded": "success", "failures": "failure", "timeouts": "timeout", "lost": "lost",
    "deferrals": "deferral", "retries": "retry", "dead_letters": "dead",
}  # fmt: skip


def summarised(events: Iterable[EngineEvent], remarks: Iterable[Remark], unfinished: int) -> Summary:
    """Count events and remarks."""
    events = list(events)
    counts = Counter[str](event.type for event in events)
    clock = Counter[str]()
    for remark in remarks:
        clock[remark.kind] += remark.fires
    waits = [event.due - event.at for event in events if event.type == "retry" and event.due is not None]
    return Summary(
        **{name: counts[kind] for name, kind in _COUNTED.items()},
        deferred=clock["deferred"],
        dropped=clock["dropped"] + clock["suppressed"],
        unfinished=unfinished,
        longest_wait_ms=max(waits, default=0),
        total_wait_ms=sum(waits),
    )
