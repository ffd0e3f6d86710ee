"""What an upgrade means for a host with queued work: every kind of change, breaking ones first."""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from nsplugin import platforms
from nsplugin.upgrade import changes

NEXTSKIN: dict[str, Any] = {
    "manifestVersion": 1,
    "platform": "nextskin",
    "id": "cdn-refresh",
    "version": "1.0.0",
    "entry": "plugin:plugin",
    "capabilities": ["storage.kv"],
    "jobs": {
        "expire": {"maxAttempts": 5, "timeoutMs": 60000, "payloadSchema": {"type": "object"}},
        "purge": {"maxAttempts": 3, "timeoutMs": 1000},
    },
    "cron": [{"schedule": "0 3 * * *", "job": "expire", "payload": {"key": "daily"}}],
    "routes": {"POST /expire": {"auth": "user"}},
}
COGOVER: dict[str, Any] = {
    "manifestVersion": 1,
    "platform": "cogover",
    "id": "orders",
    "entry": "main:jobs",
    "jobs": [
        {"key": "recalc", "timeoutMs": 30000, "maxAttempts": 5},
        {"key": "cancel", "timeoutMs": 30000, "maxAttempts": 5, "schedule": {"cron": "0 2 * * *", "timezone": "UTC"}},
    ],
}
Edit = Callable[[dict[str, Any]], object]


def told(old: dict[str, Any], edit: Edit) -> list[str]:
    new = copy.deepcopy(old)
    edit(new)
    found = changes(old, new, platforms.load(old["platform"]))
    return [f"{change.level} {change.kind} {change.pointer}" for change in found]


CASES: list[tuple[dict[str, Any], Edit, list[str]]] = [
    (NEXTSKIN, lambda m: None, []),
    (NEXTSKIN, lambda m: m.update(id="other"), ["breaking id-changed /id"]),
    (NEXTSKIN, lambda m: m.update(version="1.1.0"), ["harmless version-changed /version"]),
    (NEXTSKIN, lambda m: m["jobs"].pop("purge"), ["breaking job-removed /jobs/purge"]),
    (
        NEXTSKIN,
        lambda m: m["jobs"].update(sweep=m["jobs"].pop("purge")),
        ["breaking job-renamed /jobs/sweep", "harmless job-added /jobs/sweep"],
    ),
    (NEXTSKIN, lambda m: m["jobs"]["purge"].update(maxAttempts=2), ["breaking attempts-lowered /jobs/purge/maxAttempts"]),
    (NEXTSKIN, lambda m: m["jobs"]["purge"].update(maxAttempts=4), ["harmless attempts-raised /jobs/purge/maxAttempts"]),
    (NEXTSKIN, lambda m: m["jobs"]["purge"].update(timeoutMs=999), ["breaking timeout-lowered /jobs/purge/timeoutMs"]),
    (
        NEXTSKIN,
        lambda m: m["jobs"]["expire"]["payloadSchema"].update(required=["key"]),
        ["breaking payload-narrowed /jobs/expire/payloadSchema/required"],
    ),
    (NEXTSKIN, lambda m: m["jobs"]["expire"]["payloadSchema"].update(title="T", description="D"), []),
    (NEXTSKIN, lambda m: m["jobs"]["expire"].update(payloadSchema={"allOf": [{"type": "object"}, {"type": ["object"]}]}), []),
    (
        NEXTSKIN,
        lambda m: m["jobs"]["expire"].update(payloadSchema={"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}),
        [],
    ),
    (NEXTSKIN, lambda m: m["jobs"]["expire"].update(payloadSchema={"oneOf": [{"type": "object", "default": {}}]}), []),
    (
        NEXTSKIN,
        lambda m: m["jobs"]["expire"]["payloadSchema"].update({"not": {"required": ["old"]}}),
        ["notable payload-maybe-narrowed /jobs/expire/payloadSchema/not"],
    ),
    (NEXTSKIN, lambda m: m["jobs"]["expire"].pop("payloadSchema"), ["harmless payload-widened /jobs/expire/payloadSchema"]),
    (NEXTSKIN, lambda m: m["cron"][0].update(schedule="0 4 * * *"), ["notable schedule-changed /cron/0/schedule"]),
    (NEXTSKIN, lambda m: m["cron"][0].update(payload=None), ["notable schedule-payload-changed /cron/0/payload"]),
    (NEXTSKIN, lambda m: m["cron"].clear(), ["notable schedule-removed /cron/0"]),
    (
        NEXTSKIN,
        lambda m: m["cron"].insert(0, {"schedule": "0 3 * * *", "job": "purge", "payload": {}}),
        ["notable schedule-added /cron/0"],
    ),
    (NEXTSKIN, lambda m: m["capabilities"].append("net"), ["notable capability-added /capabilities/1"]),
    (NEXTSKIN, lambda m: m["capabilities"].clear(), ["harmless capability-removed /capabilities/0"]),
    (NEXTSKIN, lambda m: m["routes"].clear(), ["breaking route-removed /routes/POST ~1expire"]),
    (NEXTSKIN, lambda m: m["routes"]["POST /expire"].pop("auth"), ["notable route-auth-changed /routes/POST ~1expire/auth"]),
    (NEXTSKIN, lambda m: m["routes"].update({"GET /": {"auth": "user"}}), ["notable route-added /routes/GET ~1"]),
    (COGOVER, lambda m: m["jobs"].reverse(), []),
    (COGOVER, lambda m: m["jobs"][0].update(key="Recalc"), ["notable job-respelt /jobs/0/key"]),
    (COGOVER, lambda m: m["jobs"][0].update(name="Totals"), ["harmless title-changed /jobs/0"]),
    (
        COGOVER,
        lambda m: m["jobs"][1]["schedule"].update(timezone="Asia/Tokyo"),
        ["notable schedule-changed /jobs/1/schedule/cron"],
    ),
    (COGOVER, lambda m: m["jobs"][1].pop("schedule"), ["notable schedule-removed /jobs/1/schedule"]),
    (
        COGOVER,
        lambda m: (m["jobs"][0].update(maxAttempts=1, timeoutMs=60000), m["jobs"].pop(1)),
        [
            "breaking attempts-lowered /jobs/0/maxAttempts",
            "breaking job-removed /jobs/1",
            "notable schedule-removed /jobs/1/schedule",
            "harmless timeout-raised /jobs/0/timeoutMs",
        ],
    ),
]


@pytest.mark.parametrize(("old", "edit", "expected"), CASES)
def test_each_change_is_told_once(old: dict[str, Any], edit: Edit, expected: list[str]) -> None:
    assert told(old, edit) == expected


def test_a_changed_schedule_carries_both_rhythms() -> None:
    new = copy.deepcopy(COGOVER)
    new["jobs"][1]["schedule"] = {"cron": "0 3 * * *", "timezone": "Asia/Tokyo"}
    (change,) = changes(COGOVER, new, platforms.load("cogover"))
    assert (change.schedule_before, change.schedule_after) == (("0 2 * * *", "UTC"), ("0 3 * * *", "Asia/Tokyo"))
    assert change.message == (
        '"cancel" runs at "0 3 * * *" Asia/Tokyo instead of "0 2 * * *" UTC; the next fire is computed anew'
    )


def test_thousands_of_schedules_and_jobs_are_paired_in_time() -> None:
    """M6: never a hang. In CPU seconds; it takes about one."""

    def manifest(job: str, count: int) -> dict[str, Any]:
        cron = [{"schedule": f"{n % 60} {n // 60 % 24} * * *", "job": job, "payload": {"n": n}} for n in range(count)]
        limits = {"maxAttempts": 5, "timeoutMs": 1_000}
        return {**NEXTSKIN, "jobs": {f"{job}{n}": limits for n in range(count)}, "cron": cron}

    started = time.process_time()
    found = changes(manifest("a", 4_000), manifest("b", 4_000), platforms.load("nextskin"))
    assert time.process_time() - started < 8
    kinds = ("job-added", "job-removed", "schedule-added", "schedule-removed")
    assert Counter(change.kind for change in found) == dict.fromkeys(kinds, 4_000)


def test_equal_entries_are_paired_one_to_one() -> None:
    entry = {"schedule": "0 3 * * *", "job": "purge", "payload": {}}
    old, new = ({**NEXTSKIN, "cron": [dict(entry) for _ in range(count)]} for count in (3, 2))
    assert [change.kind for change in changes(old, new, platforms.load("nextskin"))] == ["schedule-removed"]
