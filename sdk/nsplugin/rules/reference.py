"""The rules as a page for people: ``docs/rules.md``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from nsplugin.platforms import Platform, every
from nsplugin.rules._family import Rule
from nsplugin.rules.catalogue import documented

_GROUPS: Final = {
    "0": "Loading and structure",
    "1": "Names, limits, handlers",
    "2": "Schedules",
    "3": "Payloads and enqueueing",
    "4": "What a plugin's code does",
    "5": "Capabilities and routes",
    "6": "Manifests",
    "9": "Ignores",
}
"""What the first digit of a code stands for."""


def document(rules: Iterable[Rule[Any]] = documented) -> str:
    """The page about these rules, by code: a table of all, then each with why and examples. Markdown, one LF at the end."""
    listed = sorted(rules, key=lambda rule: rule.code)
    return "\n".join([*_head(), *_table(listed), *_limits(), *(line for rule in listed for line in _section(rule))])


def _head() -> Iterator[str]:
    yield "<!-- Generated from the rules by make update; not edited by hand. -->"
    yield ""
    yield "# Rules"
    yield ""
    yield "A code never changes its meaning. `nsplugin explain CODE` shows one of these entries in the terminal."
    yield ""


def _table(rules: list[Rule[Any]]) -> Iterator[str]:
    for digit, title in _GROUPS.items():
        group = [rule for rule in rules if rule.code[3] == digit]
        if group:
            yield from (f"## {title}", "", "| code | name | severity | what it finds |", "| --- | --- | --- | --- |")
            yield from (_row(rule) for rule in group)
            yield ""


def _row(rule: Rule[Any]) -> str:
    anchor = f"{rule.code}-{rule.name}".lower()
    return f"| [{rule.code}](#{anchor}) | {rule.name} | {rule.severity} | {rule.summary} |"


def _limits() -> Iterator[str]:
    platforms = every()
    yield from ("## Limits", "", f"| limit | {' | '.join(platform.title for platform in platforms)} |", "| --- | --- | --- |")
    for title, read in _ROWS:
        yield f"| {title} | {' | '.join(read(platform) for platform in platforms)} |"
    yield ""


def _integer(limit: Any) -> str:
    return f"{limit.min}–{limit.max}, default {limit.default}"


def _most(limit: Any, name: str, unit: str) -> str:
    return "–" if limit is None else f"at most {getattr(limit, name)} {unit}"


_ROWS: Final[tuple[tuple[str, Callable[[Platform], str]], ...]] = (
    ("id", lambda platform: _most(platform.plugin_id, "max_length", "characters")),
    ("job name", lambda platform: _most(platform.job_name, "max_length", "characters")),
    ("qualified name", lambda platform: _most(platform.qualified_name, "max_length", "characters")),
    ("display name", lambda platform: _most(platform.display_name, "max_length", "characters")),
    ("jobs", lambda platform: _most(platform.jobs, "max_count", "jobs")),
    ("maxAttempts", lambda platform: _integer(platform.max_attempts)),
    ("timeoutMs", lambda platform: _integer(platform.timeout_ms)),
    ("payload", lambda platform: _most(platform.payload, "max_bytes", "bytes of UTF-8")),
    ("cron expression", lambda platform: _most(platform.cron, "max_length", "characters")),
)


def _section(rule: Rule[Any]) -> Iterator[str]:
    titles = [platform.title for platform in every() if not rule.platforms or platform.name in rule.platforms]
    language = _language(rule.good)
    yield from (f"## {rule.code} {rule.name}", "", rule.summary, "")
    yield from (f"Severity: {rule.severity}. Platforms: {', '.join(titles)}. Source: {rule.source}.", "", rule.why, "")
    yield from ("Wrong:", "", f"```{_language(rule.bad)}", rule.bad.rstrip("\n"), "```", "")
    yield from ("Right:", "", f"```{language}", rule.good.rstrip("\n"), "```", "")


def _language(example: str) -> str:
    if example.startswith("{"):
        return "json"
    if example.startswith("# nsplugin.toml"):
        return "toml"
    return "python" if "import " in example else "text"
