"""The Gregorian calendar in whole days: day 0 is 1970-01-01, and every year is one of fourteen kinds."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

MINUTES_A_DAY: Final = 1440
FIRST_YEAR: Final = 1
LAST_YEAR: Final = 9999


def first_day(year: int) -> int:
    """The day number of 1 January."""
    before = year - 1
    return 365 * before + before // 4 - before // 100 + before // 400 - 719_162


def kind_of(year: int, start: int) -> int:
    """0 to 13: twice the weekday of 1 January (0 is Sunday), plus one in a leap year; ``start`` is its day number."""
    return (start + 4) % 7 * 2 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))


@lru_cache(maxsize=1024)
def span(year: int) -> tuple[int, int, int]:
    """The first minute of a year, the first of the next one, and its kind."""
    start = first_day(year)
    kind = kind_of(year, start)
    return start * MINUTES_A_DAY, (start + 365 + (kind & 1)) * MINUTES_A_DAY, kind


def year_of(day: int) -> int:
    """The year that a day number lies in."""
    year = (day + 719_162) * 400 // 146_097 + 1
    start, end, _ = span(year)
    minute = day * MINUTES_A_DAY
    return year - 1 if minute < start else year if minute < end else year + 1


FIRST_MINUTE: Final = first_day(FIRST_YEAR) * MINUTES_A_DAY
"""0001-01-01T00:00, in minutes since the epoch."""
LAST_MINUTE: Final = first_day(LAST_YEAR + 1) * MINUTES_A_DAY - 1
"""9999-12-31T23:59."""

LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Days of each month in a common year."""


def month_starts(leap: int) -> tuple[int, ...]:
    """The day of the year (from 0) on which each month begins, and the length of the year."""
    starts = [0]
    for month, length in enumerate(LENGTHS):
        starts.append(starts[-1] + length + (leap and month == 1))
    return tuple(starts)


STARTS: Final = (month_starts(0), month_starts(1))
"""Month starts of a common and of a leap year."""


def civil(day: int) -> tuple[int, int, int]:
    """Year, month and day of the month of a day number."""
    year = year_of(day)
    start = first_day(year)
    starts = STARTS[kind_of(year, start) & 1]
    inside = day - start
    month = next(number for number in range(12, 0, -1) if starts[number - 1] <= inside)
    return year, month, inside - starts[month - 1] + 1
