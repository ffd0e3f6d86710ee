"""The rules over what an author defined, before the project file adds what it knows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from nsplugin.handlers import Handler
from nsplugin.platforms import Platform, every
from nsplugin.pointers import UNKNOWN

if TYPE_CHECKING:
    from nsplugin.definition.intake import Intake
    from nsplugin.rules import Problem

MANIFEST_VERSION: Final = 1
LATER: Final = ("id", "version", "entry")
"""What the project file may still give."""


@cache
def platform_of(definer: str) -> Platform:
    """The platform whose layout names this definer."""
    return next(platform for platform in every() if platform.layout.definer == definer)


def judged(intake: Intake, raw: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Every problem of a raw manifest that is not yet complete."""
    later = dict.fromkeys(LATER, UNKNOWN)
    return (*intake.problems, *check(intake.platform, {**later, **raw}, intake.handlers, None))


def check(platform: Platform, raw: Mapping[str, Any], handlers: Mapping[str, Handler], timezone: str | None) -> list[Problem]:
    """The findings of all rules on values that come from Python."""
    from nsplugin.rules import check as run
    from nsplugin.rules.subject import Subject, today

    whole = {"manifestVersion": MANIFEST_VERSION, "platform": platform.name, **raw}
    return run(Subject(raw=whole, platform=platform, origin="python", timezone=timezone, now=today(), handlers=handlers))
