"""Rules about schedules: grammar, never, unknown jobs, zones, duplicates, days, clock changes, overlap."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manifest_samples import codes, cogover, entry, found, nextskin, only, problems, timed
from nsplugin.cron import Calendar, parse, to_minute, zone
from nsplugin.pointers import UNKNOWN
from nsplugin.rules import judge
from nsplugin.rules.firing import closest_fires, days_differ, fire_set

UTC_ZONE = zone("UTC")


def scheduled(*expressions: str, **job: Any) -> dict[str, Any]:
    return nextskin(jobs={"expire": job}, cron=[entry(expression) for expression in expressions])


GRAMMAR = [
    ("0 0 3 * * *", "NSP201", 0, 11),
    ("0 3 * *", "NSP201", 0, 7),
    ("0 3 * * MON", "NSP202", 8, 11),
    ("0 3 * * L", "NSP202", 8, 9),
    ("0 24 * * *", "NSP203", 2, 4),
    ("0 3 5-60 * *", "NSP203", 4, 8),
    ("*/0 3 * * *", "NSP203", 0, 3),
]


@pytest.mark.parametrize(("expression", "code", "start", "end"), GRAMMAR)
def test_what_the_grammar_refuses_is_passed_on_with_its_place(expression: str, code: str, start: int, end: int) -> None:
    """spec/cron.md G1-G3."""
    for raw, pointer in ((scheduled(expression), "/cron/0/schedule"), (cogover(timed(expression)), "/jobs/0/schedule/cron")):
        problem = only(raw)
        assert (problem.code, problem.pointer, problem.start, problem.end) == (code, pointer, start, end)


def test_each_faulty_item_is_a_finding_of_its_own() -> None:
    problems_found = problems(scheduled("61 3,24 * JAN *"))
    assert [(problem.code, problem.start) for problem in problems_found] == [("NSP202", 10), ("NSP203", 0), ("NSP203", 5)]


def test_a_macro_is_fixed_as_a_whole() -> None:
    """spec/cron.md G2: the message says what to write instead."""
    problem = only(scheduled("@daily"))
    assert (problem.code, problem.fix) == ("NSP202", "0 0 * * *")


NEVER = ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31 4 *", "0 0 30,31 2 *"]


@pytest.mark.parametrize("expression", NEVER)
def test_a_schedule_that_never_fires_is_an_error(expression: str) -> None:
    """spec/cron.md G5: it needs no time zone."""
    for raw in (scheduled(expression), cogover(timed(expression))):
        problem = only(raw)
        assert (problem.code, problem.severity) == ("NSP207", "error")


def test_never_says_which_day_is_missing_where() -> None:
    assert only(scheduled("0 0 31 2,4 *")).message == '"0 0 31 2,4 *" never fires: there is no day 31 in February or April'


@pytest.mark.parametrize("expression", ["0 0 29 2 *", "0 0 31 * *", "0 0 30 2,3 *"])
def test_a_rare_schedule_is_none_that_never_fires(expression: str) -> None:
    assert codes(scheduled(expression)) == codes(cogover(timed(expression))) == []


def test_a_faulty_expression_is_not_judged_further() -> None:
    """One fault gives one finding, with no cascade (spec/cli.md)."""
    assert codes(scheduled("0 0 30 2 MON", timeoutMs=600_000), timezone="America/New_York") == ["NSP202"]


UNKNOWN_JOBS = [
    ("expir", 'did you mean "expire"?', "expire"),
    ("Expire", 'did you mean "expire"?', "expire"),
    ("cleanup", "declared jobs: expire, sync", None),
    ("", "declared jobs: expire, sync", None),
]


@pytest.mark.parametrize(("job", "hint", "fix"), UNKNOWN_JOBS)
def test_a_schedule_starts_a_declared_job(job: str, hint: str, fix: str | None) -> None:
    """spec/nextskin.md C1."""
    problem = only(nextskin(jobs={"expire": {}, "sync": {}}, cron=[entry(job=job)]))
    assert (problem.code, problem.pointer, problem.hint, problem.fix) == ("NSP204", "/cron/0/job", hint, fix)


def test_without_jobs_every_schedule_is_lost() -> None:
    for raw in (nextskin(jobs={}, cron=[entry()]), {**nextskin(cron=[entry()]), "jobs": {}}):
        assert only(raw).hint == 'no jobs are declared: add it to "jobs"'
    no_jobs = nextskin(cron=[entry()])
    del no_jobs["jobs"]
    assert codes(no_jobs) == ["NSP204"]


@pytest.mark.parametrize("jobs", [UNKNOWN, {UNKNOWN: UNKNOWN}, {"sync": {}, UNKNOWN: {}}])
def test_a_job_that_may_be_declared_is_not_unknown(jobs: Any) -> None:
    assert codes(nextskin(jobs=jobs, cron=[entry()])) == []


def test_jobs_of_the_wrong_kind_do_not_make_every_schedule_wrong() -> None:
    """Jobs that are no mapping are one finding (spec/cli.md)."""
    assert found(nextskin(jobs=["expire"], cron=[entry(), entry("5 3 * * *")])) == [("NSP007", "/jobs")]
    assert found(nextskin(jobs={"expire": None}, cron=[entry()])) == [("NSP007", "/jobs/expire")]


def test_a_bad_job_name_is_declared_all_the_same() -> None:
    assert found(nextskin(jobs={"1st": {}}, cron=[entry(job="1st")])) == [("NSP101", "/jobs/1st")]


ZONES = [
    ("asia/saigon", "did you mean"),
    ("Asia/Ho_Chi_Min", "did you mean"),
    ("EST5", None),
    ("UTC+25", None),
    ("../etc/passwd", None),
    ("", None),
    ("x" * 65, None),
    ("Europe/Berlin\n", None),
]


@pytest.mark.parametrize(("name", "hint"), ZONES)
def test_a_time_zone_must_exist(name: str, hint: str | None) -> None:
    """spec/cron.md F4; spec/cogover.md D6."""
    problem = only(cogover(timed(timezone=name)))
    assert (problem.code, problem.pointer) == ("NSP206", "/jobs/0/schedule/timezone")
    assert problem.message.isprintable()
    assert hint is None or (problem.hint is not None and hint in problem.hint)


@pytest.mark.parametrize("name", ["UTC", "UTC+7", "UTC-00:00", "UTC+05:30", "Asia/Saigon", "Europe/Berlin", "GMT"])
def test_ids_links_and_offsets_are_time_zones(name: str) -> None:
    assert codes(cogover(timed("0 12 * * *", timezone=name))) == []


SAME = [
    ("0 3 * * *", "00  03 * * *"),
    ("0 3 * * 0", "0 3 * * 7"),
    ("0 3 * * *", "0 3 1-31 * *"),
    ("0 3 * * *", "0 3 * * 0-6"),
    ("0 3 30 3 *", "0 3 30 2,3 *"),
    ("*/30 3 * * *", "0,30 3 * * *"),
    ("0 3 * * *", "0 3 */1 1-12 *"),
]
APART = [("0 3 * * *", "0 4 * * *"), ("0 3 1 * *", "0 3 * * 1"), ("0 3 31 * *", "0 3 30,31 * *"), ("0 3 * * 1-5", "0 3 * * *")]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_times_and_payload_twice_are_a_duplicate(one: str, other: str) -> None:
    problem = only(scheduled(one, other))
    assert (problem.code, problem.pointer, problem.severity) == ("NSP208", "/cron/1", "warning")
    assert "/cron/0" in problem.message


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_times_are_no_duplicate(one: str, other: str) -> None:
    assert codes(scheduled(one, other)) == []


def test_a_duplicate_has_the_same_job_and_payload() -> None:
    def twice(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
        return codes(nextskin(jobs={"expire": {}, "sync": {}}, cron=[first, second]))

    assert twice(entry(), entry(job="sync")) == []
    assert twice(entry(), entry(payload={})) == ["NSP208"]  # spec/nextskin.md C9: none means {}
    assert twice(entry(), entry(payload=None)) == []
    assert twice(entry(payload={"a": 1, "b": [2]}), entry(payload={"b": [2], "a": 1})) == ["NSP208"]
    assert twice(entry(payload={"a": 1}), entry(payload={"a": True})) == []
    assert twice(entry(payload=UNKNOWN), entry(payload=UNKNOWN)) == []
    assert twice(entry(payload={"a": UNKNOWN}), entry(payload={"a": UNKNOWN})) == []
    assert twice(entry(job=UNKNOWN), entry(job=UNKNOWN)) == []


def test_three_alike_are_two_duplicates() -> None:
    assert found(scheduled("0 3 * * *", "0 3 * * *", "0 3 * * *")) == [("NSP208", "/cron/1"), ("NSP208", "/cron/2")]


@pytest.mark.parametrize("expression", ["0 3 13 * 5", "0 3 1-31 * 1", "0 3 13 * 0-6", "0 3 31 2 1", "0 3 */2 * 1"])
def test_two_restricted_day_fields_are_a_warning(expression: str) -> None:
    """spec/nextskin.md C5; spec/cron.md G4: either matches, which few authors expect."""
    for raw in (scheduled(expression), cogover(timed(expression))):
        problem = only(raw)
        assert (problem.code, problem.severity) == ("NSP209", "warning")


@pytest.mark.parametrize(
    "expression", ["0 3 13 * *", "0 3 * * 5", "0 3 */1 * 5", "0 3 13 * */1", "0 3 1-31 * 0-6", "0 3 1-30 4 0-6"]
)
def test_days_that_cannot_be_mistaken_are_no_warning(expression: str) -> None:
    assert codes(scheduled(expression)) == []


MARCH = to_minute(datetime(2026, 3, 6, tzinfo=UTC))


def test_a_time_that_a_clock_change_touches_is_a_warning() -> None:
    """spec/nextskin.md C8, in the site's zone; spec/cogover.md C4, in the schedule's."""
    problem = only(scheduled("30 2 * * *"), timezone="America/New_York", now=MARCH)
    assert (problem.code, problem.severity, problem.pointer) == ("NSP210", "warning", "/cron/0/schedule")
    assert "on 2026-03-08" in problem.message and "02:30 does not exist and runs at 03:00" in problem.message
    problem = only(cogover(timed("30 2 * * *", timezone="Europe/Berlin")), now=MARCH)
    assert (problem.code, problem.pointer) == ("NSP210", "/jobs/0/schedule/cron")
    assert "does not run" in problem.message and "runs both times" in problem.message


def test_clock_changes_need_a_time_zone_that_has_them() -> None:
    assert codes(scheduled("30 2 * * *")) == []
    assert codes(scheduled("30 2 * * *"), timezone="Asia/Tokyo") == []
    assert codes(scheduled("30 2 * * *"), timezone="no/zone") == []
    assert codes(cogover(timed("30 2 * * *")), timezone="America/New_York") == []
    assert codes(scheduled("30 4 * * *", "* * * * *", "15 */1 * * *", timeoutMs=1), timezone="America/New_York") == []


def test_without_a_date_the_lasting_rules_of_the_zone_count() -> None:
    assert codes(scheduled("30 2 * * *"), timezone="America/New_York") == ["NSP210"]
    assert codes(scheduled("30 2 * * *"), timezone="Europe/Moscow") == []


OVERLAPS = [
    ("* * * * *", 60_000, True),
    ("* * * * *", 59_999, False),
    ("*/5 * * * *", 300_000, True),
    ("*/5 * * * *", 299_999, False),
    ("0,58 * * * *", 120_000, True),
    ("0,58 * * * *", 119_999, False),
    ("0,58 3 * * *", 600_000, False),
    ("0 3 * * *", 600_000, False),
    ("59 23 * * *", 600_000, False),
    ("0,59 0,23 * * *", 60_000, True),
    ("0,59 0,23 1,3 * *", 60_000, False),
    ("0,59 0,23 1,31 * *", 60_000, True),
    ("0,59 0,23 1,31 2,4 *", 60_000, False),
    ("0,59 0,23 * * 0,6", 60_000, True),
    ("0,59 0,23 * * 1,3", 60_000, False),
]


@pytest.mark.parametrize(("expression", "time_out", "overlaps"), OVERLAPS)
def test_a_job_that_may_last_until_its_next_fire_is_a_warning(expression: str, time_out: int, overlaps: bool) -> None:
    """spec/nextskin.md C7: that fire is skipped."""
    assert codes(scheduled(expression, timeoutMs=time_out)) == ["NSP211"] * overlaps


def test_the_words_of_an_overlap_are_the_platforms() -> None:
    problem = only(scheduled("* * * * *"))
    assert (problem.code, problem.severity) == ("NSP211", "warning")
    assert "a fire is skipped while the one before is queued or running" in problem.message
    problem = only(cogover({**timed("* * * * *"), "timeoutMs": 60_000}))
    assert "a run is started even while the one before is unfinished" in problem.message
    assert problem.hint is not None and "lock" in problem.hint
    assert codes(cogover(timed("* * * * *"))) == []  # 30 s by default


def test_an_overlap_needs_a_known_time_out_within_the_limits() -> None:
    assert codes(scheduled("* * * * *", timeoutMs=UNKNOWN)) == []
    assert codes(nextskin(jobs={"expire": {UNKNOWN: UNKNOWN}}, cron=[entry("* * * * *")])) == []
    assert codes(scheduled("* * * * *", timeoutMs=600_001)) == ["NSP105"]
    assert codes(nextskin(jobs={"expire": UNKNOWN}, cron=[entry("* * * * *")])) == []


def _field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    span = st.tuples(number, number).map(lambda ends: f"{min(ends)}-{max(ends)}")
    return st.one_of(st.just("*"), number.map(str), span, st.lists(number.map(str), min_size=2, max_size=3).map(",".join))


expressions = st.tuples(_field(0, 59), _field(0, 23), _field(1, 31), _field(1, 12), _field(0, 7)).map(" ".join)
CYCLE = to_minute(datetime(2000, 1, 1, tzinfo=UTC))
"""From here every combination of date, weekday and leap day comes within 28 years."""


def _days(expression: str) -> set[int]:
    """The days of 28 years on which the expression fires, by the calendar."""
    _, _, *days = expression.split(" ")
    calendar = Calendar(parse("0 0 " + " ".join(days)), UTC_ZONE, "every-match")
    return {minute for minute in calendar.fires(CYCLE - 1, 28 * 366) if minute < CYCLE + 28 * 365 * 1440}


@settings(max_examples=60, deadline=None)
@given(expressions, expressions)
def test_equal_fire_sets_are_equal_times(one: str, other: str) -> None:
    first, second = parse(one), parse(other)
    same_time = (first.minutes, first.hours) == (second.minutes, second.hours)
    assert (fire_set(first)[2] == fire_set(second)[2]) == (_days(one) == _days(other))
    assert (fire_set(first) == fire_set(second)) == (same_time and _days(one) == _days(other))


@settings(max_examples=60, deadline=None)
@given(expressions)
def test_the_closest_fires_are_those_of_the_calendar(expression: str) -> None:
    parsed = parse(expression)
    times = [
        hour * 60 + minute for hour in range(24) for minute in range(60) if parsed.hours >> hour & parsed.minutes >> minute & 1
    ]
    days = sorted(_days(expression))
    inside = [later - earlier for earlier, later in pairwise(times)] if days else []
    across = [1440 - times[-1] + times[0]] if any(later - earlier == 1440 for earlier, later in pairwise(days)) else []
    if days:
        assert closest_fires(parsed) == min([*inside, *across], default=None)


@settings(max_examples=60, deadline=None)
@given(expressions)
def test_days_differ_exactly_where_either_is_not_both(expression: str) -> None:
    _, _, day, month, weekday = expression.split(" ")
    either = _days(expression)
    both = _days(f"0 0 {day} {month} *") & _days(f"0 0 * {month} {weekday}")
    if days_differ(parse(expression)):
        assert either != both
    else:
        assert either == both


def test_payloads_that_hold_each_other_are_compared_in_time() -> None:
    """A value of Python's may stand in a billion places; counted in CPU seconds."""
    payload: Any = [0]
    for _ in range(40):
        payload = [payload, payload]
    cron = [{"schedule": "0 3 * * *", "job": "expire", "payload": payload} for _ in range(2)]
    started = time.process_time()
    told = judge(nextskin(jobs={"expire": {}}, cron=cron), origin="python")[1]
    assert time.process_time() - started < 5
    assert {problem.code for problem in told} == {"NSP302"}


@pytest.mark.parametrize(
    ("expression", "apart"), [("0,59 0,23 31 2 1", 59), ("0,59 0,23 30 2 1,2", 1), ("0,59 0,23 31 2,3 1", 1)]
)
def test_a_day_that_no_month_has_follows_nothing(expression: str, apart: int) -> None:
    assert closest_fires(parse(expression)) == apart


def test_clock_changes_are_looked_at_for_so_many_schedules() -> None:
    raw = scheduled(*(f"{n % 60} {n // 60} * * *" for n in range(1_100)))
    (told,) = (problem for problem in judge(raw, timezone="Europe/Berlin")[1] if "1,000 different" in problem.message)
    assert told.pointer == "/cron/1000/schedule"
