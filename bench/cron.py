"""Next fires side by side with croniter and cronsim, in one run: prints a table with the machine and the date.

Run it with ``make bench``. *each* is the time of one fire when a schedule is walked from fire to fire; *once* is making an
iterator from the text and asking it once; *cold* is the same with our caches of parsed texts emptied before (the peers have
none). The peers get what they are fastest with: croniter yields floats, cronsim datetimes. Every number is the best of some
runs; ratios are what the targets speak of.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from nsplugin.cron import Calendar, grammar, parse, to_minute, zone

START = datetime(2026, 2, 20, 7, 31, tzinfo=UTC)
AFTER = to_minute(START)
ZONES = ("UTC", "America/New_York", "Asia/Ho_Chi_Minh")
# Expressions that all three read alike.
EXPRESSIONS = (
    "* * * * *",
    "*/5 * * * *",
    "*/15 9-17 * * 1-5",
    "0 * * * *",
    "0 3 * * *",
    "30 2 * * *",
    "0 9,17 * * 1-5",
    "0 0 * * 0",
    "0 0 1 * *",
    "0 0 1,15 * 1",
    "5,35 8-18/2 1-15 3,6,9,12 *",
    "0 0 31 * *",
    "0 12 1 1 *",
    "0 0 29 2 *",
)
RUNS = 5
TARGETS = {"croniter": 10.0, "cronsim": 3.0}
Step = Callable[[int], object]


def ours(text: str, name: str) -> Step:
    """Walk so many fires with our calendar, one call each."""

    def walk(count: int) -> int:
        calendar, minute = Calendar(parse(text), zone(name), "every-match"), AFTER
        for _ in range(count):
            found = calendar.next(minute)
            assert found is not None
            minute = found
        return minute

    return walk


def theirs_croniter(text: str, name: str) -> Step:
    """The same with croniter."""
    start = START.astimezone(ZoneInfo(name))

    def walk(count: int) -> float:
        iterator: Any = croniter(text, start)
        found = 0.0
        for _ in range(count):
            found = iterator.get_next(float)
        return found

    return walk


def theirs_cronsim(text: str, name: str) -> Step:
    """The same with cronsim."""
    start = START.astimezone(ZoneInfo(name))

    def walk(count: int) -> datetime:
        iterator = CronSim(text, start)
        found = start
        for _ in range(count):
            found = next(iterator)
        return found

    return walk


LIBRARIES: dict[str, Callable[[str, str], Step]] = {"ours": ours, "croniter": theirs_croniter, "cronsim": theirs_cronsim}


def microseconds(action: Callable[[], object], count: int = 1) -> float:
    """The best of some runs, divided by ``count``."""
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best / count * 1e6


def each(step: Step, count: int) -> float:
    """Microseconds of one fire while walking ``count`` of them."""
    return microseconds(lambda: step(count), count)


def once(step: Step) -> float:
    """Microseconds of making an iterator and asking it once; the zone is loaded."""
    return microseconds(lambda: [step(1) for _ in range(20)], 20)


def cold(step: Step) -> float:
    """The same with our caches of parsed texts emptied before."""

    def action() -> object:
        grammar.forget()
        return step(1)

    return microseconds(lambda: [action() for _ in range(20)], 20)


def rows() -> Iterator[tuple[str, str, dict[str, float]]]:
    """Every measurement: its kind, its label, and microseconds by library."""
    for text in EXPRESSIONS:
        for name in ZONES:
            steps = {library: make(text, name) for library, make in LIBRARIES.items()}
            count = 10 if text == "0 0 29 2 *" else 200
            label = f"{text:28} {name}"
            yield "each", label, {library: each(step, count) for library, step in steps.items()}
            yield "once", label, {library: once(step) for library, step in steps.items()}
            yield "cold", label, {library: cold(step) for library, step in steps.items()}


def ratios(found: list[dict[str, float]], library: str) -> float:
    """How many times longer a library takes, in the middle of the set."""
    return median(row[library] / row["ours"] for row in found)


def compared(write: Callable[[str], object]) -> int:
    """Print every row and the medians; the number of missed targets."""
    found: dict[str, list[dict[str, float]]] = {"each": [], "once": [], "cold": []}
    for kind, label, row in rows():
        found[kind].append(row)
        write(f"{kind}  {label:48}" + "".join(f"{row[library]:10.2f}" for library in LIBRARIES))
    missed = 0
    for kind, several in found.items():
        for library, target in TARGETS.items():
            ratio = ratios(several, library)
            missed += kind != "cold" and ratio < target
            goal = "no target" if kind == "cold" else f"target {target:.0f}"
            write(f"{kind}: {library} takes {ratio:.1f} times as long in the middle ({goal})")
    return missed


def single(write: Callable[[str], object]) -> int:
    """Print what has a target of its own: a schedule that never fires, and a year of every minute."""
    never = microseconds(lambda: Calendar(parse("0 0 30 2 *"), zone("Europe/Berlin"), "defer-once").next(AFTER))
    every = Calendar(parse("* * * * *"), zone("Europe/Berlin"), "defer-once")
    year = microseconds(lambda: every.fires(AFTER, 525_600)) / 1e6
    stepwise = each(ours("* * * * *", "Europe/Berlin"), 525_600) * 525_600 / 1e6
    write(f"never: {never:.1f} µs (target 50)")
    write(f"a year of * * * * *: {year:.3f} s in one call, {stepwise:.3f} s one by one (target 0.5)")
    return (never >= 50) + (year >= 0.5) + (stepwise >= 0.5)


def main(write: Callable[[str], object] = print) -> int:
    """Measure and print; 1 when a target is missed."""
    peers = ", ".join(f"{library} {version(library)}" for library in TARGETS)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    write(f"{datetime.now(UTC):%Y-%m-%d}, {machine}, {peers}\n")
    write(f"{'µs of one next fire':54}" + "".join(f"{library:>10}" for library in LIBRARIES))
    missed = compared(write)
    return int(missed + single(write) > 0)


if __name__ == "__main__":
    sys.exit(main())
