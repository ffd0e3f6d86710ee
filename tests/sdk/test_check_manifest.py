"""``check_manifest``: what a host imports as its pre-install hook (spec/sdk.md Hosts, spec/manifest.md M4, M6, M7)."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from nsplugin import Report, check_manifest
from nsplugin.canonical import digest
from nsplugin.preinstall import MAX_COUNT, FireReport, ScheduleReport
from preinstall_samples import (
    COGOVER,
    FORMS,
    NEXTSKIN,
    NOW,
    as_bytes,
    as_text,
    changed,
    check,
    lines,
    with_cron,
)


@pytest.mark.parametrize("form", FORMS)
def test_a_good_manifest_of_the_sites_clock(form: Callable[[Any], Any]) -> None:
    report = check_manifest(form(NEXTSKIN), timezone="America/New_York", now=NOW, count=2)
    assert report == Report(
        platform="nextskin",
        id="cache-expiry",
        digest=digest(NEXTSKIN),
        schedules=(
            ScheduleReport(
                pointer="/cron/0",
                expression="0 5 * * *",
                timezone="America/New_York",
                words="at 05:00 every day",
                fires=(
                    FireReport(utc="2026-03-08T09:00:00Z", local="2026-03-08 05:00 EDT", site="2026-03-08 05:00 EDT"),
                    FireReport(utc="2026-03-09T09:00:00Z", local="2026-03-09 05:00 EDT", site="2026-03-09 05:00 EDT"),
                ),
            ),
        ),
    )
    assert report.ok


@pytest.mark.parametrize("form", FORMS)
def test_a_good_manifest_whose_schedules_have_clocks_of_their_own(form: Callable[[Any], Any]) -> None:
    report = check_manifest(form(COGOVER), timezone="America/New_York", now=NOW, count=1)
    assert report == Report(
        platform="cogover",
        id="order_automation",
        digest=digest(COGOVER),
        schedules=(
            ScheduleReport(
                pointer="/jobs/1/schedule",
                expression="0 2 * * *",
                timezone="Asia/Ho_Chi_Minh",
                words="at 02:00 every day",
                fires=(
                    FireReport(utc="2026-03-07T19:00:00Z", local="2026-03-08 02:00 UTC+07:00", site="2026-03-07 14:00 EST"),
                ),
            ),
        ),
    )


def test_a_clock_change_is_said_where_it_defers_a_fire() -> None:
    """spec/cron.md F2: 02:30 does not exist on 2026-03-08 in New York and runs at 03:00."""
    (schedule,) = check_manifest(with_cron("30 2 * * *"), timezone="America/New_York", now=NOW).schedules
    first, second, _ = schedule.fires
    assert (first.utc, first.local) == ("2026-03-08T07:00:00Z", "2026-03-08 03:00 EDT")
    assert "02:30 does not exist and runs at 03:00" in (first.note or "")
    assert (second.utc, second.note) == ("2026-03-09T06:30:00Z", None)
    assert schedule.changes == (first.note,)


def test_a_clock_change_is_said_where_it_drops_a_fire() -> None:
    """spec/cron.md F3: a schedule with a zone of its own does not run at a time that does not exist."""
    job = {
        "key": "a",
        "timeoutMs": 30_000,
        "maxAttempts": 5,
        "schedule": {"cron": "30 2 * * *", "timezone": "America/New_York"},
    }
    (schedule,) = check_manifest(changed(COGOVER, jobs=[job]), timezone="UTC", now=NOW).schedules
    assert [fire.utc for fire in schedule.fires] == ["2026-03-09T06:30:00Z", "2026-03-10T06:30:00Z", "2026-03-11T06:30:00Z"]
    assert len(schedule.changes) == 1
    assert "02:30 does not exist and does not run" in schedule.changes[0]


def test_the_fires_come_strictly_after_now() -> None:
    at = datetime(2026, 3, 8, 9, 0, tzinfo=UTC)
    for now, first in [
        (at - timedelta(microseconds=1), "2026-03-08T09:00:00Z"),
        (at, "2026-03-09T09:00:00Z"),
        (at.astimezone(timezone(timedelta(hours=9))), "2026-03-09T09:00:00Z"),
        (at.replace(tzinfo=None), "2026-03-09T09:00:00Z"),
    ]:
        (schedule,) = check_manifest(NEXTSKIN, timezone="America/New_York", now=now, count=1).schedules
        assert schedule.fires[0].utc == first


@pytest.mark.parametrize(
    ("now", "zone", "local", "site"),
    [
        (datetime(1, 1, 1, tzinfo=UTC), "America/New_York", "0001-01-01 00:01 UTC", "0001-01-01T00:01Z"),
        (datetime(9999, 12, 31, 23, 58, tzinfo=UTC), "Asia/Tokyo", "9999-12-31 23:59 UTC", "9999-12-31T23:59Z"),
    ],
)
def test_a_day_that_the_sites_clock_cannot_show_is_shown_in_utc(now: datetime, zone: str, local: str, site: str) -> None:
    job = {"key": "a", "timeoutMs": 30_000, "maxAttempts": 5, "schedule": {"cron": "* * * * *", "timezone": "UTC"}}
    (schedule,) = check_manifest(changed(COGOVER, jobs=[job]), timezone=zone, now=now, count=1).schedules
    assert (schedule.fires[0].local, schedule.fires[0].site) == (local, site)


def test_the_present_is_the_default() -> None:
    (schedule,) = check_manifest(with_cron("* * * * *"), timezone="UTC", count=1).schedules
    assert timedelta(0) < datetime.fromisoformat(schedule.fires[0].utc) - datetime.now(UTC) <= timedelta(minutes=2)


@pytest.mark.parametrize(("count", "expected"), [(0, 0), (1, 1), (7, 7), (MAX_COUNT, MAX_COUNT)])
def test_as_many_fires_as_asked_within_reason(count: int, expected: int) -> None:
    (schedule,) = check_manifest(NEXTSKIN, timezone="UTC", now=NOW, count=count).schedules
    assert len(schedule.fires) == expected


def test_a_schedule_that_never_fires_is_an_error_and_has_no_report() -> None:
    report = check_manifest(with_cron("0 0 30 2 *", "0 5 * * *"), timezone="UTC", now=NOW)
    assert lines(report) == ["NSP207 /cron/0/schedule"]
    assert [schedule.pointer for schedule in report.schedules] == ["/cron/1"]
    assert not report.ok


def test_no_fire_before_the_end_of_time_is_an_error() -> None:
    """spec/nextskin.md C3: before installation an expression must have a next fire time."""
    report = check_manifest(with_cron("0 0 1 1 *"), timezone="UTC", now=datetime(9999, 6, 1, tzinfo=UTC))
    assert lines(report) == ["NSP207 /cron/0/schedule"]


def test_warnings_do_not_forbid_the_installation() -> None:
    report = check_manifest(with_cron("0 5 * * *", "0 5 * * *"), timezone="UTC", now=NOW)
    assert (lines(report), report.ok) == (["NSP208 /cron/1"], True)


def test_the_digest_is_compared() -> None:
    right = digest(NEXTSKIN)
    assert check_manifest(as_bytes(NEXTSKIN), timezone="UTC", now=NOW, digest=right).ok
    report = check_manifest(changed(NEXTSKIN, version="1.0.1"), timezone="UTC", now=NOW, digest=right)
    (problem,) = report.problems
    assert (problem.code, problem.pointer) == ("NSP603", "")
    assert problem.message == f"the manifest's digest is {report.digest}, not {right}"
    assert [schedule.pointer for schedule in report.schedules] == ["/cron/0"]


@pytest.mark.parametrize("wanted", ["", "sha256:", "md5:0"])
def test_a_digest_of_any_other_kind_does_not_match(wanted: Any) -> None:
    assert lines(check(NEXTSKIN, timezone="UTC", now=NOW, digest=wanted)) == ["NSP603 "]


@pytest.mark.parametrize("name", ["Mars/Phobos", "", "../etc/passwd", "a" * 1000, "utc", None, 5, b"UTC", "UTC\n"])
def test_a_bad_time_zone_is_a_problem_of_the_call(name: Any) -> None:
    for manifest in (NEXTSKIN, COGOVER):
        report = check(manifest, timezone=name, now=NOW)
        assert lines(report) == ["NSP206 "]
        assert (report.schedules, report.id) == ((), manifest["id"])


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("now", value) for value in ("2026-03-08", 5)),
        *(("count", value) for value in ("3", None, 1.5, True, -1, MAX_COUNT + 1, 10**30)),
    ],
)
def test_any_other_bad_argument_is_a_problem_of_the_call(argument: str, value: Any) -> None:
    report = check(NEXTSKIN, **{"timezone": "UTC", "now": NOW, argument: value})
    assert lines(report) == ["NSP007 "]
    assert report.problems[0].message.startswith(f"{argument} must be ")
    assert not report.ok


@pytest.mark.parametrize(
    ("key", "value", "pointer", "hint"),
    [
        ("entry", "", "/entry", 'for example "plugin:plugin"'),
        ("entry", "plugin", "/entry", 'for example "plugin:plugin"'),
        ("entry", "a b:c", "/entry", 'for example "plugin:plugin"'),
        ("entry", "plugin:plugin\n", "/entry", 'for example "plugin:plugin"'),
        ("entry", "../../etc/passwd", "/entry", 'for example "plugin:plugin"'),
        ("entry", "../../etc/passwd:x", "/entry", 'for example "plugin:plugin"'),
        ("entry", ".hidden:plugin", "/entry", 'for example "plugin:plugin"'),
        ("version", "", "/version", 'leave it out, or write one such as "1.4.0"'),
        ("version", " \t", "/version", 'leave it out, or write one such as "1.4.0"'),
        ("capabilities", ["storage.kv", ""], "/capabilities/1", 'for example "storage.kv"'),
        ("capabilities", [" "], "/capabilities/0", 'for example "storage.kv"'),
        ("capabilities", ["storage.kv", "storage.kv"], "/capabilities/1", None),
        ("capabilities", ["storage.kvv"], "/capabilities/0", 'did you mean "storage.kv"?'),
        ("capabilities", ["Storage.KV"], "/capabilities/0", 'did you mean "storage.kv"?'),
    ],
)
def test_a_text_that_says_nothing_is_refused(key: str, value: Any, pointer: str, hint: str | None) -> None:
    """Strings that no host could use: an entry is a module and its attribute (spec/manifest.md M1; spec/nextskin.md D2)."""
    (problem,) = check_manifest(changed(NEXTSKIN, **{key: value}), timezone="UTC", now=NOW).problems
    assert (problem.code, problem.pointer, problem.hint) == ("NSP007", pointer, hint)


@pytest.mark.parametrize("names", [[], ["http.fetch"], ["storage.blob", "storage.kv"], ["storage"]])
def test_a_capability_that_is_not_known_yet_is_no_fault(names: list[str]) -> None:
    assert check_manifest(changed(NEXTSKIN, capabilities=names), timezone="UTC", now=NOW).ok


def test_problems_of_a_text_have_their_place() -> None:
    text = as_text(with_cron("0 5 * * *", "0 25 * * *"))
    (problem,) = check_manifest(text, timezone="UTC", now=NOW).problems
    assert (problem.code, problem.pointer) == ("NSP203", "/cron/1/schedule")
    assert problem.span is not None
    line = text.splitlines()[problem.span.line - 1]
    assert line[problem.span.column - 1 : problem.span.end_column - 1] == "25"
    (problem,) = check_manifest(with_cron("0 25 * * *"), timezone="UTC", now=NOW).problems
    assert problem.span is None


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (b"", "NSP601"),
        (b"\xff\xfe{\x00}\x00", "NSP601"),
        (b"\xef\xbb\xbf{}", "NSP601"),
        (b'{"a": 1, "a": 2}', "NSP601"),
        (b'{"a": NaN}', "NSP601"),
        (b'"\\ud800"', "NSP601"),
        (b"[" * 100_000, "NSP601"),
        (b'{"a":' * 100_000, "NSP601"),
        (b"9" * 6_000, "NSP601"),
        (b" " * (2 << 20), "NSP601"),
        (json.dumps({"a": "x" * (2 << 20)}), "NSP601"),
        ({"a": "x" * (2 << 20)}, "NSP601"),
        ({"a": float("nan")}, "NSP601"),
        ({"a": object()}, "NSP601"),
        ({5: 5}, "NSP601"),
        ({"a": [0] * 300_000}, "NSP601"),
        (5, "NSP601"),
        (None, "NSP601"),
        ([], "NSP601"),
        (b"[]", "NSP007"),
        (b"5", "NSP007"),
        (b"{}", "NSP008"),
        ({}, "NSP008"),
        ({"platform": "wordpress"}, "NSP007"),
        ({"manifestVersion": 2, "platform": "nextskin"}, "NSP602"),
    ],
    ids=lambda value: repr(value)[:30].partition(" object at ")[0],
)
def test_a_source_that_is_no_manifest_is_one_problem(source: Any, code: str) -> None:
    report = check(source, timezone="UTC", now=NOW)
    assert [problem.code for problem in report.problems] == [code]
    assert (report.ok, report.platform, report.schedules) == (False, None, ())


def test_the_report_is_plain_frozen_data() -> None:
    report = check_manifest(as_text(with_cron("30 2 * * *", "0 25 * * *")), timezone="America/New_York", now=NOW)
    assert hash(report) == hash(pickle.loads(pickle.dumps(report)))
    with pytest.raises(AttributeError):
        report.id = "other"
    plain = json.loads(json.dumps(report.to_json()))
    assert list(plain) == ["ok", "platform", "id", "digest", "problems", "schedules"]
    assert (plain["ok"], plain["platform"], plain["id"]) == (False, "nextskin", "cache-expiry")
    fault = next(problem for problem in plain["problems"] if problem["code"] == "NSP203")
    assert list(fault) == ["code", "name", "severity", "pointer", "message", "hint", "line", "column", "endLine", "endColumn"]
    (schedule,) = plain["schedules"]
    assert list(schedule) == ["pointer", "expression", "timezone", "words", "nextFires", "fires", "clockChanges"]
    assert schedule["nextFires"][0] == "2026-03-08T07:00:00Z" == schedule["fires"][0]["utc"]


def test_the_check_is_light() -> None:
    """Start-up: neither pydantic nor jsonschema, rich or asyncio; croniter only when there is a schedule."""
    code = f"""
import sys
from nsplugin import check_manifest
assert check_manifest({changed(NEXTSKIN, cron=[])!r}, timezone="UTC").ok
heavy = {{"pydantic", "jsonschema", "rich", "asyncio", "click", "croniter"}} & set(sys.modules)
assert not heavy, heavy
assert check_manifest({NEXTSKIN!r}, timezone="UTC").ok
assert "croniter" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
