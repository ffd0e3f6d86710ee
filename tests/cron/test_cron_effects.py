"""What clock changes do to a schedule, against a walk over every minute (spec/cron.md F2, F3, F5)."""

from __future__ import annotations

from datetime import datetime

import pytest

from cron_oracle import MINUTE, Naive, instant, walk, wall_of, zone_info
from nsplugin.cron import Calendar, Policy, parse, to_minute, zone

ZONES = ["America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/Havana", "Europe/Dublin"]
EXPRESSIONS = ["* * * * *", "*/20 0-3 * * *", "30 1,2 * * *", "0 0 * * *", "15 10 30 12 *", "0 3 * * 0", "45 23 * * *"]
NAIVE_EPOCH = datetime(1970, 1, 1)
KINDS: dict[Policy, set[str]] = {"defer-once": {"deferred", "suppressed"}, "every-match": {"dropped", "repeated"}}
CASES = [(name, text, year) for name in ZONES for text in EXPRESSIONS for year in (2011, 2026)]


@pytest.mark.parametrize("policy", KINDS)
def test_each_effect_names_exactly_the_minutes_that_the_walk_finds(policy: Policy) -> None:
    assert {kind for case in CASES for kind in _effects_as_walked(*case, policy)} == KINDS[policy]


def _effects_as_walked(name: str, text: str, year: int, policy: Policy) -> list[str]:
    """The kinds of the effects in a year, after each was compared with the walk."""
    calendar, naive, info = Calendar(parse(text), zone(name), policy), Naive(text), zone_info(name)
    start, end = (to_minute(datetime.fromisoformat(f"{number}-01-01T00:00Z")) for number in (year, year + 1))
    effects = {effect.minute: effect for effect in calendar.clock_effects(start, end)}
    kinds = [effect.kind for effect in effects.values()]
    segment = calendar.zone.segment(start)
    while (change := segment.end) < end:
        old, new = (wall_of(instant(minute), info) for minute in (change - 1, change))
        old += MINUTE
        kind = "deferred" if policy == "defer-once" else "dropped"
        if new < old:
            old, new, kind = new, old, "suppressed" if policy == "defer-once" else "repeated"
        wall = [old + number * MINUTE for number in range((new - old) // MINUTE)]
        matching = tuple((minute - NAIVE_EPOCH) // MINUTE for minute in wall if naive.matches(minute))
        effect = effects.pop(change, None)
        assert (effect and (effect.wall, effect.kind)) == ((matching, kind) if matching else None)
        segment = calendar.zone.segment(change)
    assert not effects
    return kinds


@pytest.mark.parametrize("policy", KINDS)
def test_marks_agree_with_the_fires_and_the_effects(policy: Policy) -> None:
    assert {kind for case in CASES[::3] for kind in _marks_as_fired(*case, policy)} == KINDS[policy]


def _marks_as_fired(name: str, text: str, year: int, policy: Policy) -> list[str]:
    """The kinds of a year's first two effects, after the fires around each were compared with the walk."""
    calendar, info = Calendar(parse(text), zone(name), policy), zone_info(name)
    start = to_minute(datetime.fromisoformat(f"{year}-01-01T00:00Z"))
    effects = calendar.clock_effects(start, start + 366 * 1440)[:2]
    for effect in effects:
        begin, end = effect.minute - 1500, effect.minute + 1500
        fires = list(walk(text, name, begin + 1, end, policy))
        near = calendar.marked(begin, len(fires))
        assert [fire.minute for fire in near] == fires
        kinds = {kind: [fire for fire in near if fire.kind == kind] for kind in ("deferred", "repeated")}
        deferred = [(fire.minute, fire.wall) for fire in kinds["deferred"]]
        assert deferred == ([(effect.minute, effect.wall)] if effect.kind == "deferred" else [])
        repeated = [(wall_of(instant(fire.minute), info) - NAIVE_EPOCH) // MINUTE for fire in kinds["repeated"]]
        assert tuple(repeated) == (effect.wall if effect.kind == "repeated" else ())
        noted = {fire.minute for fire in near if fire.note and fire.minute < effect.minute}
        first_of_two = effect.wall if effect.kind in ("suppressed", "repeated") else ()
        assert {(wall_of(instant(minute), info) - NAIVE_EPOCH) // MINUTE for minute in noted} == set(first_of_two)
    return [effect.kind for effect in effects]


@pytest.mark.parametrize("policy", ["defer-once", "every-match"])
def test_no_effects_where_nothing_changes_or_nothing_fires(policy: Policy) -> None:
    never = Calendar(parse("0 0 30 2 *"), zone("Europe/Berlin"), policy)
    assert never.clock_effects(0, 10**9) == [] and never.marked(0, 5) == []
    assert Calendar(parse("30 2 * * *"), zone("Asia/Ho_Chi_Minh"), policy).clock_effects(29_000_000, 40_000_000) == []
    assert Calendar(parse("30 2 * * *"), zone("Europe/Berlin"), policy).clock_effects(5, 5) == []


def test_effects_are_those_of_changes_inside_the_window_only() -> None:
    calendar = Calendar(parse("30 2 * * *"), zone("Europe/Berlin"), "defer-once")
    change = to_minute(datetime.fromisoformat("2026-03-29T01:00Z"))
    assert [effect.minute for effect in calendar.clock_effects(change, change + 1)] == [change]
    assert calendar.clock_effects(change + 1, change + 60) == calendar.clock_effects(change - 60, change) == []
