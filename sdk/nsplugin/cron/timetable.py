"""When a schedule matches on the wall clock, in wall minutes since 1970-01-01T00:00, by arithmetic on bit sets."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from nsplugin.cron.grammar import Expression
from nsplugin.cron.years import LENGTHS, MINUTES_A_DAY, STARTS, span, year_of

_ALL_MONTHS: Final = 0b1_1111_1111_1110
_WEEKS: Final = sum(1 << day for day in range(0, 371, 7))
"""Bit 0, 7, 14, … of a year: a pattern of one week times this repeats it."""
_YEAR: Final = ((1 << 365) - 1, (1 << 366) - 1)
_FIRSTS: Final = tuple(sum(1 << start for start in starts[:12]) for starts in STARTS)
"""The first day of each month: a set of days up to 28 times this puts them into every month."""
_LONG: Final = tuple(
    tuple(
        sum(1 << STARTS[leap][month] + day for month, length in enumerate(LENGTHS) if day < length + (leap and month == 1))
        for day in (28, 29, 30)
    )
    for leap in (0, 1)
)
"""The 29th, 30th and 31st of the months that have one."""


Page = tuple[int, int, int]
"""A year: its first minute, the first of the next year, and the matching days as bits, bit 0 for 1 January."""


class Timetable:
    """The matching days and minutes of an expression.

    ``times`` has bit n for minute n of the day, ``first`` and ``last`` are its ends.
    """

    __slots__ = ("_expression", "_kinds", "_listed", "first", "last", "times")

    def __init__(self, expression: Expression) -> None:
        self._expression = expression
        self._kinds: dict[int, int] = {}
        self._listed: tuple[int, ...] | None = None
        self.times = times = expression.minutes * _hours(expression.hours)
        self.first = (times & -times).bit_length() - 1
        self.last = times.bit_length() - 1

    @property
    def listed(self) -> tuple[int, ...]:
        """The matching minutes of a day, in order."""
        if self._listed is None:
            hours, minutes = numbers(self._expression.hours), numbers(self._expression.minutes)
            self._listed = tuple([60 * hour + minute for hour in hours for minute in minutes])
        return self._listed

    def page(self, year: int) -> Page:
        """A year of the timetable."""
        start, end, kind = span(year)
        days = self._kinds.get(kind)
        if days is None:
            self._kinds[kind] = days = _days(self._expression, kind)
        return start, end, days

    def find(self, wall: int) -> tuple[int, Page]:
        """The first match at or after a wall minute, and its year. Must not be asked of an expression that never fires."""
        year = year_of(wall // MINUTES_A_DAY)
        page = start, _, days = self.page(year)
        day, time = divmod(wall - start, MINUTES_A_DAY)
        if days >> day & 1:
            late = self.times >> time
            if late:
                return wall + (late & -late).bit_length() - 1, page
        left = days >> day + 1
        while not left:
            year += 1
            day = -1
            page = start, _, left = self.page(year)
        return start + MINUTES_A_DAY * (day + (left & -left).bit_length()) + self.first, page

    def after(self, wall: int) -> int:
        """The first match at or after a wall minute. Must not be asked of an expression that never fires."""
        return self.find(wall)[0]

    def before(self, wall: int) -> int:
        """The last match at or before a wall minute. Must not be asked of an expression that never fires."""
        year = year_of(wall // MINUTES_A_DAY)
        start, _, days = self.page(year)
        day, time = divmod(wall - start, MINUTES_A_DAY)
        early = self.times & ((2 << time) - 1)
        if days >> day & 1 and early:
            return wall - time + early.bit_length() - 1
        left = days & ((1 << day) - 1)
        while not left:
            year -= 1
            start, _, left = self.page(year)
        return start + MINUTES_A_DAY * (left.bit_length() - 1) + self.last

    def between(self, start: int, end: int) -> tuple[int, ...]:
        """Every match from ``start`` to before ``end``."""
        found = []
        wall = self.after(start)
        while wall < end:
            found.append(wall)
            wall = self.after(wall + 1)
        return tuple(found)


def numbers(bits: int) -> list[int]:
    """The numbers of a bit set, in order."""
    return [number for number in range(bits.bit_length()) if bits >> number & 1]


@lru_cache(maxsize=1024)
def _hours(hours: int) -> int:
    """The first minute of each hour of a set, as bits of a day."""
    return sum([1 << 60 * hour for hour in numbers(hours)])


@lru_cache(maxsize=8192)
def _months(months: int, leap: int) -> int:
    """The days of a set of months, as bits of a year."""
    if months == _ALL_MONTHS:
        return _YEAR[leap]
    starts = STARTS[leap]
    return sum([(1 << starts[month]) - (1 << starts[month - 1]) for month in numbers(months)])


def _days(expression: Expression, kind: int) -> int:
    """The matching days of a year of that kind, as bits; both day fields restricted: either decides (G4)."""
    leap = kind & 1
    days = _months(expression.months, leap)
    if not (expression.day_restricted or expression.weekday_restricted):
        return days
    either = 0
    if expression.day_restricted:
        either = _in_every_month(expression.days >> 1, leap)
    if expression.weekday_restricted:
        first = kind >> 1
        either |= ((expression.weekdays << 7 | expression.weekdays) >> first & 127) * _WEEKS
    return days & either


def _in_every_month(days: int, leap: int) -> int:
    """A set of days (bit 0 is the first) in every month that has them, as bits of a year."""
    found = (days & (1 << 28) - 1) * _FIRSTS[leap]
    for place, day in enumerate(_LONG[leap], start=28):
        if days >> place & 1:
            found |= day
    return found
