"""Oracles for cron: a naive reading of the grammar, and a walk over every minute of a stretch of time with ``zoneinfo``.

They share nothing with ``nsplugin.cron``: sets instead of bits, ``datetime`` instead of integers, every minute instead of
arithmetic.
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_ITEM = re.compile(r"(?:\*|([0-9]+)(?:-([0-9]+))?)(?:/([0-9]+))?")


@lru_cache(maxsize=1024)
def zone_info(name: str) -> ZoneInfo:
    """The zone from the ``tzdata`` package, whatever the machine has."""
    with importlib.resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


class Naive:
    """An expression as five sets, or ``ok`` false (a faulty field is empty)."""

    def __init__(self, text: str) -> None:
        parts = re.split(r"[ \t]+", text.strip(" \t"))
        self.sets = [self._field(part, *RANGES[at]) for at, part in enumerate(parts)] if len(parts) == 5 else []
        self.ok = len(parts) == 5 and all(self.sets)
        if self.ok:
            self.free_day, self.free_weekday = (self._free(parts[at]) for at in (2, 4))
            self.weekdays = {number % 7 for number in self.sets[4]}

    @staticmethod
    def _field(part: str, low: int, high: int) -> set[int]:
        found: set[int] = set()
        for item in part.split(","):
            match = _ITEM.fullmatch(item)
            if match is None or (match[1] and not match[2] and match[3]):
                return set()
            first = int(match[1]) if match[1] else low
            last = int(match[2] or match[1]) if match[1] else high
            step = int(match[3]) if match[3] else 1
            if not (low <= first <= last <= high and step >= 1):
                return set()
            found |= {number for number in range(low, high + 1) if first <= number <= last and (number - first) % step == 0}
        return found

    @staticmethod
    def _free(part: str) -> bool:
        return any(item == "*" or re.fullmatch(r"\*/0*1", item) for item in part.split(","))

    def day_matches(self, when: datetime) -> bool:
        """Whether the date matches (spec/cron.md G4)."""
        _, _, days, months, _ = self.sets
        if when.month not in months:
            return False
        day, weekday = when.day in days, when.isoweekday() % 7 in self.weekdays
        if self.free_day:
            return weekday or self.free_weekday
        return day if self.free_weekday else day or weekday

    def matches(self, wall: datetime) -> bool:
        """Whether a wall-clock minute matches."""
        return wall.minute in self.sets[0] and wall.hour in self.sets[1] and self.day_matches(wall)


def instant(minute: int) -> datetime:
    """The UTC datetime of a minute."""
    return EPOCH + minute * MINUTE


def wall_of(when: datetime, zone: ZoneInfo) -> datetime:
    """What the clock shows, naive, without the seconds that local mean times have."""
    return when.astimezone(zone).replace(tzinfo=None, second=0, fold=0)


def walk(text: str, name: str, start: int, end: int, policy: str) -> Iterator[int]:
    """Every fire from ``start`` to before ``end``, found minute by minute; looks back three days for repeated wall minutes."""
    expression, zone = Naive(text), zone_info(name)
    before = max(start - 3 * 1440, -1035593280 + 1440)
    seen: set[datetime] = set()
    last = wall_of(instant(before - 1), zone)
    for minute in range(before, end):
        wall = wall_of(instant(minute), zone)
        if policy == "every-match":
            fires = expression.matches(wall)
        else:
            skipped = [last + n * MINUTE for n in range(1, int((wall - last) / MINUTE))]
            fires = (wall not in seen and expression.matches(wall)) or any(map(expression.matches, skipped))
            seen.add(wall)
        last = wall
        if fires and minute >= start:
            yield minute


def _items(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    ranges = st.tuples(number, number).map(sorted).map(lambda ends: f"{ends[0]}-{ends[1]}")
    steps = st.integers(1, high + 3)
    return st.one_of(
        st.just("*"),
        number.map(str),
        number.map(lambda n: f"{n:02}"),
        ranges,
        steps.map(lambda s: f"*/{s}"),
        st.tuples(ranges, steps).map(lambda pair: f"{pair[0]}/{pair[1]}"),
    )


def expressions() -> st.SearchStrategy[str]:
    """Good expressions of every shape."""
    fields = [
        st.one_of(_items(low, high), st.lists(_items(low, high), min_size=1, max_size=3).map(",".join)) for low, high in RANGES
    ]
    return st.tuples(*fields).map(" ".join)
