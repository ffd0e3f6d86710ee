"""A schedule in plain English. The words are exact: they name neither more nor fewer minutes than the expression matches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from nsplugin.cron.grammar import Expression, never_fires
from nsplugin.cron.moments import time_of
from nsplugin.cron.names import DAYS, MONTHS
from nsplugin.cron.timetable import numbers

_CLOCK_TIMES: Final = 4
"""So many times of the day are listed as ``09:00``; more are told as minutes and hours."""
_RUN: Final = 3
"""From so many consecutive numbers on, a list says ``1 to 3``."""
_STEPS: Final = 5
"""From so many evenly spaced numbers on, a list says ``every 7th``."""
_WHOLE_DAY: Final = (1 << 24) - 1
_WHOLE_WEEK: Final = (1 << 7) - 1
_WHOLE_MONTH: Final = (1 << 32) - 2
_WHOLE_YEAR: Final = (1 << 13) - 2


def describe(expression: Expression) -> str:
    """The schedule in words: ``at 03:00 every day``, ``every 15 minutes, Monday to Friday``,
    ``at 00:00 on day 1 of the month or on Mondays``, ``never: February has no day 30``."""
    if never_fires(expression):
        return _never(expression)
    days, months = _days(expression), _months(expression.months)
    if not days and expression.hours != _WHOLE_DAY:
        days = " every day"
    inner = " or " in days or not days or days.startswith(",") or days.endswith("month")
    return _times(numbers(expression.minutes), numbers(expression.hours)) + days + ("," if months and inner else "") + months


def _never(expression: Expression) -> str:
    months = [MONTHS[month - 1] for month in numbers(expression.months)]
    days = " or ".join(map(str, numbers(expression.days)))
    return f"never: {_listed(months)} {'has' if len(months) == 1 else 'have'} no day {days}"


def _times(minutes: Sequence[int], hours: Sequence[int]) -> str:
    first, last = 60 * hours[0] + minutes[0], 60 * hours[-1] + minutes[-1]
    if len(minutes) * len(hours) <= _CLOCK_TIMES:
        return "at " + _listed([time_of(60 * hour + minute) for hour in hours for minute in minutes])
    every = _even(minutes, 60)
    clock = f" from {time_of(first)} to {time_of(last)}"
    if every is not None:
        said = "every minute" if every == 1 else f"every {every} minutes"
        if len(hours) == 24:
            return said
        return said + (clock if _in_a_row(hours) else _of_hours(hours))
    if len(hours) == 1 and _in_a_row(minutes):
        return "every minute" + clock
    if len(minutes) == 1 and len(hours) < 24 and (step := _step(hours)) is not None:
        return ("every hour" if step == 1 else f"every {step} hours") + clock
    if len(minutes) >= _STEPS and (step := _step(minutes)) not in (1, None):
        return f"every {step} minutes from minute {minutes[0]} to minute {minutes[-1]}{_of_hours(hours)}"
    return f"at {_counted('minute', minutes)}{_of_hours(hours)}"


def _even(minutes: Sequence[int], size: int) -> int | None:
    """The step of numbers that divide an hour evenly and begin with it: ``every 15 minutes`` says all of it."""
    step = 1 if len(minutes) == size else _step(minutes)
    return step if step and minutes[0] == 0 and size % step == 0 and len(minutes) == size // step else None


def _step(found: Sequence[int]) -> int | None:
    """The distance between evenly spaced numbers, two at least."""
    steps = {later - earlier for earlier, later in pairwise(found)}
    return steps.pop() if len(steps) == 1 else None


def _in_a_row(found: Sequence[int]) -> bool:
    return len(found) == found[-1] - found[0] + 1


def _of_hours(hours: Sequence[int]) -> str:
    if len(hours) == 24:
        return " of every hour"
    step = _step(hours)
    if len(hours) >= _STEPS and step not in (1, None):
        return f" of every {_ordinal(step)} hour from {hours[0]} to {hours[-1]}"
    return f" of {_counted('hour', hours)}"


def _days(expression: Expression) -> str:
    """Where the days are said after the times; empty for every day."""
    by_day = expression.day_restricted and expression.days != _WHOLE_MONTH
    by_weekday = expression.weekday_restricted and expression.weekdays != _WHOLE_WEEK
    if by_day and by_weekday:
        weekdays = _weekdays(expression.weekdays)
        return f"{_days_of_month(expression.days)} or {weekdays.removeprefix(', ').removeprefix(' ')}"
    if by_day and not expression.weekday_restricted:
        return _days_of_month(expression.days)
    if by_weekday and not expression.day_restricted:
        return _weekdays(expression.weekdays)
    return ""


def _days_of_month(days: int) -> str:
    found = numbers(days)
    step = _step(found)
    if len(found) >= _STEPS and step not in (1, None):
        return f" on every {_ordinal(step)} day from {found[0]} to {found[-1]} of the month"
    return f" on {_counted('day', found)} of the month"


def _weekdays(weekdays: int) -> str:
    """``, Monday to Friday`` for three or more in a row, ``Saturday to Monday`` among them; else ``on Mondays and Fridays``."""
    found = numbers(weekdays)
    for first in found:
        run = [(first + place) % 7 for place in range(len(found))]
        if len(found) >= _RUN and sorted(run) == found:
            return f", {DAYS[run[0]]} to {DAYS[run[-1]]}"
    in_order = sorted(found, key=lambda day: day or 7)
    return " on " + _listed([DAYS[day] + "s" for day in in_order])


def _months(months: int) -> str:
    """``in January and July``, ``from June to August``; empty for every month."""
    if months == _WHOLE_YEAR:
        return ""
    found = [MONTHS[month - 1] for month in numbers(months)]
    if len(found) >= _RUN and _step(numbers(months)) == 1:
        return f" from {found[0]} to {found[-1]}"
    return f" in {_listed(found)}"


def _counted(noun: str, found: Sequence[int]) -> str:
    """``minute 5``, ``days 1 to 7 and 15``."""
    return f"{noun}{'' if len(found) == 1 else 's'} {_listed(_runs(found))}"


def _runs(found: Sequence[int]) -> list[str]:
    said: list[str] = []
    place = 0
    while place < len(found):
        end = place
        while end + 1 < len(found) and found[end + 1] == found[end] + 1:
            end += 1
        run = found[place : end + 1]
        said += [f"{run[0]} to {run[-1]}"] if len(run) >= _RUN else map(str, run)
        place = end + 1
    return said


def _listed(said: Sequence[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def _ordinal(number: int | None) -> str:
    return {2: "2nd", 3: "3rd"}.get(number or 0, f"{number}th")
