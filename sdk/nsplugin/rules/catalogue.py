"""All rules of the SDK: those that judge raw manifests, and those whose faults show elsewhere."""

from __future__ import annotations

from typing import Final

from nsplugin.rules import cron, handlers, limits, names, payloads, routes, schedules
from nsplugin.rules._family import Family, Rule
from nsplugin.rules.identity import LOADING, MANIFEST, SOURCE, STRUCTURE
from nsplugin.rules.subject import Subject

_JUDGING: Final = (*names.RULES, *limits.RULES, *handlers.RULES, *cron.RULES, *schedules.RULES, *payloads.RULES, *routes.RULES)

family: Final[Family[Subject]] = Family(tuple(sorted(_JUDGING, key=lambda rule: rule.code)))
"""The rules over a raw manifest, by code."""

documented: Final[tuple[Rule[Subject], ...]] = tuple(
    sorted((*LOADING, *STRUCTURE, *family.rules, *MANIFEST, *SOURCE), key=lambda rule: rule.code)
)
"""Every rule of the SDK, by code; those over source facts stand in the command line's own families."""
