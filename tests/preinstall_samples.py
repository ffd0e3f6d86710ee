"""Manifests for the pre-install check, the forms that they may come in, and short ways to look at reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from nsplugin import Report, check_manifest

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
