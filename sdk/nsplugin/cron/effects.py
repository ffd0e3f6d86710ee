"""What clock changes do to a schedule: which fires they defer, drop, suppress or repeat, each in a sentence."""

from collections.abc import Iterator
from typing import Final, Literal

from nsplugin.cron.moments import date_of, time_of, utc_offset
from nsplugin.cron.timetable import Timetable
from nsplugin.cron.zones import Segment, Zone
from nsplugin.row import Row

_LISTED: Final = 4
"""So many wall times are named one by one; more are counted."""

EffectKind = Literal["deferred", "dropped", "suppressed", "repeated"]


class Fire(Row):
    """One fire. ``minute`` is the instant (UTC, since the epoch).

    ``kind``: "deferred" when a gap in the clock brought it here (``wall`` has the skipped wall minutes), "repeated" when its
    wall time came before and fired then too, else "regular". ``note`` is a sentence for a person wherever a clock change
    touches the fire, so also for the first of two equal wall times.
    """

    minute: int
    note: str | None
    kind: Literal["regular", "deferred", "repeated"]
    wall: tuple[int, ...]


class ClockEffect(Row):
    """What one clock change, at ``minute``, does to the matching wall minutes in ``wall``.

    "deferred": they are skipped and run together right after the gap. "dropped": they are skipped and do not run.
    "suppressed": they come again and do not run again. "repeated": they come again and run again.
    """

    kind: EffectKind
    minute: int
    wall: tuple[int, ...]
    sentence: str


def fire(table: Timetable, zone: Zone, minute: int, *, defer: bool) -> Fire:
    """One fire with what a clock change does to it."""
    segment = zone.segment(minute)
    wall = minute + segment.offset
    if defer and minute == segment.start:
        skipped = table.between(segment.high, wall)
        if skipped:
            return Fire(minute, _sentence("deferred", _before(zone, segment), segment, skipped), "deferred", skipped)
    if wall < segment.high:
        return Fire(minute, _sentence("repeated", _before(zone, segment), segment, (wall,)), "repeated", ())
    if segment.end > zone.bounds[1]:
        return Fire(minute, None, "regular", ())  # the clock changes no more
    later = zone.segment(segment.end)
    if later.start + later.offset <= wall < later.end + later.offset:
        note = _sentence("suppressed" if defer else "repeated", segment, later, (wall,))
        return Fire(minute, note, "regular", ())
    return Fire(minute, None, "regular", ())


def changes(table: Timetable, zone: Zone, start: int, end: int, *, defer: bool) -> Iterator[ClockEffect]:
    """The effect of each clock change from ``start`` to before ``end`` that has one, in order."""
    segment = zone.segment(start)
    while segment.start < end:
        kind, wall = _effect(table, segment, defer) if segment.start >= start else ("deferred", ())
        if wall:
            sentence = _sentence(kind, _before(zone, segment), segment, wall)
            yield ClockEffect(kind, segment.start, wall, sentence)
        if segment.end >= end:
            break  # beyond the last change of a zone there is no further stretch
        segment = zone.segment(segment.end)


def _effect(table: Timetable, segment: Segment, defer: bool) -> tuple[EffectKind, tuple[int, ...]]:
    landing = segment.start + segment.offset
    if segment.high < landing:
        return "deferred" if defer else "dropped", table.between(segment.high, landing)
    repeated = table.between(landing, min(segment.high, segment.end + segment.offset))
    return "suppressed" if defer else "repeated", repeated


def _before(zone: Zone, segment: Segment) -> Segment:
    return zone.segment(segment.start - 1)


def _sentence(kind: EffectKind, before: Segment, after: Segment, wall: tuple[int, ...]) -> str:
    old, new = before.end + before.offset, after.start + after.offset
    day = date_of(old)
    change = f"on {day} the clock goes from {_reading(old, day, before)} to {_reading(new, day, after)}"
    times = _times(wall, day)
    if kind == "deferred":
        what = f"{_verb(wall, 'does', 'do')} not exist and {_verb(wall, 'runs', 'run once')} at {_clock(new, day)}"
    elif kind == "dropped":
        what = f"{_verb(wall, 'does', 'do')} not exist and {_verb(wall, 'does', 'do')} not run"
    elif kind == "suppressed":
        what = f"{_verb(wall, 'comes', 'come')} twice and {_verb(wall, 'runs', 'run')} only the first time"
    else:
        what = f"{_verb(wall, 'comes', 'come')} twice and {_verb(wall, 'runs', 'run')} both times"
    return f"{change}: {times} {what}"


def _verb(wall: tuple[int, ...], one: str, many: str) -> str:
    return one if len(wall) == 1 else many


def _reading(wall: int, day: str, segment: Segment) -> str:
    offset = utc_offset(segment.offset) if segment.offset else "UTC+00:00"
    named = f"{segment.label} ({offset})" if segment.label.isalpha() and segment.label != "UTC" else offset
    return f"{_clock(wall, day)} {named}"


def _clock(wall: int, day: str) -> str:
    """The time, with its date where that is not the day of the change."""
    return time_of(wall) if date_of(wall) == day else f"{date_of(wall)} {time_of(wall)}"


def _times(wall: tuple[int, ...], day: str) -> str:
    if len(wall) > _LISTED:
        return f"the {len(wall)} times from {_clock(wall[0], day)} to {_clock(wall[-1], day)}"
    named = [_clock(minute, day) for minute in wall]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
