"""Points in time as a person writes them: with an offset, on the wall clock of a zone, a time of each day, after the start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from nsplugin.cron import Zone, to_minute
from nsplugin.durations import parsed

MINUTE_MS: Final = 60_000
_REACH: Final = 26 * 60
_TIME_OF_DAY: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
_DAY: Final = 24 * 60
_DAY_MS: Final = _DAY * MINUTE_MS


def moment(text: str, zone: Zone) -> int:
    """UTC ms of ``2026-03-08``, ``2026-03-08T02:30`` (on the zone's clock) or ``2026-03-08T07:00Z``. Or ``ValueError``."""
    try:
        found = datetime.fromisoformat(text.strip())
        if found.tzinfo is not None:
            return int(found.astimezone(UTC).timestamp() * 1000)
        seconds = found.second * 1000 + found.microsecond // 1000
        return wall_minute(to_minute(found.replace(tzinfo=UTC)), zone) * MINUTE_MS + seconds
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no time; write 2026-03-08, 2026-03-08T02:30 or 2026-03-08T07:00Z") from None


def moments(text: str, zone: Zone, start: int, end: int) -> list[int]:
    """The same, or ``02:30`` for each day from ``start`` to before ``end`` (UTC ms), or ``+2h`` after ``start``."""
    if text.startswith("+"):
        return [start + parsed(text[1:])]
    time = _time_of_day(text)
    if time is None:
        try:
            return [moment(text, zone)]
        except ValueError as error:
            raise ValueError(f"{error}, or 02:30 for every day, or +2h after the start") from None
    daily = [_on(day, time, zone) for day in _days(start, end)]
    return [each for each in daily if start <= each < end]


def spans(text: str, zone: Zone, start: int, end: int) -> list[tuple[int, int]]:
    """From–to pairs of ``02:00-05:00`` (every day, over midnight too) or of two times with ``-`` or ``/`` between them.

    Raises ``ValueError`` for anything else.
    """
    for match in re.finditer(r"[-/]", text):
        first, second = text[: match.start()].strip(), text[match.end() :].strip()
        times = _time_of_day(first), _time_of_day(second)
        if times[0] is not None and times[0] == times[1]:
            raise ValueError(f"{text!r} begins and ends at the same time")
        if times[0] is not None and times[1] is not None:
            return list(_daily_spans(times[0], times[1], zone, start, end))
        try:
            pair = moment(first, zone), moment(second, zone)
        except ValueError:
            continue
        if pair[0] >= pair[1]:
            raise ValueError(f"{text!r} ends before it begins")
        return [pair]
    raise ValueError(f"{text!r} is no span; write 02:00-05:00 for every day, or two times: 2026-03-08T02:00/2026-03-08T05:00")


def _daily_spans(first: int, second: int, zone: Zone, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Each day's, also one that began on the day before ``start``; none on a day whose clock skips all of it."""
    for day in _days(start, end):
        begin, until = _on(day, first, zone), _on(day + (second <= first), second, zone)
        if max(begin, start) < min(until, end):
            yield max(begin, start), until


def _time_of_day(text: str) -> int | None:
    """Milliseconds since midnight."""
    match = _TIME_OF_DAY.fullmatch(text.strip())
    return None if match is None else (int(match[1]) * 60 + int(match[2])) * MINUTE_MS + int(match[3] or 0) * 1000


def _days(start: int, end: int) -> range:
    """The numbers of all days that can matter, in any zone."""
    return range(start // _DAY_MS - 2, end // _DAY_MS + 3)


def _on(day: int, time: int, zone: Zone) -> int:
    minutes, rest = divmod(time, MINUTE_MS)
    return wall_minute(day * _DAY + minutes, zone) * MINUTE_MS + rest


def wall_minute(wall: int, zone: Zone) -> int:
    """The first instant at which the zone's clock shows a wall minute; for a skipped one the first after the gap."""
    segment = zone.segment(wall - _REACH)
    while True:
        minute = wall - segment.offset
        if minute < segment.end:
            return max(minute, segment.start)
        segment = zone.segment(segment.end)


def stamp(moment: int) -> str:
    """``2026-03-08T07:00:00.000Z``."""
    return (datetime(1970, 1, 1) + timedelta(milliseconds=moment)).isoformat(timespec="milliseconds") + "Z"
