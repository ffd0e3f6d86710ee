"""The rules: what a plugin must hold to, each in one place with why, a bad and a good example.

The names are looked up when they are first used: what needs only the shape of a finding does not load every rule.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nsplugin.rules._family import Family, Found, Problem, Rule, Severity, ordered
    from nsplugin.rules.catalogue import documented, family
    from nsplugin.rules.reference import document
    from nsplugin.rules.subject import Subject
    from nsplugin.rules.verdict import check, judge

__all__ = [
    "Family",
    "Found",
    "Problem",
    "Rule",
    "Severity",
    "Subject",
    "check",
    "document",
    "documented",
    "family",
    "judge",
    "ordered",
]

_HOMES = {
    **dict.fromkeys(("Family", "Found", "Problem", "Rule", "Severity", "ordered"), "_family"),
    **dict.fromkeys(("documented", "family"), "catalogue"),
    **dict.fromkeys(("check", "judge"), "verdict"),
    "document": "reference",
    "Subject": "subject",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
