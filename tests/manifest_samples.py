"""Small valid manifests to break one thing at a time in, and short ways to judge them."""

from __future__ import annotations

from typing import Any

from nsplugin.platforms import Platform, load
from nsplugin.rules import Problem, Subject, check
from nsplugin.wording import Origin

NEXTSKIN = load("nextskin")
COGOVER = load("cogover")


def nextskin(**changes: Any) -> dict[str, Any]:
    """A valid NextSkin manifest with one job, some of its keys changed."""
    raw = {"manifestVersion": 1, "platform": "nextskin", "id": "cache", "entry": "plugin:plugin", "jobs": {"expire": {}}}
    return {**raw, **changes}


def cogover(*jobs: Any, **changes: Any) -> dict[str, Any]:
    """A valid Cogover manifest with the given jobs (one if none is given), some of its keys changed."""
    raw = {"manifestVersion": 1, "platform": "cogover", "id": "orders", "entry": "main:jobs"}
    return {**raw, "jobs": list(jobs) or [{"key": "sync"}], **changes}


def entry(schedule: Any = "0 3 * * *", job: Any = "expire", **more: Any) -> dict[str, Any]:
    """An entry of a NextSkin manifest's cron list."""
    return {"schedule": schedule, "job": job, **more}


def timed(cron: Any = "0 2 * * *", key: str = "sync", **more: Any) -> dict[str, Any]:
    """A Cogover job with a schedule."""
    return {"key": key, "schedule": {"cron": cron, **more}}


def platform_of(raw: dict[str, Any]) -> Platform:
    """The platform that a sample names."""
    return load(raw["platform"])


def problems(raw: dict[str, Any], origin: Origin = "json", **context: Any) -> list[Problem]:
    """What the rules find."""
    return check(Subject(raw=raw, platform=platform_of(raw), origin=origin, **context))


def found(raw: dict[str, Any], origin: Origin = "json", **context: Any) -> list[tuple[str, str]]:
    """The code and pointer of each finding."""
    return [(problem.code, problem.pointer) for problem in problems(raw, origin, **context)]


def codes(raw: dict[str, Any], origin: Origin = "json", **context: Any) -> list[str]:
    """The code of each finding."""
    return [problem.code for problem in problems(raw, origin, **context)]


def only(raw: dict[str, Any], origin: Origin = "json", **context: Any) -> Problem:
    """The one finding that there must be."""
    [problem] = problems(raw, origin, **context)
    return problem
