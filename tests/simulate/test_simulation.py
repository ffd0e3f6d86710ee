"""Simulations without handlers: the engine's rules on virtual time, and the faults that one can order."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simulated
from nsplugin_core import timeline
from nsplugin_core.simulation import OrderError, assertions
from nsplugin_core.simulation.scenario import EnqueueOrder, Hits
from simulated import at, cogover, nextskin, run, told

HOURLY = nextskin([("0 * * * *", "sync")])
SYNC = ("stock", "sync")


def test_a_fire_makes_a_task_that_runs_at_once() -> None:
    found = run(HOURLY, "2026-06-01T00:30", "2026-06-01T02:30")
    assert told(found) == [
        "01:00:00 fire", "01:00:00 attempt 1", "01:00:00 success 1",
        "02:00:00 fire", "02:00:00 attempt 1", "02:00:00 success 1",
    ]  # fmt: skip


def test_the_first_attempts_fail_and_wait_as_the_platform_says() -> None:
    """spec/nextskin.md X3: 10 s, then 20 s, each ±20 %."""
    found = run(HOURLY, "2026-06-01T00:30", "2026-06-01T01:30", fail={SYNC: Hits(first=2)})
    assert [event.type for event in found.events] == [
        "fire", "attempt", "failure", "retry", "attempt", "failure", "retry", "attempt", "success",
    ]  # fmt: skip
    waits = [event.due - event.at for event in found.events if event.type == "retry" and event.due]
    assert 8_000 <= waits[0] <= 12_000 and 16_000 <= waits[1] <= 24_000
    assert found.summary.longest_wait_ms == waits[1] and found.summary.total_wait_ms == sum(waits)


def test_a_time_out_takes_its_time_and_dead_letters_come_after_the_last_attempt() -> None:
    manifest = nextskin([("0 * * * *", "sync")], sync={"maxAttempts": 2, "timeoutMs": 30_000})
    found = run(manifest, "2026-06-01T00:30", "2026-06-01T01:30", timeout={SYNC: Hits(first=2)})
    ended = [event for event in found.events if event.type == "timeout"]
    assert ended[0].at == at("2026-06-01T01:00") + 30_000
    assert (found.summary.timeouts, found.summary.retries, found.summary.dead_letters) == (2, 1, 1)
    assert found.events[-1].type == "dead"


def test_an_attempt_that_ends_at_once_is_not_told_to_have_taken_the_time_since_the_one_before() -> None:
    found = run(HOURLY, "2026-06-01T00:30", "2026-06-01T01:30", timeout={SYNC: Hits(first=1)})
    text = "".join(text for _, text in timeline.fragments(found))
    assert "attempt 1 times out after 1 min; next" in text
    assert "attempt 2 succeeds\n" in text


def test_a_chance_meets_about_as_many_attempts() -> None:
    found = run(HOURLY, "2026-06-01T00:30", "2026-06-15T00:30", fail={SYNC: Hits(chance=0.3)})
    assert 0.2 < found.summary.failures / found.summary.attempts < 0.4


def test_an_outage_is_made_up_once_and_its_attempts_are_spent() -> None:
    """spec/nextskin.md C6, X5: two missed fires give one task; the attempt that ran when the core died counts."""
    manifest = nextskin([("0 * * * *", "sync")], sync={"timeoutMs": 60_000})
    found = run(
        manifest, "2026-06-01T00:30", "2026-06-01T05:30",
        takes={SYNC: 30_000}, outages=((at("2026-06-01T01:00:10"), at("2026-06-01T03:30")),),
    )  # fmt: skip
    assert told(found)[:6] == [
        "01:00:00 fire", "01:00:00 attempt 1",
        "03:30:00 skip", "03:30:00 lost 1", "03:30:00 retry 1", "03:30:00 attempt 2",
    ]  # fmt: skip
    assert found.summary.lost == 1
    again = run(HOURLY, "2026-06-01T00:30", "2026-06-01T05:30", outages=((at("2026-06-01T00:50"), at("2026-06-01T03:30")),))
    assert told(again)[0] == "03:30:00 catch-up" and again.summary.catch_ups == 1 and again.summary.fires == 2


def test_an_attempt_lost_in_an_outage_is_found_when_its_lease_is_over() -> None:
    """spec/core.md Q2: also where a later attempt's lease runs out before it, and that attempt succeeds."""
    manifest = nextskin(long={"timeoutMs": 600_000}, short={"timeoutMs": 60_000})
    orders = [
        EnqueueOrder(at=at(f"2026-06-01T{moment}"), job=("stock", job), payload=None)
        for moment, job in (("01:00:00", "long"), ("01:02:00", "short"))
    ]
    found = run(
        manifest, "2026-06-01T00:30", "2026-06-01T02:00", enqueues=orders,
        takes={("stock", "long"): 30_000, ("stock", "short"): 500},
        outages=((at("2026-06-01T01:00:10"), at("2026-06-01T01:01")),),
    )  # fmt: skip
    assert told(found) == [
        "01:00:00 enqueue", "01:00:00 attempt 1",
        "01:02:00 enqueue", "01:02:00 attempt 1", "01:02:00 success 1",
        "01:10:15 lost 1", "01:10:15 retry 1", "01:10:15 attempt 2", "01:10:45 success 2",
    ]  # fmt: skip


def test_cogover_makes_nothing_up() -> None:
    """spec/cogover.md C2."""
    outage = (at("2026-06-01T00:50"), at("2026-06-01T03:30"))
    found = run(cogover("0 * * * *"), "2026-06-01T00:30", "2026-06-01T05:30", outages=(outage,))
    assert (found.summary.fires, found.summary.catch_ups, told(found)[0]) == (2, 0, "04:00:00 fire")


@pytest.mark.parametrize(
    ("manifest", "skips", "fires"), [(nextskin([("* * * * *", "sync")]), 4, 2), (cogover("* * * * *"), 0, 6)]
)
def test_a_fire_meets_an_unfinished_task(manifest: Any, skips: int, fires: int) -> None:
    """spec/nextskin.md C7: skipped; spec/cogover.md C3: both run."""
    job = (manifest.id, "sync")
    found = run(manifest, "2026-06-01T00:00:30", "2026-06-01T00:06:30", takes={job: 59_000}, fail={job: Hits(first=1)})
    assert (found.summary.skips, found.summary.fires) == (skips, fires)


def test_a_host_that_exits_gives_attempts_back_and_stays_away_for_a_while() -> None:
    """spec/nextskin.md X6, spec/core.md Q3: the attempt's number comes again, the waits grow."""
    found = run(HOURLY, "2026-06-01T00:30", "2026-06-01T01:30", exits={SYNC: 2})
    assert [(event.type, event.attempt) for event in found.events] == [
        ("fire", 0), ("attempt", 1), ("deferral", 1), ("attempt", 1), ("deferral", 1), ("attempt", 1), ("success", 1),
    ]  # fmt: skip
    starts = [event.at - at("2026-06-01T01:00") for event in found.events if event.type == "attempt"]
    assert starts == [0, 500, 1_500]
    assert [remark.kind for remark in found.remarks] == ["host-exit", "host-exit"]


def test_a_host_that_exits_at_a_time_takes_along_what_runs() -> None:
    found = run(
        HOURLY, "2026-06-01T00:30", "2026-06-01T01:30",
        takes={SYNC: 30_000}, exits_at=((at("2026-06-01T01:00:10"), "stock"),),
    )  # fmt: skip
    assert told(found) == [
        "01:00:00 fire", "01:00:00 attempt 1", "01:00:10 deferral 1", "01:00:10 attempt 1", "01:00:40 success 1",
    ]  # fmt: skip


NEW_YORK = {"timezone": "America/New_York"}


def test_a_gap_in_the_clock_defers_a_fire_and_says_so() -> None:
    """spec/cron.md F2: deferred fires are on the timeline, explained."""
    found = run(nextskin([("*/20 2 * * *", "sync")]), "2026-03-08T05:00", "2026-03-09T04:00", **NEW_YORK)
    assert told(found) == ["07:00:00 fire", "07:00:00 attempt 1", "07:00:00 success 1"]
    (remark,) = found.remarks
    assert (remark.kind, remark.at, remark.job) == ("deferred", at("2026-03-08T07:00"), "sync")
    assert "02:00, 02:20 and 02:40 do not exist and run once at 03:00" in remark.text
    assert (found.summary.deferred, found.summary.dropped) == (1, 0)
    assert remark.text in "".join(text for _, text in timeline.fragments(found))


def test_a_gap_in_the_clock_drops_fires_and_says_so() -> None:
    """spec/cron.md F3."""
    found = run(cogover("*/20 2 * * *", "America/New_York"), "2026-03-08T05:00", "2026-03-09T04:00")
    assert (found.events, found.summary.deferred, found.summary.dropped) == ([], 0, 3)
    assert found.remarks[0].text in timeline.render_html(found)


def test_a_repeated_hour_drops_fires_and_says_so() -> None:
    """spec/cron.md F2: the second occurrence does not fire; what clock changes drop is counted as the timeline shows it."""
    found = run(nextskin([("*/20 1 * * *", "sync")]), "2026-11-01T04:00", "2026-11-02T04:00", **NEW_YORK)
    (remark,) = found.remarks
    assert "01:00, 01:20 and 01:40 come twice and run only the first time" in remark.text
    assert (found.summary.fires, found.summary.deferred, found.summary.dropped) == (3, 0, 3)
    text = "".join(text for _, text in timeline.fragments(found))
    assert remark.text in text and "clock changes deferred 0 and dropped 3.\n" in text
    assert json.loads(timeline.render_json(found))["summary"]["dropped"] == 3
    assert "<dt>Dropped by clock changes</dt><dd>3</dd>" in timeline.render_html(found)
    assert list(assertions.failures(assertions.read(["dropped=3", "deferred=0"]), found.summary)) == []


def test_a_repeated_hour_that_fires_twice_drops_nothing() -> None:
    """spec/cron.md F3."""
    found = run(cogover("*/20 1 * * *", "America/New_York"), "2026-11-01T04:00", "2026-11-02T04:00")
    assert "run both times" in found.remarks[0].text
    assert (found.summary.fires, found.summary.deferred, found.summary.dropped) == (6, 0, 0)


@pytest.mark.parametrize(
    ("back", "line"),
    [
        ("03:00", "03:00:00         · sync #1  fires, and makes up for fires missed before; attempt 1 succeeds"),
        ("03:00:20", "03:00:20         · sync #1  fires 20 s late, and makes up for fires missed before; attempt 1 succeeds"),
        ("03:30", "03:30:00         · sync #1  the fire of 2026-06-01 03:00 is made up, 30 min late; attempt 1 succeeds"),
    ],
)
def test_what_is_made_up_is_told_as_it_is(back: str, line: str) -> None:
    """spec/nextskin.md C6: the latest of the fires missed stands for all; it may itself be in time."""
    outage = (at("2026-06-01T00:50"), at(f"2026-06-01T{back}"))
    found = run(HOURLY, "2026-06-01T00:30", "2026-06-01T03:50", outages=(outage,))
    assert (found.summary.fires, found.summary.catch_ups) == (0, 1)
    assert line in "".join(text for _, text in timeline.fragments(found)).splitlines()[3]


def test_another_zone_of_the_site_moves_the_fires() -> None:
    """spec/nextskin.md C4."""
    manifest = nextskin([("0 12 * * *", "sync")])
    found = run(manifest, "2026-06-01T00:00", "2026-06-02T00:00", zone_changes=((at("2026-06-01T01:00"), "Asia/Tokyo"),))
    assert told(found)[0] == "03:00:00 fire" and found.summary.fires == 1
    assert "Monday 2026-06-01" in "".join(text for _, text in timeline.fragments(found))


def test_enqueued_tasks_run_when_they_are_due() -> None:
    order = EnqueueOrder(at=at("2026-06-01T01:00"), job=SYNC, payload={"a": 1}, options={"delaySec": 90, "dedupeKey": "k"})
    found = run(nextskin(), "2026-06-01T00:00", "2026-06-01T02:00", enqueues=(order, order))
    assert told(found) == ["01:00:00 enqueue", "01:00:00 duplicate", "01:01:30 attempt 1", "01:01:30 success 1"]


def test_what_the_platform_refuses_can_not_be_enqueued() -> None:
    order = EnqueueOrder(at=at("2026-06-01T01:00"), job=SYNC, payload="x" * 70_000)
    with pytest.raises(OrderError, match="--enqueue sync: "):
        run(nextskin(), "2026-06-01T00:00", "2026-06-01T02:00", enqueues=(order,))


def test_old_runs_free_their_keys() -> None:
    """spec/cogover.md E5, E6: a key counts while its run is stored, seven days."""
    job = ("orders", "sync")
    orders = tuple(
        EnqueueOrder(at=at(day), job=job, payload=None, options={"idempotencyKey": "k"})
        for day in ("2026-06-01T01:00", "2026-06-02T01:00", "2026-06-10T01:00")
    )
    found = run(cogover("0 0 1 1 *"), "2026-06-01T00:00", "2026-06-11T00:00", enqueues=orders)
    assert [event.type for event in found.events if event.type in ("enqueue", "duplicate")] == [
        "enqueue", "duplicate", "enqueue",
    ]  # fmt: skip


def _bytes(seed: int) -> tuple[str, str, str]:
    manifest = nextskin([("*/7 * * * *", "sync"), ("0 3 * * *", "tidy")], sync={"maxAttempts": 3}, tidy={})
    found = run(
        manifest, "2026-03-07T00:00", "2026-03-09T12:00", seed=seed, **NEW_YORK,
        fail={SYNC: Hits(chance=0.4)}, timeout={SYNC: Hits(chance=0.1)}, exits={("stock", "tidy"): 1},
        outages=((at("2026-03-07T10:00"), at("2026-03-07T12:00")),),
    )  # fmt: skip
    text = "".join(text for _, text in timeline.fragments(found))
    return text, timeline.render_json(found), timeline.render_html(found)


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, same, other = _bytes(7), _bytes(7), _bytes(8)
    assert one == same
    assert all(left != right for left, right in zip(one, other, strict=True))


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.floats(0, 1),
    st.floats(0, 0.5),
    st.integers(0, 200_000),
    st.integers(0, 2),
    st.tuples(st.integers(0, 600), st.integers(1, 300)),
)
def test_every_attempt_ends_once_and_every_task_has_its_fate(
    seed: int, fails: float, late: float, takes: int, exits: int, down: tuple[int, int]
) -> None:
    """Nothing is lost: whatever is ordered, the counts add up and no task runs twice at once."""
    manifest = nextskin([("*/10 * * * *", "sync")], sync={"maxAttempts": 3, "timeoutMs": 120_000})
    begin = at("2026-06-01T00:00") + down[0] * 60_000
    found = run(
        manifest, "2026-06-01T00:00", "2026-06-01T12:00", seed=seed, takes={SYNC: takes}, exits={SYNC: exits},
        fail={SYNC: Hits(chance=fails)}, timeout={SYNC: Hits(chance=late)}, outages=((begin, begin + down[1] * 60_000),),
    )  # fmt: skip
    running: Counter[str] = Counter()
    fate: dict[str, str] = {}
    for event in found.events:
        if event.type == "attempt":
            running[event.task] += 1
            assert running[event.task] == 1 and event.task not in fate
        elif event.type in ("success", "failure", "timeout", "lost", "deferral"):
            running[event.task] -= 1
        if event.type in ("success", "dead"):
            fate[event.task] = event.type
    tasks = {event.task for event in found.events if event.type in ("fire", "catch-up")}
    assert len(tasks) - len(fate) == found.summary.unfinished <= 1
    assert [event.at for event in found.events] == sorted(event.at for event in found.events)


def test_two_plugins_are_simulated_side_by_side() -> None:
    one = simulated.scenario(HOURLY, "2026-06-01T00:30", "2026-06-01T01:30")
    two = simulated.scenario(cogover("30 * * * *"), "2026-06-01T00:30", "2026-06-01T01:30")
    found = simulated.simulate(
        simulated.Scenario(plugins=one.plugins + two.plugins, start=one.start, end=one.end, timezone="UTC", handlers=False)
    )
    assert [event.plugin for event in found.events if event.type == "fire"] == ["stock"]
    assert "stock/sync #1" not in "".join(text for _, text in timeline.fragments(run(HOURLY, "2026-06-01", "2026-06-02")))
    assert "stock/sync #1" in "".join(text for _, text in timeline.fragments(found))
