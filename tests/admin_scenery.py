"""A core with something of everything in it: what screenshots show and the browser's tests walk through."""

from __future__ import annotations

from admin_world import Site
from engine_world import MINUTE, SECOND, Ending, cogover, nextskin
from nsplugin_core.attempts import Attempt

SHOP = {
    "cdn-refresh": {"maxAttempts": 3, "timeoutMs": 20_000},
    "cache-expiry": {"maxAttempts": 1},
    "send-receipts": {"maxAttempts": 5, "timeoutMs": 120_000},
}
SHOP_CRON = (
    {"schedule": "30 2 * * *", "job": "cache-expiry", "payload": {"key": "daily"}},
    {"schedule": "*/15 * * * *", "job": "cdn-refresh"},
    {"schedule": "0 9 * * 1", "job": "send-receipts"},
)
ORDERS = (
    {
        "key": "syncOrders",
        "name": "Đồng bộ đơn hàng",
        "maxAttempts": 2,
        "schedule": {"cron": "0 * * * *", "timezone": "Asia/Ho_Chi_Minh"},
    },
    {"key": "sendReport", "name": "Weekly report", "schedule": {"cron": "0 7 * * 1", "timezone": "UTC+7"}},
)  # fmt: skip
ERRORS = (
    (
        "cdn-refresh",
        "ConnectionError: cdn.example.net answered 503 to PURGE /assets/app.css; the edge in Frankfurt is away since 11:42",
    ),
    ("cache-expiry", "KeyError: 'tenant'"),
    ("cache-expiry", "ValueError: expected a list of keys, got null"),
    ("cdn-refresh", "TimeoutError: no answer within 20 s"),
)  # fmt: skip


def furnish(site: Site) -> list[str]:
    """Plugins of both platforms with work in every state; returns the shop's dead letters, the oldest first."""
    core = site.core
    core.install(nextskin("shop", jobs=SHOP, cron=SHOP_CRON), "America/New_York")
    core.install(cogover("orders", jobs=ORDERS), "Asia/Ho_Chi_Minh")
    core.install(nextskin("newsletter", jobs={"deliver": {}}), "Europe/Paris")
    dead = [_failed(site, job, error) for job, error in ERRORS]
    core.hosts.script = lambda attempt: Ending()
    core.forward(40 * MINUTE, by=MINUTE)
    _orders(site)
    core.hosts.script = lambda attempt: Ending("failure", error="the mail server is away") if attempt.attempt < 2 else None
    core.enqueue("shop", "send-receipts", {"order": 1042})
    core.step()
    core.forward(20 * SECOND, by=SECOND)
    core.hosts.script = lambda attempt: Ending("failure", error="SMTP 451: try again later")
    core.enqueue("shop", "send-receipts", {"order": 1043}, dedupeKey="receipt:1043")
    core.step()
    core.enqueue("shop", "send-receipts", {"order": 1044}, delaySec=3600, dedupeKey="receipt:1044")
    core.registry.disable("newsletter")
    return dead


def _failed(site: Site, job: str, error: str) -> str:
    core = site.core
    core.hosts.script = lambda attempt: (
        Ending("failure", error=error, after=_took(attempt)) if attempt.source == "enqueue" else Ending()
    )
    task = core.enqueue("shop", job, {"key": "daily", "paths": ["/assets/app.css", "/assets/app.js"], "tenant": "ổn"}).task_id
    while core.task(task).state != "dead":
        core.step()
        core.forward(SECOND)
    core.forward(4 * MINUTE, by=SECOND)
    core.hosts.script = lambda attempt: Ending(after=_took(attempt))
    return task


def _took(attempt: Attempt) -> int:
    return 180 + 940 * attempt.attempt


def _orders(site: Site) -> None:
    core = site.core
    core.hosts.script = lambda attempt: Ending(after=_took(attempt))
    for number in range(3):
        core.enqueue("orders", "syncOrders", {"page": number})
    core.step()
    core.forward(3 * SECOND, by=SECOND)
    core.hosts.script = lambda attempt: Ending("failure", error="CogoverApiError: order 7731 has no customer")
    core.enqueue("orders", "syncOrders", {"page": 9})
    core.step()
