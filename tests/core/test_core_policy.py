"""Policies as pure functions: retry waits, catch-up, overlap, retention, error texts."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_world import DAY, HOUR, MINUTE, NOON, at
from nsplugin.platforms import Platform, every, load
from nsplugin.retries import wait_ms
from nsplugin_core import policy

NEXTSKIN, COGOVER = load("nextskin"), load("cogover")
EVERY_MINUTE = policy.calendar("* * * * *", "UTC", "every-match")
DAILY = policy.calendar("0 3 * * *", "UTC", "defer-once")


def test_x3_the_waits_spread_evenly_over_the_jitter() -> None:
    """Over many draws: within the formula's bounds, its mean in the middle, its spread that of an even distribution."""
    source = random.Random(3)
    for attempt, step in ((1, 10_000), (2, 20_000), (9, 2_560_000), (10, 3_600_000), (20, 3_600_000)):
        waits = [wait_ms(NEXTSKIN.retry, attempt, source.random()) for _ in range(4_000)]
        assert 0.8 * step <= min(waits) < 0.802 * step
        assert 1.198 * step < max(waits) <= 1.2 * step
        mean = sum(waits) / len(waits)
        assert abs(mean / step - 1) < 0.01
        spread = math.sqrt(sum((wait - mean) ** 2 for wait in waits) / len(waits))
        assert abs(spread / (0.4 * step / math.sqrt(12)) - 1) < 0.05


def test_k1_the_next_fire_is_strictly_after_now() -> None:
    assert policy.next_fire(EVERY_MINUTE, NOON) == NOON + MINUTE
    assert policy.next_fire(EVERY_MINUTE, NOON + 59_999) == NOON + MINUTE
    assert policy.next_fire(DAILY, NOON) == NOON + 15 * HOUR


@pytest.mark.parametrize(
    ("late", "instants", "caught_up"),
    [
        (0, [0], 0),
        (59_999, [0], 0),
        (60_000, [1], 1),
        (10 * MINUTE, [10], 1),
    ],
)
def test_c6_catch_up_once(late: int, instants: list[int], caught_up: int) -> None:
    firing = policy.fire(NEXTSKIN.cron, EVERY_MINUTE, due=NOON, now=NOON + late, unfinished=False)
    assert [(instant - NOON) // MINUTE for instant in firing.instants] == instants
    assert (firing.caught_up, firing.skipped) == (caught_up, 0)
    assert firing.next_fire == (NOON + late) // MINUTE * MINUTE + MINUTE


def test_c6_years_of_missed_minutes_cost_nothing() -> None:
    now = NOON + 3650 * DAY
    for platform in every():
        firing = policy.fire(platform.cron, EVERY_MINUTE, due=NOON, now=now, unfinished=False)
        assert firing.instants == (now,)


@pytest.mark.parametrize(("late", "instants"), [(0, [0]), (59_999, [0]), (60_000, [1]), (10 * MINUTE + 1, [10])])
def test_cogover_c1_c2_what_is_merely_late_fires_and_what_was_missed_does_not(late: int, instants: list[int]) -> None:
    firing = policy.fire(COGOVER.cron, EVERY_MINUTE, due=NOON, now=NOON + late, unfinished=True)
    assert [(instant - NOON) // MINUTE for instant in firing.instants] == instants
    assert (firing.caught_up, firing.skipped) == (0, 0)


def test_c7_an_unfinished_predecessor_skips_the_fire() -> None:
    due = NOON + 15 * HOUR
    firing = policy.fire(NEXTSKIN.cron, DAILY, due=due, now=due, unfinished=True)
    assert (firing.instants, firing.skipped, firing.caught_up, firing.next_fire) == ((), 1, 0, due + DAY)


@pytest.mark.parametrize("platform", every(), ids=lambda platform: platform.name)
@pytest.mark.parametrize("late", [0, 59_999, HOUR])
def test_k1_only_an_instant_of_the_schedule_gets_a_task(platform: Platform, late: int) -> None:
    """The stored fire may be of another tzdata."""
    firing = policy.fire(platform.cron, DAILY, due=NOON + 12_345, now=NOON + late, unfinished=False)
    assert (firing.instants, firing.skipped, firing.caught_up, firing.next_fire) == ((), 0, 0, NOON + 15 * HOUR)


@given(due=st.integers(0, 500), late=st.integers(0, 40 * DAY), unfinished=st.booleans(), platform=st.sampled_from(every()))
def test_k1_a_firing_is_in_order_within_its_time_and_moves_on(due: int, late: int, unfinished: bool, platform: object) -> None:
    cron = platform.cron
    times = policy.calendar("*/7 3-5 * * *", "America/New_York", cron.clock_change)
    first = policy.next_fire(times, NOON + due * HOUR)
    assert first is not None
    now = first + late
    firing = policy.fire(cron, times, due=first, now=now, unfinished=unfinished)
    assert list(firing.instants) == sorted(set(firing.instants))
    assert all(first <= instant <= now for instant in firing.instants)
    assert firing.next_fire is not None
    assert firing.next_fire > now
    assert len(firing.instants) + firing.skipped <= 1


def test_a3_e6_how_long_ended_tasks_stay() -> None:
    assert policy.kept_until(NEXTSKIN.retention, "dead", 5) == 5 + 30 * DAY
    assert policy.kept_until(NEXTSKIN.retention, "succeeded", 5) is None
    assert policy.kept_until(COGOVER.retention, "dead", 5) == 5 + 7 * DAY
    assert policy.kept_until(COGOVER.retention, "succeeded", 5) == 5 + 7 * DAY
    assert policy.kept_until(COGOVER.retention, "queued", 5) is None


@pytest.mark.parametrize(
    ("message", "stored"),
    [
        ("boom", "boom"),
        (None, ""),
        ("x" * 500, "x" * 500),
        ("x" * 501, "x" * 500),
        ("\U0001f600" * 501, "\U0001f600" * 500),
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
        ("a\ud800b", "a?b"),
    ],
)
def test_a5_last_error(message: str | None, stored: str) -> None:
    assert policy.error_text(NEXTSKIN.retention, message) == stored


def test_c4_d6_whose_zone_counts() -> None:
    assert policy.schedule_zone(NEXTSKIN, None, "Europe/Paris") == "Europe/Paris"
    assert policy.schedule_zone(COGOVER, "UTC+07:00", "Europe/Paris") == "UTC+07:00"
    assert policy.schedule_zone(COGOVER, None, "Europe/Paris") == "UTC"


def test_the_tests_own_moments_are_utc() -> None:
    assert datetime.fromtimestamp(at("2026-06-01T12:00") / 1000, UTC).isoformat() == "2026-06-01T12:00:00+00:00"
