"""The verdict on a raw manifest: its structure and its meaning, each fault once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nsplugin.handlers import Handler
from nsplugin.platforms import Platform
from nsplugin.rules._family import Problem, ordered
from nsplugin.rules.catalogue import family
from nsplugin.rules.subject import Subject
from nsplugin.structure import faults, platform_of, version_fault
from nsplugin.wording import Origin


def check(subject: Subject) -> list[Problem]:
    """Every problem of a raw manifest, by place and code: one for each fault.

    A value of the wrong type is judged no further, and a manifest of an unread version not at all.
    """
    structural = faults(subject.raw, subject.platform, origin=subject.origin)
    if not isinstance(subject.raw, Mapping) or version_fault(subject.raw) is not None:
        return structural
    found = _told(family.run(subject))
    if not structural:
        return ordered(found) if found else found
    wrong = {(problem.pointer, problem.target) for problem in structural if problem.code == "NSP007"}
    return ordered([*structural, *(problem for problem in found if (problem.pointer, problem.target) not in wrong)])


def _told(found: list[Problem]) -> list[Problem]:
    """Without the warnings about values that are refused anyway: an expression that is too long is not too frequent as well."""
    refused = {problem.pointer for problem in found if problem.severity == "error"}
    return [problem for problem in found if problem.severity == "error" or problem.pointer not in refused] if refused else found


def judge(
    raw: Any,
    *,
    origin: Origin = "json",
    timezone: str | None = None,
    now: int | None = None,
    handlers: Mapping[str, Handler] | None = None,
) -> tuple[Platform | None, list[Problem]]:
    """The platform that a raw manifest names and its problems; ``None`` and the one fault that hides the platform."""
    platform, hidden = platform_of(raw)
    if platform is None:
        return None, hidden
    subject = Subject(raw=raw, platform=platform, origin=origin, timezone=timezone, now=now, handlers=handlers or {})
    return platform, check(subject)
