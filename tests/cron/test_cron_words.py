"""Schedules in words, read back: the sentence alone must name the same minutes, days and months (docs: "never wrong")."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from cron_oracle import Naive, expressions
from nsplugin.cron import describe, never_fires, parse
from nsplugin.cron.names import DAYS, MONTHS

_TIME = r"(\d\d):(\d\d)"
_NAMES = "|".join(DAYS)


def listed(text: str) -> list[str]:
    return re.split(r", | and ", text)


def numbers(text: str) -> set[int]:
    """``1 to 3 and 10``."""
    found: set[int] = set()
    for part in listed(text):
        first, _, last = part.partition(" to ")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def read_times(text: str) -> tuple[set[int], str]:
    """The minutes of the day that the beginning of a sentence names, and the rest of it."""
    if match := re.match(rf"at ({_TIME}(?:(?:, | and ){_TIME})*)", text):
        return {60 * int(hour) + int(minute) for hour, minute in re.findall(_TIME, match[1])}, text[match.end() :]
    if match := re.match(rf"every (?:(\d+) )?(minutes?|hours?) from {_TIME} to {_TIME}", text):
        step = int(match[1] or 1) * (60 if match[2].startswith("hour") else 1)
        first, last = 60 * int(match[3]) + int(match[4]), 60 * int(match[5]) + int(match[6])
        return set(range(first, last + 1, step)), text[match.end() :]
    minutes, rest = read_minutes(text)
    hours, rest = read_hours(rest)
    return {60 * hour + minute for hour in hours for minute in minutes}, rest


def read_minutes(text: str) -> tuple[set[int], str]:
    if match := re.match(r"every (\d+) minutes from minute (\d+) to minute (\d+)", text):
        return set(range(int(match[2]), int(match[3]) + 1, int(match[1]))), text[match.end() :]
    if match := re.match(r"every (?:(\d+) )?minutes?", text):
        return set(range(0, 60, int(match[1] or 1))), text[match.end() :]
    match = re.match(r"at minutes? (\d[\d, toand]*\d|\d)", text)
    assert match is not None, text
    return numbers(match[1]), text[match.end() :]


def read_hours(text: str) -> tuple[set[int], str]:
    if match := re.match(r" of every (\d+)(?:nd|rd|th) hour from (\d+) to (\d+)", text):
        return set(range(int(match[2]), int(match[3]) + 1, int(match[1]))), text[match.end() :]
    if match := re.match(r" of hours? (\d[\d, toand]*\d|\d)", text):
        return numbers(match[1]), text[match.end() :]
    return set(range(24)), text.removeprefix(" of every hour")


def read_months(text: str) -> tuple[set[int], str]:
    names = "|".join(MONTHS)
    if match := re.search(rf",? from ({names}) to ({names})$", text):
        return set(range(MONTHS.index(match[1]) + 1, MONTHS.index(match[2]) + 2)), text[: match.start()]
    if match := re.search(rf",? in ((?:{names})(?:(?:, | and )(?:{names}))*)$", text):
        return {MONTHS.index(name) + 1 for name in listed(match[1])}, text[: match.start()]
    return set(range(1, 13)), text


def read_weekdays(text: str) -> set[int]:
    if match := re.fullmatch(rf"({_NAMES}) to ({_NAMES})", text):
        first, last = DAYS.index(match[1]), DAYS.index(match[2])
        return {day % 7 for day in range(first, last + 1 if first <= last else last + 8)}
    return {DAYS.index(name.removesuffix("s")) for name in listed(text.removeprefix("on "))}


def read_days(text: str) -> set[int]:
    if match := re.fullmatch(r"on every (\d+)(?:nd|rd|th) day from (\d+) to (\d+) of the month", text):
        return set(range(int(match[2]), int(match[3]) + 1, int(match[1])))
    match = re.fullmatch(r"on days? ([\d, toand]+) of the month", text)
    assert match is not None, text
    return numbers(match[1])


def dates(months: set[int], days: set[int] | None, weekdays: set[int] | None) -> set[tuple[int, int, int]]:
    """Every (month, day, weekday) that matches; without restrictions, all."""
    return {
        (month, day, weekday)
        for month in months
        for day in range(1, 32)
        for weekday in range(7)
        if (days is None and weekdays is None) or day in (days or ()) or weekday in (weekdays or ())
    }


def read(text: str) -> tuple[set[int], set[tuple[int, int, int]]]:
    times, rest = read_times(text)
    months, rest = read_months(rest)
    rest = rest.removeprefix(",").removeprefix(" ")
    if rest in ("", "every day"):
        return times, dates(months, None, None)
    if rest.startswith(("on day", "on every")):
        days, _, weekdays = rest.partition(" or ")
        return times, dates(months, read_days(days), read_weekdays(weekdays) if weekdays else None)
    return times, dates(months, None, read_weekdays(rest))


PLAIN = st.tuples(
    st.sampled_from(["*", "0", "5", "*/15", "*/7", "0,30", "10-20", "1,2,3,10", "0-59/9"]),
    st.sampled_from(["*", "9", "9,17", "9-17", "*/2", "1-23/3", "0,6,12,18", "8,9,10,20"]),
    st.sampled_from(["*", "1", "1-7,15", "*/2", "1-31", "29,31"]),
    st.sampled_from(["*", "1", "6-8", "*/2", "2", "1-12", "11,12"]),
    st.sampled_from(["*", "1", "1-5", "0,6", "5-7", "0-7", "1,3,5", "6,0,1"]),
).map(" ".join)


@settings(max_examples=600, deadline=None)
@given(PLAIN | expressions())
def test_the_sentence_says_exactly_what_the_expression_matches(text: str) -> None:
    expression, naive = parse(text), Naive(text)
    said = describe(expression)
    if never_fires(expression):
        assert said.startswith("never: ")
        return
    expected = dates(naive.sets[3], None if naive.free_day else naive.sets[2], None if naive.free_weekday else naive.weekdays)
    times = {60 * hour + minute for hour in naive.sets[1] for minute in naive.sets[0]}
    assert read(said) == (times, expected), said
