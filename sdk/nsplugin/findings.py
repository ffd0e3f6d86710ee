"""Findings made beside the rules: by definers, by the pre-install check; dressed as those of the rules they belong to."""

from __future__ import annotations

from collections.abc import Iterable

from nsplugin.record import replace
from nsplugin.rules import Found, Problem, documented
from nsplugin.spans import Target


def problem(code: str, pointer: str, message: str, hint: str | None = None, target: Target = "value") -> Problem:
    """A finding of the rule of that code."""
    rule = next(rule for rule in documented if rule.code == code)
    return rule.problem(Found(pointer=pointer, message=message, hint=hint, target=target))


def moved(problems: Iterable[Problem], base: str) -> list[Problem]:
    """The same problems below another pointer."""
    return [replace(problem, pointer=base + problem.pointer) for problem in problems]
