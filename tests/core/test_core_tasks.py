"""The table of transitions: complete, and nothing but what it says (spec/core.md Q1)."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsplugin.platforms import Platform, every, load
from nsplugin.retries import wait_ms
from nsplugin_core import job_states
from nsplugin_core.attempts import OutcomeKind
from nsplugin_core.tasks import TABLE, Event, IllegalTransition, Situation, State, advance

STATES, EVENTS = get_args(State), get_args(Event)


def situation(platform: Platform, attempt: int = 1, max_attempts: int = 5, *, key_free: bool = True) -> Situation:
    return Situation(
        now=1000,
        attempt=attempt,
        max_attempts=max_attempts,
        run_at=7,
        retry=platform.retry,
        random=lambda: 0.25,
        key_free=key_free,
    )


def test_q1_every_outcome_a_host_can_report_has_a_transition_from_running() -> None:
    told = {row.event for row in TABLE if row.state == "running"}
    assert set(get_args(OutcomeKind)) <= told
    assert {row.event for row in TABLE} == set(EVENTS)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("event", EVENTS)
def test_q1_each_pair_is_in_the_table_or_refused(state: State, event: Event) -> None:
    rows = [row for row in TABLE if (row.state, row.event) == (state, event)]
    for platform in every():
        if rows:
            assert advance(state, event, situation(platform)).state in [row.target for row in rows]
        else:
            with pytest.raises(IllegalTransition, match=f"a task that is {state} can't meet the event {event}"):
                advance(state, event, situation(platform))


def test_q1_the_last_row_of_each_pair_leaves_no_case_open() -> None:
    pairs = {(row.state, row.event): row.when for row in TABLE}
    assert set(pairs.values()) == {"always", "otherwise"}


@pytest.mark.parametrize(
    ("platform", "event", "attempt", "expected"),
    [
        ("nextskin", "failure", 4, ("queued", 4, True)),
        ("nextskin", "failure", 5, ("dead", 5, True)),
        ("nextskin", "retryable", 4, ("queued", 4, True)),
        ("nextskin", "timeout", 4, ("queued", 4, True)),
        ("nextskin", "timeout", 5, ("dead", 5, True)),
        ("cogover", "failure", 1, ("dead", 1, True)),
        ("cogover", "retryable", 4, ("queued", 4, True)),
        ("cogover", "retryable", 5, ("dead", 5, True)),
        ("cogover", "timeout", 4, ("queued", 4, True)),
        ("cogover", "lost", 4, ("queued", 4, True)),
        ("nextskin", "lost", 5, ("dead", 5, True)),
        ("nextskin", "deferred", 5, ("queued", 4, False)),
        ("cogover", "deferred", 1, ("queued", 0, False)),
        ("cogover", "success", 5, ("succeeded", 5, False)),
    ],
)
def test_x2_x4_x5_x6_what_becomes_of_a_running_task(
    platform: str, event: Event, attempt: int, expected: tuple[object, ...]
) -> None:
    after = advance("running", event, situation(load(platform), attempt))
    assert (after.state, after.attempt, after.sets_error) == expected


@given(attempt=st.integers(1, 19), platform=st.sampled_from(every()))
def test_x3_x4_a_retry_is_due_after_the_platform_s_wait(attempt: int, platform: Platform) -> None:
    after = advance("running", "retryable", situation(platform, attempt, 20))
    assert after.run_at == 1000 + wait_ms(platform.retry, attempt, 0.25)


def test_q2_a_lost_attempt_is_due_at_once_and_a_deferred_one_too() -> None:
    assert advance("running", "lost", situation(load("nextskin"))).run_at == 1000
    assert advance("running", "deferred", situation(load("nextskin"))).run_at == 1000


def test_a2_a_retry_by_hand_starts_from_0_or_drops_the_dead_letter() -> None:
    free = advance("dead", "retry", situation(load("nextskin"), 5))
    assert (free.state, free.attempt, free.run_at) == ("queued", 0, 1000)
    assert advance("dead", "retry", situation(load("nextskin"), 5, key_free=False)).state == "gone"


@given(
    attempt=st.integers(0, 20),
    spare=st.integers(0, 20),
    event=st.sampled_from(EVENTS),
    state=st.sampled_from(STATES),
    platform=st.sampled_from(every()),
)
def test_q1_attempts_stay_between_0_and_the_most(
    attempt: int, spare: int, event: Event, state: State, platform: Platform
) -> None:
    running = attempt + (1 if state == "running" else 0)
    most = running + spare + (1 if state == "queued" else 0)
    try:
        after = advance(state, event, situation(platform, running, most))
    except IllegalTransition:
        return
    assert 0 <= after.attempt <= most


def test_the_page_of_states_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "job_states.md"
    assert page.read_text(encoding="utf-8") == job_states.document(), "run `make update`"


def test_the_page_tells_every_transition_and_every_platform() -> None:
    page = job_states.document()
    table = page.partition("## On each platform")[0]
    for state in STATES:
        assert table.count(f"\n| {state} |") == sum(1 for row in TABLE if row.state == state and row.event != "uninstall")
    assert all(platform.title in page for platform in every())
