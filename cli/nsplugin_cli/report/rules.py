"""Rules for a reader: one explained, all listed as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from nsplugin_cli.report.frame import Fragment
from nsplugin_cli.report.text import paint

if TYPE_CHECKING:
    from nsplugin.rules._family import Rule

    Rules = Iterable[Rule[Any]]


def explanation(rule: Rule[Any], *, color: bool) -> str:
    """One rule, as ``nsplugin explain`` prints it."""
    return paint(_explained(rule), color=color)


def _explained(rule: Rule[Any]) -> Iterator[Fragment]:
    yield rule.severity, f"{rule.code} {rule.name}"
    yield "dim", f" ({rule.severity}{_where(rule)})\n\n"
    yield "", f"{rule.summary}\n\n{rule.why}\n\n"
    for style, title, example in (("error", "Bad", rule.bad), ("good", "Good", rule.good)):
        yield style, f"{title}:\n\n"
        yield "", "".join(f"    {line}".rstrip() + "\n" for line in example.strip("\n").split("\n")) + "\n"
    yield "dim", f"Source: {rule.source}\n"


def _where(rule: Rule[Any]) -> str:
    return f", {' and '.join(rule.platforms)} only" if rule.platforms else ""


def listing(rules: Rules, *, color: bool) -> str:
    """One line a rule."""
    return paint(_listed(list(rules)), color=color)


def _listed(rules: list[Rule[Any]]) -> Iterator[Fragment]:
    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        yield rule.severity, rule.code
        yield "", f"  {rule.name:{width}}  {rule.severity:7}  {rule.summary}\n"
    yield "dim", "\n`nsplugin explain CODE` tells more about one.\n"


def as_json(rules: Rules, *, color: bool = False) -> str:
    """A list of objects: code, name, severity, platforms (empty: all), summary, why, bad, good, source."""
    keys = ("code", "name", "severity", "platforms", "summary", "why", "bad", "good", "source")
    return json.dumps([{key: getattr(rule, key) for key in keys} for rule in rules], indent=2, ensure_ascii=False) + "\n"


LISTINGS: Final[dict[str, Callable[..., str]]] = {"text": listing, "json": as_json}
