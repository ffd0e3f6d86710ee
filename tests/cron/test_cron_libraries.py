"""croniter and cronsim as witnesses: they must agree wherever no named disagreement applies.

Each row of the tables says when a library reads an expression otherwise than spec/cron.md, and has an example that proves it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import pytest
from croniter import croniter
from cronsim import CronSim
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cron_oracle import Naive, expressions, instant, zone_info
from nsplugin.cron import Calendar, isoformat, never_fires, parse, to_minute, zone

ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "Asia/Ho_Chi_Minh"]
_SAME_ENDS = re.compile(r"0*(\d+)-0*(\d+)(/\d+)?")


def ask_croniter(text: str, after: datetime, count: int) -> list[int]:
    iterator: Any = croniter(text, after)
    return [to_minute(iterator.get_next(datetime)) for _ in range(count)]


def ask_cronsim(text: str, after: datetime, count: int) -> list[int]:
    iterator = CronSim(text, after)
    return [to_minute(next(iterator)) for _ in range(count)]


def items(text: str) -> list[str]:
    return [item for field in text.split() for item in field.split(",")]


def one_number(text: str, step: bool) -> bool:
    """Whether an item is a range from a number to itself (with a step)."""
    matches = [match for item in items(text) if (match := _SAME_ENDS.fullmatch(item))]
    return any(match[1] == match[2] and (match[3] or not step) for match in matches)


class DayField(NamedTuple):
    """A day field that stands beside a restricted one."""

    text: str
    free: bool
    names_every_day: bool
    other: str


def day_field(text: str, holds: Callable[[DayField], bool]) -> bool:
    """Whether something holds of a day field beside a restricted one."""
    naive = Naive(text)
    days, weekdays = text.split()[2], text.split()[4]
    first = DayField(days, naive.free_day, naive.sets[2] == set(range(1, 32)), weekdays)
    second = DayField(weekdays, naive.free_weekday, naive.weekdays == set(range(7)), days)
    return (not second.free and holds(first)) or (not first.free and holds(second))


Disagreements = dict[str, tuple[Callable[[str], bool], str]]
CRONITER: Disagreements = {
    "a range of one number is read as the whole field": (lambda text: one_number(text, step=False), "0 0 * 5-5 *"),
    "a day field that names every day frees it beside a star with a step": (
        lambda text: day_field(text, lambda field: field.names_every_day and not field.free and "*" in field.other),
        "0 0 */2 * 0-7",
    ),
    "`*/1` counts as a restriction": (
        lambda text: day_field(text, lambda field: field.free and "*" not in field.text.split(",")),
        "0 0 1 * */1",
    ),
}
CRONSIM: Disagreements = {
    "a range of one number with a step goes on to the end of the field": (
        lambda text: one_number(text, step=True),
        "0 5-5/6 * * *",
    ),
    "a day field that begins with a star must match too, not either": (
        lambda text: day_field(text, lambda field: field.text[0] == "*" and not field.free),
        "0 0 */2 * 1",
    ),
    "a star later in a day field does not free it": (
        lambda text: day_field(text, lambda field: field.text[0] != "*" and field.free),
        "0 0 5,* * 1",
    ),
}
# On days of clock changes both follow rules of their own.
CLOCK_CHANGES = {
    "croniter": (ask_croniter, "30 2 * * *", "America/New_York", "2026-03-08T00:00Z", "2026-03-08T07:00Z"),
    "cronsim": (ask_cronsim, "* 16 * * 0", "Australia/Lord_Howe", "2026-10-01T22:45Z", "2026-10-04T05:30Z"),
}
LIBRARIES = {"croniter": (ask_croniter, CRONITER), "cronsim": (ask_cronsim, CRONSIM)}


def after(stamp: str, name: str = "UTC") -> datetime:
    return datetime.fromisoformat(stamp).astimezone(zone_info(name))


@pytest.mark.parametrize("library", LIBRARIES)
@settings(max_examples=300, deadline=None)
@given(text=expressions(), name=st.sampled_from(ZONES), start=st.integers(26_000_000, 36_000_000))
def test_a_library_agrees_unless_a_named_disagreement_applies(library: str, text: str, name: str, start: int) -> None:
    ask, disagreements = LIBRARIES[library]
    expression, place = parse(text), zone(name)
    assume(not never_fires(expression) and not any(applies(text) for applies, _ in disagreements.values()))
    expected = Calendar(expression, place, "every-match").fires(start, 3)
    segment = place.segment(start)
    assume(segment.start + 1440 < start and expected[-1] + 1440 < segment.end)
    assert ask(text, instant(start).astimezone(zone_info(name)), 3) == expected
    assert Calendar(expression, place, "defer-once").fires(start, 3) == expected


ROWS = [(library, why) for library, (_, disagreements) in LIBRARIES.items() for why in disagreements]


@pytest.mark.parametrize(("library", "why"), ROWS, ids=[" - ".join(row) for row in ROWS])
def test_each_named_disagreement_is_real(library: str, why: str) -> None:
    """A row that no longer disagrees must go."""
    ask, disagreements = LIBRARIES[library]
    applies, text = disagreements[why]
    assert applies(text)
    ours = Calendar(parse(text), zone("UTC"), "every-match").fires(29_000_000, 40)
    assert ask(text, instant(29_000_000), 40) != ours


@pytest.mark.parametrize("library", CLOCK_CHANGES)
def test_clock_changes_are_a_named_disagreement(library: str) -> None:
    """F3: croniter defers what it should drop; cronsim loses half an hour after a change of half an hour."""
    ask, text, name, start, theirs = CLOCK_CHANGES[library]
    assert isoformat(ask(text, after(start, name), 1)[0]) == theirs
    ours = Calendar(parse(text), zone(name), "every-match").next(to_minute(after(start)))
    assert ours is not None and isoformat(ours) != theirs
