"""What expressions have in common or apart, told from their bit sets alone: no time zone, no clock."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Final

from nsplugin.cron import Expression
from nsplugin.cron.timetable import numbers

_LONGEST: Final = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_WEEK: Final = 2**7 - 1
_DAY: Final = 2**24 - 1


def fire_set(expression: Expression) -> tuple[object, ...]:
    """Equal for two expressions exactly if they fire at the same times.

    For each month it holds the days that match whatever weekday they are, and the weekdays that match besides.
    """
    months = {month: _month(expression, month) for month in numbers(expression.months)}
    return expression.minutes, expression.hours, tuple(item for item in months.items() if any(item[1]))


def _month(expression: Expression, month: int) -> tuple[int, int]:
    every = (2 << _LONGEST[month]) - 2
    days = expression.days & every
    if not expression.weekday_restricted:
        return days if expression.day_restricted else every, 0
    if not expression.day_restricted:
        days = 0
    if expression.weekdays == _WEEK or days == every:
        return every, 0
    return days, expression.weekdays


def days_differ(expression: Expression) -> bool:
    """Whether both day fields are restricted and it matters that either suffices (spec/cron.md G4).

    It does not where each field alone matches every day.
    """
    if not (expression.day_restricted and expression.weekday_restricted):
        return False
    longest = max(_LONGEST[month] for month in numbers(expression.months))
    every = (2 << longest) - 2
    return expression.weekdays != _WEEK or expression.days & every != every


def names_every_hour(expression: Expression) -> bool:
    """Whether the schedule is about intervals rather than times of day."""
    return expression.hours == _DAY


@lru_cache(maxsize=1024)
def closest_fires(expression: Expression) -> int | None:
    """The fewest minutes between two fires, the clock unchanged; ``None`` if no two fall on one day or on neighbouring ones."""
    minutes, hours = numbers(expression.minutes), numbers(expression.hours)
    wrap = minutes[0] - minutes[-1]
    gaps = [later - earlier for earlier, later in pairwise(minutes)]
    gaps += [(later - earlier) * 60 + wrap for earlier, later in pairwise(hours)]
    if _on_neighbouring_days(expression):
        gaps.append((hours[0] + 24 - hours[-1]) * 60 + wrap)
    return min(gaps, default=None)


def _on_neighbouring_days(expression: Expression) -> bool:
    """Whether some day and the next one both match."""
    days, weekdays = expression.days, expression.weekdays
    weekly = weekdays & (weekdays >> 1 | weekdays << 6 & _WEEK)
    if not expression.day_restricted:
        return not expression.weekday_restricted or weekly != 0
    if expression.weekday_restricted:  # any day of the month, if there is one, follows any weekday in some year
        return weekly != 0 or any(days & ((2 << _LONGEST[month]) - 2) for month in numbers(expression.months))
    return any(_neighbours(expression, month, days) for month in numbers(expression.months))


def _neighbours(expression: Expression, month: int, days: int) -> bool:
    inside = days & ((2 << _LONGEST[month]) - 2)
    if inside & inside >> 1:
        return True
    last = (28, 29) if month == 2 else (_LONGEST[month],)
    following = expression.months >> (month % 12 + 1) & 1
    return bool(following and days >> 1 & 1 and any(days >> day & 1 for day in last))
