"""What each call of an author may be given: the arguments of definers and parts. Static readers bind them as the calls do."""

from __future__ import annotations

from typing import Final

from nsplugin.definition.arguments import CONFIG, Argument, Signature

HANDLER: Final = Argument("handler", "handler", positional=True)
DEFINE_PLUGIN: Final = Signature(
    "define_plugin",
    (CONFIG, *(Argument(name, name) for name in ("id", "version", "capabilities", "jobs", "cron", "routes"))),
    'write define_plugin(id="…", jobs={…}) or define_plugin({"id": "…", "jobs": {…}})',
)
DEFINE_JOB: Final = Signature(
    "define_job",
    (
        CONFIG,
        HANDLER,
        Argument("key", "key"),
        Argument("name", "name"),
        Argument("timeout_ms", "timeoutMs"),
        Argument("max_attempts", "maxAttempts"),
        Argument("schedule", "schedule"),
    ),
    'write define_job({"key": "…"}, handler), or @define_job(key="…") above the handler',
)
JOB: Final = Signature(
    "Job",
    (
        HANDLER,
        Argument("max_attempts", "maxAttempts"),
        Argument("timeout_ms", "timeoutMs"),
        Argument("payload", "payloadSchema"),
    ),
)
CRON: Final = Signature(
    "Cron",
    (Argument("schedule", "schedule", positional=True), Argument("job", "job"), Argument("payload", "payload")),
)
ROUTE: Final = Signature("Route", (HANDLER, Argument("auth", "auth")))
SCHEDULE: Final = Signature("Schedule", (Argument("cron", "cron", positional=True), Argument("timezone", "timezone")))
PLACES: Final = {"Job": "job", "Cron": "schedule", "Route": "route", "Schedule": "schedule"}
"""What the platform's own words for keys call the place where a part stands."""
