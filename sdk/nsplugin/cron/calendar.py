"""Fire times: from the wall clock of a schedule to instants, under either policy for clock changes (spec/cron.md F1–F7).

Everything is a whole number of minutes since 1970-01-01T00:00 UTC.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final, Literal

from nsplugin.cron import effects
from nsplugin.cron.effects import ClockEffect, Fire
from nsplugin.cron.grammar import Expression, never_fires
from nsplugin.cron.timetable import Page, Timetable
from nsplugin.cron.years import MINUTES_A_DAY
from nsplugin.cron.zones import Segment, Zone

Policy = Literal["defer-once", "every-match"]
_REACH: Final = 26 * 60
"""No clock on Earth is further than this from UTC."""
_NOWHERE: Final = (0, 0, 0, 0)


class Calendar:
    """The fires of one expression in one zone.

    ``policy`` "defer-once" (F2): a wall minute fires once, at its first occurrence; skipped ones fire together right after the
    gap. "every-match" (F3): every minute whose local time matches fires.

    The calendar holds the instants whose UTC and local dates both lie in the years 1 to 9999; outside them nothing fires.
    """

    __slots__ = ("_defer", "_first", "_last", "_table", "_times", "_window", "expression", "policy", "zone")

    def __init__(self, expression: Expression, zone: Zone, policy: Policy) -> None:
        self.expression = expression
        self.zone = zone
        self.policy = policy
        self._defer = policy == "defer-once"
        self._table = Timetable(expression)
        self._times = self._table.times
        self._first, self._last = (1, 0) if never_fires(expression) else zone.bounds
        # Where the last search ended: UTC minutes from .. to (exclusive) within one offset and one local year, what to add to
        # a UTC minute to count from the start of that year, and the matching days of the year. Replaced as a whole, so that
        # threads may share a calendar.
        self._window: tuple[int, int, int, int] = _NOWHERE

    def next(self, after: int) -> int | None:
        """The first fire strictly after a minute; ``None`` if there is none up to the end of the year 9999."""
        minute = after + 1
        start, end, shift, days = self._window
        if not start <= minute < end:
            return self._search(minute)
        day, time = divmod(minute + shift, MINUTES_A_DAY)
        if days >> day & 1:
            late = self._times >> time
            if late:
                found = minute + (late & -late).bit_length() - 1
                return found if found < end else self._search(end)
        left = days >> day + 1
        found = minute - time + MINUTES_A_DAY * (left & -left).bit_length() + self._table.first
        return found if left and found < end else self._search(end)

    def previous(self, before: int) -> int | None:
        """The last fire strictly before a minute; ``None`` if there is none from the beginning of the year 1."""
        minute = min(before - 1, self._last)
        while minute >= self._first:
            segment = self.zone.segment(minute)
            opening, offset = self._opening(segment), segment.offset
            found = None
            if minute >= opening:
                found = self._table.before(minute + offset) - offset
                if found >= opening:
                    return found if found >= self._first else None
            if self._lands(segment):
                return segment.start
            back = segment.start - 1
            far = found is not None and segment.start < minute - 2 * _REACH
            minute = min(back, found + 2 * _REACH) if far and found is not None else back
        return None

    def fires(self, after: int, count: int) -> list[int]:
        """At most ``count`` fires strictly after a minute, in order."""
        found: list[int] = []
        while len(found) < count and (minute := self.next(after)) is not None:
            found.append(minute)
            found += self._rest_of_day(minute, count - len(found))
            after = found[-1]
        return found

    def marked(self, after: int, count: int) -> list[Fire]:
        """The same fires, each with what a clock change does to it."""
        return [effects.fire(self._table, self.zone, minute, defer=self._defer) for minute in self.fires(after, count)]

    def clock_effects(self, start: int, end: int) -> list[ClockEffect]:
        """What the clock changes from ``start`` to before ``end`` defer, drop, suppress or repeat, in order."""
        if self._first > self._last:
            return []
        return list(effects.changes(self._table, self.zone, max(start, self._first), min(end, self._last), defer=self._defer))

    def _search(self, minute: int) -> int | None:
        """The first fire at or after a minute, stretch by stretch; remembers the window it lies in."""
        minute = max(minute, self._first)
        while minute <= self._last:
            segment = self.zone.segment(minute)
            opening = self._opening(segment)
            if minute < opening:
                if minute == segment.start and self._lands(segment):
                    return minute
                if opening >= segment.end:
                    minute = segment.end
                    continue
                minute = opening
            found, page = self._table.find(minute + segment.offset)
            found -= segment.offset
            if found < segment.end:
                if found > self._last:
                    return None
                self._remember(page, opening, segment)
                return found
            minute = _beyond(minute, found, segment.end)
        return None

    def _remember(self, page: Page, opening: int, segment: Segment) -> None:
        offset = segment.offset
        start, end, days = page
        self._window = (
            max(opening, start - offset, self._first),
            min(segment.end, end - offset, self._last + 1),
            offset - start,
            days,
        )

    def _opening(self, segment: Segment) -> int:
        """The first minute of a stretch from which on plain matches fire.

        Under "defer-once" a stretch begins with minutes that came before (they stay silent), or right after a gap with one
        minute that also takes what the gap skipped (:meth:`_lands`).
        """
        if not self._defer:
            return segment.start
        repeated_until = segment.high - segment.offset
        return repeated_until if repeated_until >= segment.start else segment.start + 1

    def _lands(self, segment: Segment) -> bool:
        """Whether the first minute after a gap fires: a skipped minute or that minute itself matches (F2)."""
        landing = segment.start + segment.offset
        return self._defer and segment.high < landing and self._table.after(segment.high) <= landing

    def _rest_of_day(self, minute: int, count: int) -> list[int]:
        """The fires after one that :meth:`next` found, as far as its day and its window reach."""
        start, end, shift, _ = self._window
        if not start <= minute < end:
            return []
        listed = self._table.listed
        time = (minute + shift) % MINUTES_A_DAY
        midnight = minute - time
        first = bisect_right(listed, time)
        last = bisect_left(listed, end - midnight)
        return [midnight + time for time in listed[first : min(last, first + count)]]


def _beyond(minute: int, found: int, end: int) -> int:
    """Where to go on when the next match on the wall clock, ``found``, lies beyond the ``end`` of the stretch.

    A rare schedule need not look at every stretch: the wall clock shows no match until it shows that one, and from two
    reaches after ``minute`` on no other offset sets it back to where the search began.
    """
    return max(end, found - 2 * _REACH) if end > minute + 2 * _REACH else end
