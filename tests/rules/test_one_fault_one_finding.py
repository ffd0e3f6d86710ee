"""No cascade: whatever one thing is broken in a rich manifest, there is one finding, at its place."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from manifest_samples import cogover, found, nextskin, problems
from nsplugin.pointers import split
from nsplugin.wording import Origin

RICH = nextskin(
    id="cdn-refresh",
    version="1.4.0",
    capabilities=["storage.kv"],
    jobs={
        "expire": {"maxAttempts": 5, "timeoutMs": 30_000, "payloadSchema": {"type": "object", "required": ["key"]}},
        "sync-all": {},
        "report.daily": {"timeoutMs": 600_000},
    },
    cron=[
        {"schedule": "0 3 * * *", "job": "expire", "payload": {"key": "daily-cache"}},
        {"schedule": "*/5 * * * 1-5", "job": "sync-all"},
        {"schedule": "15 4 1 * *", "job": "report.daily", "payload": None},
    ],
    routes={"POST /expire": {"auth": "user"}, "GET /status": {"auth": "user"}},
)
PROJECT = cogover(
    {"key": "recalc_totals", "name": "Recalculate", "timeoutMs": 60_000, "maxAttempts": 10},
    {"key": "cancel_stale", "schedule": {"cron": "0 2 * * *", "timezone": "Asia/Ho_Chi_Minh"}},
    {"key": "sync", "schedule": {"cron": "*/5 * * * *"}},
)

BREAKS: list[tuple[dict[str, Any], str, Any, list[tuple[str, str]]]] = [
    (RICH, "/id", "cdn refresh", [("NSP110", "/id")]),
    (RICH, "/id", 7, [("NSP007", "/id")]),
    (RICH, "/id", "", [("NSP110", "/id")]),
    (RICH, "/jobs", None, [("NSP007", "/jobs")]),
    (RICH, "/jobs", [], [("NSP007", "/jobs")]),
    (RICH, "/jobs/expire", [], [("NSP007", "/jobs/expire")]),
    (RICH, "/jobs/expire/maxAttempts", "5", [("NSP007", "/jobs/expire/maxAttempts")]),
    (RICH, "/jobs/expire/maxAttempts", 99, [("NSP104", "/jobs/expire/maxAttempts")]),
    (RICH, "/jobs/expire/timeoutMs", 1.5, [("NSP007", "/jobs/expire/timeoutMs")]),
    (RICH, "/jobs/expire/timeoutMs", -1, [("NSP105", "/jobs/expire/timeoutMs")]),
    (RICH, "/jobs/expire/payloadSchema", {"type": 5}, [("NSP303", "/jobs/expire/payloadSchema/type")]),
    (RICH, "/jobs/expire/payloadSchema", "object", [("NSP007", "/jobs/expire/payloadSchema")]),
    (RICH, "/cron", {}, [("NSP007", "/cron")]),
    (RICH, "/cron/0", "0 3 * * *", [("NSP007", "/cron/0")]),
    (RICH, "/cron/0/schedule", 3, [("NSP007", "/cron/0/schedule")]),
    (RICH, "/cron/0/schedule", "0 3 * *", [("NSP201", "/cron/0/schedule")]),
    (RICH, "/cron/0/schedule", "0 0 30 2 *", [("NSP207", "/cron/0/schedule")]),
    (RICH, "/cron/0/schedule", "", [("NSP201", "/cron/0/schedule")]),
    (RICH, "/cron/0/job", "expir", [("NSP204", "/cron/0/job")]),
    (RICH, "/cron/0/job", "no such job!", [("NSP204", "/cron/0/job")]),
    (RICH, "/cron/0/job", None, [("NSP007", "/cron/0/job")]),
    (RICH, "/cron/0/payload", {"keys": 1}, [("NSP303", "/cron/0/payload")]),
    (RICH, "/routes", [], [("NSP007", "/routes")]),
    (RICH, "/routes/GET ~1status", None, [("NSP007", "/routes/GET ~1status")]),
    (RICH, "/routes/GET ~1status/auth", 5, [("NSP007", "/routes/GET ~1status/auth")]),
    (RICH, "/routes/GET ~1status/auth", "x", [("NSP503", "/routes/GET ~1status/auth")]),
    (RICH, "/capabilities/0", None, [("NSP007", "/capabilities/0")]),
    (RICH, "/entry", 5, [("NSP007", "/entry")]),
    (RICH, "/colour", 5, [("NSP006", "/colour")]),
    (PROJECT, "/jobs", {}, [("NSP007", "/jobs")]),
    (PROJECT, "/jobs/0", None, [("NSP007", "/jobs/0")]),
    (PROJECT, "/jobs/1/key", "cancel-stale", [("NSP101", "/jobs/1/key")]),
    (PROJECT, "/jobs/1/key", 5, [("NSP007", "/jobs/1/key")]),
    (PROJECT, "/jobs/1/key", "SYNC", [("NSP107", "/jobs/2/key")]),
    (PROJECT, "/jobs/1/schedule", "0 2 * * *", [("NSP007", "/jobs/1/schedule")]),
    (PROJECT, "/jobs/1/schedule/cron", "0 2 * * 8", [("NSP203", "/jobs/1/schedule/cron")]),
    (PROJECT, "/jobs/1/schedule/timezone", "asia/ho_chi_minh", [("NSP206", "/jobs/1/schedule/timezone")]),
    (PROJECT, "/jobs/1/schedule/timezone", None, [("NSP007", "/jobs/1/schedule/timezone")]),
]


def broken(raw: dict[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(raw)
    *way, last = split(pointer)
    place: Any = changed
    for token in way:
        place = place[int(token)] if isinstance(place, list) else place[token]
    place[int(last) if isinstance(place, list) else last] = value
    return changed


@pytest.mark.parametrize("origin", ["json", "python"])
def test_the_samples_are_flawless(origin: Origin) -> None:
    assert problems(RICH, origin) == problems(PROJECT, origin) == []


@pytest.mark.parametrize("origin", ["json", "python"])
@pytest.mark.parametrize(("raw", "pointer", "value", "findings"), BREAKS, ids=range(len(BREAKS)))
def test_one_fault_is_one_finding(
    raw: dict[str, Any], pointer: str, value: Any, findings: list[tuple[str, str]], origin: Origin
) -> None:
    assert found(broken(raw, pointer, value), origin) == findings


@pytest.mark.parametrize("name", ["1 bad", "x" * 65, "-"])
def test_a_bad_job_name_has_no_further_consequences(name: str) -> None:
    """Neither a qualified name nor an unknown job, nor anything about its options."""
    raw = copy.deepcopy(RICH)
    raw["id"] = "i" * 64
    raw["jobs"] = {name if key == "expire" else key: options for key, options in raw["jobs"].items()}
    raw["cron"][0]["job"] = name
    assert len(found(raw)) == 1


@pytest.mark.parametrize("origin", ["json", "python"])
def test_every_value_replaced_by_null_or_a_list_is_one_finding(origin: Origin) -> None:
    """Wherever a value of the wrong type stands, it is said there and nowhere else; only a payload may be anything."""
    for raw in (RICH, PROJECT):
        for pointer in set(_places(raw)) - {"/platform"}:
            for value in (None, [], [None]):
                got = found(broken(raw, pointer, value), origin)
                fitting = "/payload" in pointer or (pointer in ("/capabilities", "/cron", "/jobs") and value == [])
                assert len(got) == 1 or (fitting and not got), (pointer, value, got)
                assert fitting or got[0][1].startswith(pointer), (pointer, value, got)


def _places(value: Any, pointer: str = "") -> list[str]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [f"{pointer}/{str(key).replace('/', '~1')}" for key, _ in inside]
    return [
        *below,
        *(deeper for place, (_, item) in zip(below, _members(value), strict=True) for deeper in _places(item, place)),
    ]


def _members(value: Any) -> list[tuple[Any, Any]]:
    return list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []


def test_findings_come_in_the_order_of_the_manifest() -> None:
    """Entry 10 stands after entry 2."""
    raw = nextskin(cron=[{"schedule": "x", "job": "expire"} for _ in range(12)])
    assert [pointer for _, pointer in found(raw)] == [f"/cron/{index}/schedule" for index in range(12)]


@pytest.mark.parametrize("platform", [RICH, PROJECT])
def test_of_an_expression_that_is_too_long_nothing_else_is_told(platform: dict[str, Any]) -> None:
    """It fires each minute as well, which would be NSP211: but as it stands it never fires (spec/cron.md G1)."""
    broken = copy.deepcopy(platform)
    place = broken["cron"][1] if "cron" in broken else broken["jobs"][2]["schedule"]
    place["schedule" if "cron" in broken else "cron"] = ",".join(["0-59"] * 300) + " * * * *"
    assert [problem.code for problem in problems(broken)] == ["NSP205"]
