"""The five-field grammar of both platforms (spec/cron.md G1–G4). What is wrong with a bad expression is ``diagnosis``'s."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from nsplugin.cron.years import LENGTHS
from nsplugin.row import Row

Code = Literal["NSP201", "NSP202", "NSP203"]
_REMEMBERED: Final = 256
"""Texts longer than this are parsed anew each time, so that no cache holds megabytes."""


class Field(Row):
    """One of the five fields: its name in messages and its smallest and largest number."""

    name: str
    low: int
    high: int


FIELDS: Final = (
    Field("minute", 0, 59),
    Field("hour", 0, 23),
    Field("day of month", 1, 31),
    Field("month", 1, 12),
    Field("day of week", 0, 7),
)
_PLACES: Final = (0, 1, 2, 3, 4)
_IN_EVERY_MONTH: Final = (1 << 29) - 2
_PLAIN: Final = tuple(
    {"*": (2 << high) - (1 << low), **{str(number): 1 << number for number in range(low, high + 1)}} for _, low, high in FIELDS
)
"""The commonest items of each field, looked up before anything is taken apart."""


class Expression(Row):
    """A parsed schedule. ``text`` is normalised; in the bit sets bit n stands for number n, Sunday is bit 0 (never 7).

    A day field is restricted unless one of its items is ``*`` or ``*/1`` (G4).
    """

    text: str
    minutes: int
    hours: int
    days: int
    months: int
    weekdays: int
    day_restricted: bool
    weekday_restricted: bool


class CronFault(Row):
    """One fault: ``column`` (from 1) and ``end_column`` (exclusive) count characters of the text as it was given.

    ``field`` is ``None`` for a fault of the whole expression. ``fix``, where it is not ``None``, is what to put in place of
    the text from ``column`` to ``end_column``: it means what the author evidently meant.
    """

    code: Code
    message: str
    hint: str | None
    field: str | None
    column: int
    end_column: int
    fix: str | None = None


class CronError(ValueError):
    """An expression that is not in the grammar; ``faults`` holds every fault, in column order."""

    def __init__(self, faults: tuple[CronFault, ...]) -> None:
        super().__init__(faults)
        self.faults = faults

    def __str__(self) -> str:
        return "; ".join(fault.message for fault in self.faults)


def normalise(text: str) -> str:
    """Single spaces between the fields, none around; only spaces and tabs count as such."""
    return " ".join(fields(text))


def fields(text: str) -> list[str]:
    """The stretches between spaces and tabs."""
    parts = (text.replace("\t", " ") if "\t" in text else text).split(" ")
    return [part for part in parts if part] if "" in parts else parts


def faults(text: str) -> tuple[CronFault, ...]:
    """Every fault of an expression, one for each faulty item, in column order; empty for a good one."""
    try:
        parse(text)
    except CronError as error:
        return error.faults
    return ()


def parse(text: str) -> Expression:
    """Parse five fields separated by spaces or tabs. Raises :class:`CronError` with every fault."""
    return _remembered(text) if len(text) <= _REMEMBERED else _parse(text)


def parses(text: str) -> bool:
    """Whether a text is in the grammar."""
    parts = fields(text)
    return len(parts) == 5 and all(field_set(place, part) for place, part in enumerate(parts))


def _parse(text: str) -> Expression:
    parts = fields(text)
    if len(parts) == 5:
        minutes, hours, days, months, weekdays = map(field_set, _PLACES, parts)
        if minutes and hours and days and months and weekdays:
            day, weekday = not _unrestricted(parts[2]), not _unrestricted(parts[4])
            weekdays = (weekdays | weekdays >> 7) & 127
            return Expression(" ".join(parts), minutes, hours, days, months, weekdays, day, weekday)
    from nsplugin.cron.diagnosis import diagnose

    raise CronError(diagnose(text))


_remembered = lru_cache(maxsize=4096)(_parse)


def _unrestricted(part: str) -> bool:
    """Whether an item of a good day field is ``*`` or ``*/1``, however many zeros stand before the 1 (G4)."""
    return part == "*" or (
        "*" in part and any(item == "*" or (item[:2] == "*/" and item[2:].lstrip("0") == "1") for item in part.split(","))
    )


def field_set(place: int, part: str) -> int:
    """The numbers of a field (0 to 4) as a bit set, bit n for number n; 0 if an item of it is not in the grammar."""
    known = _PLAIN[place].get(part)
    if known is not None:
        return known
    return _remembered_field(place, part) if len(part) <= _REMEMBERED else _field_set(place, part)


def _field_set(place: int, part: str) -> int:
    found = 0
    for item in part.split(","):
        numbers = _PLAIN[place].get(item) or item_set(place, item)
        if not numbers:
            return 0
        found |= numbers
    return found


_remembered_field = lru_cache(maxsize=4096)(_field_set)


def item_set(place: int, item: str) -> int:
    """The numbers of one item (``*``, ``n``, ``a-b``, ``*/s``, ``a-b/s``) as a bit set; 0 if it is not in the grammar."""
    _, low, high = FIELDS[place]
    span, slash, step = item.partition("/")
    every = number(step) if slash else 1
    if every < 1:
        return 0
    if span == "*":
        # A full week is Sunday to Saturday and Sunday again: `*/7` is Sunday, as in every cron.
        return _steps(low, high, every)
    first, dash, last = span.partition("-")
    start = number(first)
    end = number(last) if dash else start
    if not low <= start <= end <= high or (slash and not dash):
        return 0
    return _steps(start, end, every)


def _steps(start: int, end: int, every: int) -> int:
    if every == 1:
        return (2 << end) - (1 << start)
    return sum([1 << number for number in range(start, end + 1, every)])


def number(digits: str) -> int:
    """The value of ASCII digits, leading zeros allowed; 1000 for anything larger, -1 for anything else."""
    if len(digits) > 3:
        if not (digits.isascii() and digits.isdigit()):
            return -1
        digits = digits.lstrip("0") or "0"
        return int(digits) if len(digits) <= 3 else 1000
    return int(digits) if digits.isascii() and digits.isdigit() else -1


def forget() -> None:
    """Empty the caches of parsed texts, so that a measurement is of the parsing."""
    _remembered.cache_clear()
    _remembered_field.cache_clear()


def never_fires(expression: Expression) -> bool:
    """Whether no day of any year matches (G5): exact, and the same in every time zone."""
    if expression.weekday_restricted or not expression.day_restricted or expression.days & _IN_EVERY_MONTH:
        return False
    return not any(
        expression.months >> month & 1 and expression.days & ((2 << length) - 2)
        for month, length in enumerate(LENGTHS, start=1)
    ) and not (expression.months >> 2 & 1 and expression.days >> 29 & 1)
