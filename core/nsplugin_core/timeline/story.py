"""Events as entries in plain words: everything that happens to one task at one moment is one entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from nsplugin.cron import Zone, local, zone
from nsplugin.durations import spoken
from nsplugin_core.events import EngineEvent
from nsplugin_core.policy import LATE_MS
from nsplugin_core.simulation.moments import MINUTE_MS
from nsplugin_core.simulation.summary import Remark, Simulation

Tone = Literal["good", "plain", "note", "warning", "error"]
_TONES: Final[dict[str, Tone]] = {
    "skip": "note", "catch-up": "note", "failure": "warning", "timeout": "warning", "lost": "warning", "deferral": "note",
    "dead": "error", "refused": "warning", "duplicate": "note",
}  # fmt: skip
MOST_OF_AN_ERROR: Final = 200
RANK: Final[tuple[Tone, ...]] = ("plain", "good", "note", "warning", "error")
"""From the least to what one should look at first."""
_QUIET: Final = (("fire", "attempt", "success"), ("enqueue", "attempt", "success"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What happened to a task (or, with an empty ``job``, to the core) at a moment (UTC ms).

    ``task`` is its number in the order of appearance, 0 for none. ``quiet``: it came, ran at once and succeeded.
    """

    at: int
    plugin: str
    job: str
    task: int
    text: str
    tone: Tone
    quiet: bool = False


class Clock:
    """Shows moments on the wall clock of the site, which may change its zone on the way."""

    def __init__(self, simulation: Simulation) -> None:
        scenario = simulation.scenario
        self._zones = [(scenario.start, zone(scenario.timezone)), *((at, zone(name)) for at, name in scenario.zone_changes)]

    def zone(self, moment: int) -> Zone:
        """The site's zone at a moment."""
        return next((site for at, site in reversed(self._zones) if at <= moment), self._zones[0][1])

    def wall(self, moment: int) -> tuple[datetime, str]:
        """The date and time on the wall clock, and the name of its offset."""
        minute, rest = divmod(moment, MINUTE_MS)
        wall, label = local(minute, self.zone(moment))
        return wall + timedelta(milliseconds=rest), label

    def time(self, moment: int) -> str:
        """``03:00:00``, with milliseconds where there are any."""
        wall, _ = self.wall(moment)
        return wall.isoformat(timespec="milliseconds" if wall.microsecond else "seconds").partition("T")[2]


def entries(simulation: Simulation, clock: Clock) -> list[Entry]:
    """Everything that happened, in order of time; what clock changes and faults did stands before the rest of its moment."""
    told = [*map(_remarked, simulation.remarks), *_tasks(simulation.events, clock)]
    return sorted(told, key=lambda entry: entry.at)


def _remarked(remark: Remark) -> Entry:
    tone: Tone = "warning" if remark.kind in ("dropped", "down", "host-exit") else "note"
    return Entry(at=remark.at, plugin=remark.plugin, job=remark.job, task=0, text=remark.text, tone=tone)


def _tasks(events: Sequence[EngineEvent], clock: Clock) -> Iterator[Entry]:
    numbers: dict[str, int] = {}
    groups: dict[tuple[int, str, str], list[EngineEvent]] = {}
    for event in events:
        numbers.setdefault(event.task, len(numbers) + 1)
        groups.setdefault((event.at, event.task, event.type if event.type == "skip" else ""), []).append(event)
    started: dict[str, int] = {}
    for group in groups.values():
        yield _entry(group, numbers, started, clock)


def _entry(group: Sequence[EngineEvent], numbers: dict[str, int], started: dict[str, int], clock: Clock) -> Entry:
    types = tuple(event.type for event in group)
    quiet = types in _QUIET
    texts = list(_texts(group, started, clock))
    tones: list[Tone] = ["good" if quiet else "plain", *(_TONES.get(kind, "plain") for kind in types)]
    first = group[0]
    return Entry(
        at=first.at,
        plugin=first.plugin,
        job=first.job,
        task=numbers[first.task],
        text="; ".join(texts),
        tone=max(tones, key=RANK.index),
        quiet=quiet,
    )


def _texts(group: Sequence[EngineEvent], started: dict[str, int], clock: Clock) -> Iterator[str]:
    """An attempt that ends in the moment in which it starts is told by its end alone."""
    ended = {event.attempt for event in group if event.type in _ENDINGS}
    for event in group:
        if event.type == "attempt":
            started[event.task] = event.at
        if event.type != "attempt" or event.attempt not in ended or _starts_again(group, event):
            yield _words(event, started, clock)


def _starts_again(group: Sequence[EngineEvent], event: EngineEvent) -> bool:
    """Whether an attempt is the last of the group, so that the ending of the same number belongs to one before it."""
    return event is group[-1]


_ENDINGS: Final = ("success", "failure", "timeout", "lost", "deferral")
_WORDS: Final[dict[str, str]] = {
    "skip": "fire skipped: the task of an earlier fire is unfinished",
    "duplicate": "enqueued again under its key: nothing new",
    "attempt": "attempt {attempt} starts",
    "success": "attempt {attempt} succeeds{after}",
    "failure": "attempt {attempt} fails{after}: {error}",
    "timeout": "attempt {attempt} times out{after}",
    "lost": "attempt {attempt} was cut short by the outage and is spent",
    "deferral": "attempt {attempt} is given back: {error}",
    "dead": "dead letter",
    "refused": "a late result is refused",
}


def _words(event: EngineEvent, started: dict[str, int], clock: Clock) -> str:
    if event.type in _WITH_DUE:
        return _WITH_DUE[event.type](event, clock)
    took = event.at - started.get(event.task, event.at)
    after = f" after {spoken(took)}" if took else ""
    return _WORDS[event.type].format(attempt=event.attempt, after=after, error=_printable(event.error or ""))


def _printable(text: str) -> str:
    """One line of bounded length; what a terminal would act on stands as its escape."""
    if len(text) <= MOST_OF_AN_ERROR and text.isprintable():
        return text
    cut = text if len(text) <= MOST_OF_AN_ERROR else f"{text[: MOST_OF_AN_ERROR - 1]}…"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in cut)


def _fires(event: EngineEvent, clock: Clock) -> str:
    late = 0 if event.due is None else event.at - event.due
    return f"fires {spoken(late)} late" if late else "fires"


def _made_up(event: EngineEvent, clock: Clock) -> str:
    """Of several fires missed the latest stands for all (spec/nextskin.md C6); it may not be a missed one itself."""
    due = event.at if event.due is None else event.due
    if event.at - due < LATE_MS:
        return f"{_fires(event, clock)}, and makes up for fires missed before"
    wall, _ = clock.wall(due)
    return f"the fire of {wall:%Y-%m-%d %H:%M} is made up, {spoken(event.at - due)} late"


def _enqueued(event: EngineEvent, clock: Clock) -> str:
    delay = 0 if event.due is None else event.due - event.at
    return f"enqueued, due in {spoken(delay)}" if delay > 0 else "enqueued"


def _again(event: EngineEvent, clock: Clock) -> str:
    due = event.at if event.due is None else event.due
    if due <= event.at:
        return "to be tried again at once"
    return f"next attempt in {spoken(due - event.at)}, at {clock.time(due)}"


_WITH_DUE: Final[dict[str, Callable[[EngineEvent, Clock], str]]] = {
    "fire": _fires,
    "catch-up": _made_up,
    "enqueue": _enqueued,
    "retry": _again,
}
