"""The retry policies of both platforms (spec/nextskin.md X3 X4, spec/cogover.md X4)."""

from __future__ import annotations

import itertools

import pytest

from nsplugin.platforms import load
from nsplugin.retries import retried, wait_ms, wait_range_ms

NEXTSKIN = load("nextskin").retry
COGOVER = load("cogover").retry


@pytest.mark.parametrize(
    ("attempt", "random", "wait"),
    [
        (1, 0.0, 8_000),
        (1, 0.5, 10_000),
        (1, 0.999999, 12_000),
        (2, 0.5, 20_000),
        (9, 0.5, 2_560_000),
        (10, 0.5, 3_600_000),
        (19, 0.0, 2_880_000),
        (1, 0.000125, 8_001),  # 8000.5 rounds up
        (1, 0.000124, 8_000),
    ],
)
def test_nextskin_x3_back_off_is_the_formula_with_halves_up(attempt: int, random: float, wait: int) -> None:
    assert wait_ms(NEXTSKIN, attempt, random) == wait


def test_cogover_x4_every_wait_is_longer_than_the_last_from_seconds_to_half_an_hour() -> None:
    ranges = [wait_range_ms(COGOVER, attempt) for attempt in range(1, 10)]
    assert ranges[0] == (6_300, 7_700)
    assert ranges[-1] == (1_612_800, 1_971_200)
    assert all(longest < shortest for (_, longest), (shortest, _) in itertools.pairwise(ranges))


def test_nextskin_x4_every_failure_is_retried_until_the_last_attempt() -> None:
    assert [retried(NEXTSKIN, "failure", attempt, 3) for attempt in (1, 2, 3)] == [True, True, False]
    assert retried(NEXTSKIN, "timeout", 1, 2)


def test_cogover_x4_only_retryable_errors_and_time_outs_are_retried() -> None:
    assert not retried(COGOVER, "failure", 1, 5)
    assert retried(COGOVER, "retryable", 1, 5)
    assert retried(COGOVER, "timeout", 4, 5)
    assert not retried(COGOVER, "timeout", 5, 5)
