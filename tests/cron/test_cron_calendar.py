"""Fire times against a walk over every minute, and what must hold wherever one starts (spec/cron.md F1–F7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cron_oracle import EPOCH, MINUTE, Naive, expressions, walk
from nsplugin.cron import (
    Calendar,
    Policy,
    isoformat,
    local,
    never_fires,
    parse,
    to_datetime,
    to_minute,
    zone,
    zone_names,
)
from nsplugin.cron.years import FIRST_MINUTE, LAST_MINUTE

POLICIES = st.sampled_from(["defer-once", "every-match"])
NAMES = sorted(zone_names())
# One zone for each kind of clock change that spec/cron.md F5 names, and local mean times with seconds.
PECULIAR = [
    "Africa/Casablanca",
    "Africa/Monrovia",
    "America/Havana",
    "America/Juneau",
    "America/New_York",
    "America/Nuuk",
    "America/Sao_Paulo",
    "America/Scoresbysund",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Manila",
    "Asia/Pyongyang",
    "Australia/Lord_Howe",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Kwajalein",
]
WINDOW = 2 * 1440


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, int]:
    """A zone and the minute of one of its clock changes, up to the year 9990."""
    name = draw(st.sampled_from(PECULIAR) | st.sampled_from(NAMES))
    at = draw(st.integers(FIRST_MINUTE + 4 * 1440, LAST_MINUTE // 400) | st.integers(-50_000_000, LAST_MINUTE - 20_000_000))
    segment = zone(name).segment(at)
    edges = [edge for edge in (segment.start, segment.end) if FIRST_MINUTE + 5 * 1440 < edge < LAST_MINUTE - 5 * 1440]
    return name, draw(st.sampled_from(edges or [at]))


def around(minute: int) -> datetime:
    return EPOCH + minute * MINUTE


# Dense expressions meet a clock change; sparse ones would mostly miss it.
DENSE = st.tuples(
    st.sampled_from(["*", "0", "30", "*/7", "*/20", "59", "1-3,31"]),
    st.sampled_from(["*", "*/2", "0,23", "0-3", "1-2", "2", "22-23"]),
    st.sampled_from(["*", "*/2", "1,15,29-31", "20-31"]),
    st.sampled_from(["*", "1-6", "*/3", "3,10,12"]),
    st.sampled_from(["*", "0", "6,7", "1-5"]),
).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(changes(), DENSE | expressions(), POLICIES, st.integers(-WINDOW, 600))
@example(("Pacific/Apia", 22088520), "30 10 * * *", "defer-once", -1500)
@example(("Pacific/Kwajalein", -136400), "0 * * * *", "defer-once", -1500)
@example(("America/New_York", -45540244), "* 12 * * *", "every-match", -60)
def test_fires_around_a_clock_change_are_those_of_a_walk_over_every_minute(
    change: tuple[str, int], text: str, policy: Policy, shift: int
) -> None:
    """spec/cron.md F2, F3, F5: both policies, forwards and backwards, one by one and in bulk."""
    name, at = change
    start, end = at + shift, at + shift + WINDOW
    expected = list(walk(text, name, start, end, policy))
    calendar = Calendar(parse(text), zone(name), policy)
    assert [minute for minute in calendar.fires(start - 1, len(expected) + 1) if minute < end] == expected
    found, minute = [], start - 1
    while (after := calendar.next(minute)) is not None and after < end:
        found.append(minute := after)
    assert found == expected
    found, minute = [], end
    while (before := calendar.previous(minute)) is not None and before >= start:
        found.append(minute := before)
    assert found[::-1] == expected


@settings(max_examples=100, deadline=None)
@given(changes(), DENSE, POLICIES, st.lists(st.integers(-3000, 3000), min_size=2, max_size=6))
def test_the_answer_does_not_depend_on_where_one_starts(
    change: tuple[str, int], text: str, policy: Policy, shifts: list[int]
) -> None:
    """spec/cron.md F6: the fires from a later start are the tail of those from an earlier one; `previous` undoes `next`."""
    name, at = change
    expression, place = parse(text), zone(name)
    starts = sorted(at + shift for shift in shifts)
    shared = Calendar(expression, place, policy)
    whole = shared.fires(starts[0], 6000)
    for start in starts:
        tail = [minute for minute in whole if minute > start]
        assert Calendar(expression, place, policy).fires(start, len(tail)) == tail
        assert shared.next(start) == (tail[0] if tail else shared.next(whole[-1]) if whole else None)
        earlier = [minute for minute in whole if minute < start]
        if earlier:
            assert shared.previous(start) == earlier[-1]
    assert whole == sorted(set(whole))


@settings(max_examples=60, deadline=None)
@given(expressions(), st.sampled_from(NAMES), POLICIES, st.integers(FIRST_MINUTE, LAST_MINUTE))
def test_rare_schedules_have_no_match_before_the_next_fire(text: str, name: str, policy: Policy, after: int) -> None:
    """Day by day over the days between, with the oracle's own reading of the day fields."""
    calendar, naive = Calendar(parse(text), zone(name), policy), Naive(text)
    fire = calendar.next(after)
    if fire is None:
        assert never_fires(calendar.expression) or after > LAST_MINUTE - 9 * 366 * 1440
        return
    wall, _ = local(fire, calendar.zone)
    assert naive.matches(wall) or policy == "defer-once"
    assert calendar.previous(fire + 1) == fire
    before = calendar.previous(fire)
    assert before is None or before <= after
    day = local(max(after, calendar.zone.bounds[0]), calendar.zone)[0].replace(hour=0, minute=0) + timedelta(days=1)
    assume((wall - day).days < 4000)
    while day + timedelta(days=2) <= wall:
        assert not naive.day_matches(day)
        day += timedelta(days=1)


@settings(deadline=None)
@given(expressions())
def test_never_fires_is_exact(text: str) -> None:
    """spec/cron.md G5: four years hold every date and, in every month, every weekday."""
    naive, day = Naive(text), datetime(2000, 1, 1)
    fires = any(naive.day_matches(day + timedelta(days=number)) for number in range(1461))
    assert never_fires(parse(text)) == (not fires)
    assert (Calendar(parse(text), zone("UTC"), "every-match").next(0) is None) == (not fires)


@pytest.mark.parametrize(
    ("text", "after", "fires"),
    [
        ("0 0 30 2 *", "2025-01-01T00:00Z", None),
        ("0 0 31 2,4,6,9,11 *", "2025-01-01T00:00Z", None),
        ("0 0 30 2 */1", "2025-01-01T00:00Z", None),
        ("0 0 31 2 1", "2025-01-01T00:00Z", "2025-02-03T00:00Z"),
        ("0 0 29 2 *", "2096-02-29T00:00Z", "2104-02-29T00:00Z"),
        ("0 0 29 2 *", "9996-02-29T00:00Z", None),
        ("59 23 31 12 *", "9998-12-31T23:59Z", "9999-12-31T23:59Z"),
        ("59 23 31 12 *", "9999-12-31T23:59Z", None),
    ],
)
def test_never_and_the_end_of_the_calendar(text: str, after: str, fires: str | None) -> None:
    """spec/cron.md G5; after the year 9999 there is nothing, and no overflow."""
    minute = Calendar(parse(text), zone("UTC"), "defer-once").next(to_minute(datetime.fromisoformat(after)))
    assert (minute if minute is None else isoformat(minute)) == fires


@pytest.mark.parametrize("policy", ["defer-once", "every-match"])
@pytest.mark.parametrize(
    "name", ["UTC", "Pacific/Kiritimati", "Pacific/Niue", "America/New_York", "Asia/Tokyo", "Africa/Monrovia"]
)
def test_the_ends_of_the_calendar_are_those_of_both_clocks(name: str, policy: Policy) -> None:
    """The first and last fires are the first and last minutes whose UTC and local dates lie in the years 1 to 9999."""
    calendar = Calendar(parse("* * * * *"), zone(name), policy)
    first, last = calendar.next(-(10**12)), calendar.previous(10**12)
    assert first is not None and last is not None
    assert calendar.next(last) is None and calendar.previous(first) is None
    assert calendar.next(last - 1) == last and calendar.previous(first + 1) == first
    assert calendar.fires(last - 3, 10) == [last - 2, last - 1, last]
    assert {to_datetime(first).year, local(first, calendar.zone)[0].year} == {1}
    assert {to_datetime(last).year, local(last, calendar.zone)[0].year} == {9999}
    outside = [(first - 1, first), (last + 1, last)]
    for minute, inside in outside:
        shift = local(inside, calendar.zone)[0] - to_datetime(inside).replace(tzinfo=None)
        with pytest.raises(OverflowError):
            assert to_datetime(minute).replace(tzinfo=None) + shift


def test_a_year_of_every_minute_is_525600_fires() -> None:
    """A year of minutes, in UTC and with two clock changes."""
    start = to_minute(datetime(2026, 1, 1, tzinfo=UTC)) - 1
    fires = Calendar(parse("* * * * *"), zone("UTC"), "defer-once").fires(start, 525_600)
    assert fires == list(range(start + 1, start + 525_601))
    repeated_hour = Calendar(parse("* * * * *"), zone("Europe/Berlin"), "defer-once").fires(start, 525_600)
    assert repeated_hour[-1] == start + 525_600 + 60


def test_a_shared_calendar_answers_questions_in_any_order() -> None:
    """The window that a calendar remembers is no part of its answers."""
    calendar = Calendar(parse("*/20 1-3 * * *"), zone("Europe/Berlin"), "defer-once")
    whole = calendar.fires(29_000_000, 2000)
    for place in [1999, 3, 700, 701, 12, 1500, 1, 1998]:
        assert calendar.next(whole[place - 1]) == whole[place]
        assert calendar.previous(whole[place]) == whole[place - 1]
    assert calendar.fires(whole[5], 0) == []


def test_moments_are_whole_minutes_of_aware_datetimes() -> None:
    assert to_minute(datetime(1970, 1, 1, 0, 1, 59, 999999, tzinfo=UTC)) == 1
    assert to_minute(datetime(1969, 12, 31, 23, 59, 1, tzinfo=UTC)) == -1
    assert to_datetime(29_000_000) == datetime(2025, 2, 19, 21, 20, tzinfo=UTC)
    assert isoformat(FIRST_MINUTE) == "0001-01-01T00:00Z" and isoformat(LAST_MINUTE) == "9999-12-31T23:59Z"
    with pytest.raises(ValueError, match="naive"):
        to_minute(datetime(2026, 1, 1))
    shown = {
        name: local(29_500_000, zone(name, offsets=True)) for name in ["America/New_York", "UTC+7", "Asia/Kathmandu", "UTC"]
    }
    assert {name: f"{wall:%d %H:%M} {label}" for name, (wall, label) in shown.items()} == {
        "America/New_York": "01 21:40 EST",
        "UTC+7": "02 09:40 UTC+07:00",
        "Asia/Kathmandu": "02 08:25 UTC+05:45",
        "UTC": "02 02:40 UTC",
    }
