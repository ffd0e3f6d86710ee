"""A platform's policies as pure functions, looked up by the names in its TOML. No branch on a platform's name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal

from nsplugin.cron import Calendar, parse, zone
from nsplugin.platforms import CronPolicy, Platform, Retention
from nsplugin.record import record
from nsplugin_core.tasks import Target

MINUTE_MS: Final = 60_000
DAY_MS: Final = 86_400_000
LATE_MS: Final = 60_000
"""A fire that is taken this long after its instant was missed, not late: the clock was not being watched."""


@lru_cache(maxsize=4096)
def calendar(expression: str, timezone: str, clock_change: Literal["defer-once", "every-match"]) -> Calendar:
    """The calendar of a stored schedule. Raises the errors of :func:`nsplugin.cron.parse` and :func:`nsplugin.cron.zone`."""
    return Calendar(parse(expression), zone(timezone, offsets=True), clock_change)


def next_fire(times: Calendar, now: int) -> int | None:
    """The first fire strictly after ``now``, both in UTC milliseconds; ``None``: never again (spec/core.md K1)."""
    minute = times.next(now // MINUTE_MS)
    return None if minute is None else minute * MINUTE_MS


@record
class Firing:
    """What a due schedule does: the instants that get a task, its next fire, and what to add to its counters (all UTC ms)."""

    instants: tuple[int, ...]
    next_fire: int | None
    skipped: int
    caught_up: int


def fire(policy: CronPolicy, times: Calendar, *, due: int, now: int, unfinished: bool) -> Firing:
    """Decide for a schedule whose fire ``due`` has come (``due <= now``); ``unfinished``: its last task is not done yet.

    ``due`` is reckoned again: where a new tzdata moved it, there is nothing at the old instant.
    """
    first = next_fire(times, due - 1)
    if first is None or first > now:
        return Firing(instants=(), next_fire=first, skipped=0, caught_up=0)
    instants, caught_up = _CATCH_UP[policy.catch_up](times, first, now)
    kept = _OVERLAP[policy.overlap](instants, unfinished)
    return Firing(
        instants=kept,
        next_fire=next_fire(times, now),
        skipped=len(instants) - len(kept),
        caught_up=caught_up if kept else 0,
    )


def _once(times: Calendar, due: int, now: int) -> tuple[tuple[int, ...], int]:
    """One task however many fires were missed, at the latest of them (spec/nextskin.md C6)."""
    minute = times.previous(now // MINUTE_MS + 1)
    latest = due if minute is None else max(due, minute * MINUTE_MS)
    return (latest,), int(latest > due or now - latest >= LATE_MS)


def _none(times: Calendar, due: int, now: int) -> tuple[tuple[int, ...], int]:
    """A task for each instant that is merely late; missed ones are not made up (spec/cogover.md C1, C2)."""
    instants: list[int] = []
    moment: int | None = due if now - due < LATE_MS else next_fire(times, now - LATE_MS)
    while moment is not None and moment <= now:
        instants.append(moment)
        moment = next_fire(times, moment)
    return tuple(instants), 0


_CATCH_UP: Final[dict[str, Callable[[Calendar, int, int], tuple[tuple[int, ...], int]]]] = {"once": _once, "none": _none}
_OVERLAP: Final[dict[str, Callable[[tuple[int, ...], bool], tuple[int, ...]]]] = {
    "skip": lambda instants, unfinished: () if unfinished else instants,
    "allow": lambda instants, unfinished: instants,
}


_SCHEDULES_STAY: Final = {"keep-tasks": True, "drop-schedules": False}


def schedules_stay(policy: Retention) -> bool:
    """Whether a disabled plugin keeps its cron rows (spec/nextskin.md A4) or loses them (spec/cogover.md D9)."""
    return _SCHEDULES_STAY[policy.on_disable]


def kept_until(policy: Retention, state: Target, now: int) -> int | None:
    """Until when a task that ended now stays stored, in UTC ms; ``None``: it is dropped at once, or it has not ended."""
    days = {"succeeded": policy.succeeded_days, "dead": policy.dead_days}.get(state, 0)
    return now + days * DAY_MS if days else None


def error_text(policy: Retention, message: str | None) -> str:
    """A message as it is stored in ``last_error``: at most the platform's length, without what a store can't hold."""
    text = (message or "").replace("\0", "\N{REPLACEMENT CHARACTER}")[: policy.error_max_length]
    return text.encode("utf-8", "replace").decode("utf-8")


def schedule_zone(platform: Platform, own: str | None, site: str) -> str:
    """The zone a schedule runs in: the site's, or its own (spec/nextskin.md C4, spec/cogover.md D6)."""
    return site if platform.cron.time_zone == "site" else own or platform.cron.time_zone_default
