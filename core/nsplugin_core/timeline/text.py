"""The timeline for a terminal: days, one line an entry, and what it all came to. Styled fragments; no escapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from nsplugin.durations import spoken
from nsplugin_core.simulation.summary import Simulation, Summary
from nsplugin_core.timeline.story import Clock, Entry, Tone, entries

Fragment = tuple[str, str]
SHORT: Final = 60
"""A timeline of at most so many lines is shown whole."""
_STYLES: Final[dict[Tone, str]] = {"good": "", "plain": "", "note": "note", "warning": "warning", "error": "error"}
_MARKS: Final[dict[Tone, str]] = {"good": " ", "plain": " ", "note": "·", "warning": "!", "error": "x"}


def fragments(simulation: Simulation, *, whole: bool = False) -> Iterator[Fragment]:
    """The timeline, day by day, then the summary. Unless ``whole``, a long one counts what went well instead of listing it."""
    clock = Clock(simulation)
    told = entries(simulation, clock)
    brief = not whole and len(told) > SHORT
    several = len(simulation.scenario.plugins) > 1
    names = {entry: _name(entry, several) for entry in told}
    width = max((len(name) for name in names.values()), default=0)
    for day, found in groupby(told, key=lambda entry: clock.wall(entry.at)[0].date()):
        group = list(found)
        yield "path", f"{day:%A} {day.isoformat()}"
        yield "dim", f"  {clock.zone(group[0].at).name}\n"
        yield from _day(group, names, width, clock, brief)
        yield "", "\n"
    yield from _summary(simulation.summary)


def _name(entry: Entry, several: bool) -> str:
    job = f"{entry.plugin}/{entry.job}" if several and entry.job else entry.job or entry.plugin
    return f"{job} #{entry.task}" if entry.task else job


def _day(group: Sequence[Entry], names: dict[Entry, str], width: int, clock: Clock, brief: bool) -> Iterator[Fragment]:
    shown = [entry for entry in group if not (brief and entry.quiet)]
    labels = [clock.wall(entry.at)[1] for entry in shown]
    for index, entry in enumerate(shown):
        changed = index == 0 or labels[index] != labels[index - 1]
        label = labels[index] if changed else ""
        yield "", f"  {clock.time(entry.at):<12} "
        yield "dim", f"{label:<{max(map(len, labels))}} "
        yield _STYLES[entry.tone], f"{_MARKS[entry.tone]} "
        yield "", f"{names[entry]:<{width}}  "
        yield _STYLES[entry.tone], f"{entry.text}\n"
    well = Counter(entry.job for entry in group if brief and entry.quiet)
    for job, number in sorted(well.items()):
        yield "dim", f"  {number:,} × {job} ran and succeeded at its first attempt\n"


def _summary(summary: Summary) -> Iterator[Fragment]:
    for line in summary_lines(summary):
        yield "", f"{line}\n"
    style = "error" if summary.dead_letters else "good"
    unfinished = f"; {_count(summary.unfinished, 'task')} unfinished at the end" if summary.unfinished else ""
    yield style, f"{_count(summary.dead_letters, 'dead letter')}"
    yield "", f"{unfinished}.\n"


def summary_lines(summary: Summary) -> list[str]:
    """Fires, attempts and waits, a sentence each."""
    clock = f"clock changes deferred {summary.deferred:,} and dropped {summary.dropped:,}"
    lines = [f"{_count(summary.fires, 'fire')}, {summary.catch_ups:,} made up, {summary.skips:,} skipped; {clock}."]
    if summary.enqueued or summary.duplicates:
        lines.append(f"{_count(summary.enqueued, 'task')} enqueued, {_count(summary.duplicates, 'duplicate')}.")
    ends = [
        f"{number:,} {word}"
        for number, word in (
            (summary.succeeded, "succeeded"),
            (summary.failures, "failed"),
            (summary.timeouts, "timed out"),
            (summary.lost, "cut short"),
            (summary.deferrals, "given back"),
        )
        if number or word == "succeeded"
    ]
    lines.append(f"{_count(summary.attempts, 'attempt')}: {', '.join(ends)}.")
    if summary.retries:
        waits = f"{spoken(summary.longest_wait_ms)} the longest, {spoken(summary.total_wait_ms)} in all"
        lines.append(f"{_count(summary.retries, 'wait')} before another attempt: {waits}.")
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)
