"""``check_manifest`` on what is no manifest, is too much of one, or fails when touched (spec/manifest.md M6, never a hang)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsplugin import check_manifest
from preinstall_samples import (
    COGOVER,
    FORMS,
    NEXTSKIN,
    NOW,
    as_bytes,
    changed,
    check,
    lines,
    with_cron,
)


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


def test_a_manifest_full_of_schedules_takes_no_long_time() -> None:
    expressions = [f"{number % 60} {number // 60 % 24} {number // 1440 % 28 + 1} * *" for number in range(8_000)]
    started = time.process_time()
    report = check_manifest(as_bytes(with_cron(*expressions)), timezone="America/New_York", now=NOW, count=1)
    assert len(report.schedules) == 8_000
    assert time.process_time() - started < 30


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
