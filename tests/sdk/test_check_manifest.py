"""``check_manifest``: what a host imports as its pre-install hook (spec/sdk.md Hosts, spec/manifest.md M4, M6, M7)."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsplugin import Report, check_manifest
from nsplugin.canonical import digest
from nsplugin.preinstall import MAX_COUNT, FireReport, ScheduleReport

NOW = datetime(2026, 3, 7, 12, 0, tzinfo=UTC)
NEXTSKIN: dict[str, Any] = {
    "manifestVersion": 1,
    "platform": "nextskin",
    "id": "cache-expiry",
    "version": "1.0.0",
    "entry": "plugin:plugin",
    "capabilities": ["storage.kv"],
    "jobs": {"expire": {"maxAttempts": 5, "timeoutMs": 60_000}},
    "cron": [{"schedule": "0 5 * * *", "job": "expire", "payload": {"key": "daily-cache"}}],
    "routes": {"POST /expire": {"auth": "user"}},
}
COGOVER: dict[str, Any] = {
    "manifestVersion": 1,
    "platform": "cogover",
    "id": "order_automation",
    "entry": "main:jobs",
    "jobs": [
        {"key": "recalc_totals", "timeoutMs": 30_000, "maxAttempts": 5},
        {
            "key": "cancel_stale_orders",
            "timeoutMs": 30_000,
            "maxAttempts": 5,
            "schedule": {"cron": "0 2 * * *", "timezone": "Asia/Ho_Chi_Minh"},
        },
    ],
}
check: Callable[..., Report] = check_manifest


def changed(manifest: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    return {**manifest, **changes}


def with_cron(*expressions: str) -> dict[str, Any]:
    return changed(NEXTSKIN, cron=[{"schedule": text, "job": "expire", "payload": {}} for text in expressions])


def lines(report: Report) -> list[str]:
    return [f"{problem.code} {problem.pointer}" for problem in report.problems]


def as_mapping(manifest: Any) -> Any:
    return manifest


def as_text(manifest: Any) -> str:
    return json.dumps(manifest, indent=2)


def as_bytes(manifest: Any) -> bytes:
    return as_text(manifest).encode()


def as_buffer(manifest: Any) -> Any:
    return memoryview(bytearray(as_bytes(manifest)))


FORMS = [as_mapping, as_text, as_bytes, as_buffer]


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


class Unhashable(Mapping[Any, Any]):
    def __getitem__(self, key: Any) -> Any:
        return 1

    def __iter__(self) -> Iterator[Any]:
        return iter([[]])

    def __len__(self) -> int:
        return 1


class Hostile(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise LookupError("secret")

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class Endless(Hostile):
    def __getitem__(self, key: str) -> Any:
        return 1

    def __iter__(self) -> Iterator[str]:
        number = 0
        while True:
            yield str(number := number + 1)


def bottomless() -> dict[str, Any]:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    return {"a": value}


def endless() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = value
    return value


@pytest.mark.parametrize(
    "source", [Hostile(), Endless(), bottomless(), endless()], ids=["raising", "endless", "deep", "cyclic"]
)
def test_a_hostile_mapping_is_one_problem(source: Any) -> None:
    assert [problem.code for problem in check(source, timezone="UTC", now=NOW).problems] == ["NSP601"]


def test_nothing_that_a_manifest_names_is_touched() -> None:
    names = {
        "entry": "antigravity:plugin",
        "jobs": {"expire": {"maxAttempts": 5, "timeoutMs": 1, "payloadSchema": {"$ref": "file:///etc/passwd"}}},
    }
    report = check_manifest(changed(NEXTSKIN, **names), timezone="UTC", now=NOW)
    assert lines(report) == ["NSP303 /jobs/expire/payloadSchema/$ref"]
    assert "antigravity" not in sys.modules


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


def test_a_manifest_full_of_schedules_takes_no_long_time() -> None:
    expressions = [f"{number % 60} {number // 60 % 24} {number // 1440 % 28 + 1} * *" for number in range(8_000)]
    started = time.process_time()
    report = check_manifest(as_bytes(with_cron(*expressions)), timezone="America/New_York", now=NOW, count=1)
    assert len(report.schedules) == 8_000
    assert time.process_time() - started < 30


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


_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(
    base=st.sampled_from([NEXTSKIN, COGOVER]),
    changes=st.dictionaries(
        st.sampled_from(["manifestVersion", "platform", "id", "jobs", "cron", "routes", "entry", "x"]), _json
    ),
    form=st.sampled_from(FORMS),
    zone=st.sampled_from(["UTC", "America/New_York", "Nowhere"]),
    count=st.integers(-1, 5),
)
def test_never_raises(base: Any, changes: Any, form: Callable[[Any], Any], zone: str, count: int) -> None:
    report = check_manifest(form({**base, **changes}), timezone=zone, now=NOW, count=count)
    assert json.dumps(report.to_json())
    assert report.ok == all(problem.severity == "warning" for problem in report.problems)


@settings(max_examples=200, deadline=None)
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_never_raises_on_any_text(data: Any) -> None:
    assert not check_manifest(data, timezone="UTC", now=NOW).ok


class Faulty(tzinfo):
    def utcoffset(self, moment: datetime | None) -> timedelta:
        raise RuntimeError


class Unequal:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = object.__hash__


def test_arguments_that_fail_when_they_are_touched_are_problems() -> None:
    assert lines(check(NEXTSKIN, timezone="UTC", now=datetime(2026, 1, 1, tzinfo=Faulty()))) == ["NSP007 "]
    for wanted in (Unequal(), 5, b"x"):
        assert lines(check(NEXTSKIN, timezone="UTC", digest=wanted)) == ["NSP007 "]
    released = memoryview(b"{}")
    released.release()
    assert lines(check(released, timezone="UTC")) == ["NSP601 "]


def test_so_many_schedules_are_looked_ahead() -> None:
    report = check(with_cron(*(f"{n % 60} {n // 60} * * *" for n in range(1_010))), timezone="UTC", now=NOW)
    assert [len(schedule.fires) for schedule in report.schedules] == [3] * 1_000 + [0] * 10
    assert report.schedules[-1].words


def test_thousands_of_schedules_of_unknown_jobs_end_in_time() -> None:
    """M6: never a hang. In CPU seconds; it takes about one."""
    jobs = {f"a{'c' * 58}{n:03}": {} for n in range(499)}
    cron = [{"schedule": "0 3 * * *", "job": f"b{'c' * 58}{n:04}"} for n in range(3_000)]
    started = time.process_time()
    assert len(check(changed(NEXTSKIN, jobs=jobs, cron=cron), timezone="UTC").problems) >= 3_000
    assert time.process_time() - started < 8
