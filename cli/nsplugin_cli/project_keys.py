"""What each key of the project file may hold, and where it stands in the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from nsplugin.lazy import pattern
from nsplugin.limited import limited
from nsplugin.platforms import NAMES
from nsplugin.pointers import join
from nsplugin.rules._family import Found
from nsplugin.spans import Span
from nsplugin.wording import clipped, found, listed

MAX_TEXT: Final = 1_000
"""Longer than any path, and short enough for a command line."""

SCRIPTS: Final = (".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx")


def faults(table: Mapping[str, Any], places: Places) -> Iterator[Found]:
    """What is wrong with a table of the project file, each with its place."""
    yield from limited((_unknown(key, places.of(key)[0]) for key in table if key not in KEYS), "")
    for key, value in ((key, table[key]) for key in KEYS if key in table):
        message = KEYS[key](value)
        if message is not None:
            text, _, hint = message.partition("\n")
            yield Found(pointer=join("", key), message=f"`{key}` {text}", hint=hint or None, span=places.of(key)[1])
        elif key in _OF_RULES:
            yield from limited(_no_rules(key, value, places), join("", key))
            yield from limited(_no_patterns(key, value, places), join("", key)) if isinstance(value, dict) else ()


def _no_rules(key: str, value: Any, places: Places) -> Iterator[Found]:
    """What is written for rules and names none."""
    from nsplugin_cli.rule_names import advice, code_of

    lists = value.values() if isinstance(value, dict) else [value]
    unknown = dict.fromkeys(item for items in lists for item in items if code_of(item) is None)
    for item in unknown:
        message, span = f"`{key}` names {found(item, 'json')}, which is no rule", places.item(key, item)
        yield Found(pointer=join("", key), message=message, hint=advice(item), span=span)


def _no_patterns(key: str, value: Mapping[str, Any], places: Places) -> Iterator[Found]:
    """What is written for files and can match none."""
    from nsplugin_cli.git_patterns import is_pattern

    for written in value:
        if not is_pattern(written):
            message = f"`{key}` names {found(written, 'json')}, which is no path pattern"
            yield Found(pointer=join("", key), message=message, hint=_PATTERNS, span=places.item(key, written))


def _unknown(key: str, span: Span | None) -> Found:
    from nsplugin.nearest import closest

    meant = closest(key, KEYS)
    hint = f"did you mean `{meant}`?" if meant else f"the keys are {', '.join(KEYS)}"
    return Found(pointer=join("", key), message=f"there is no key `{clipped(key)}`", hint=hint, target="key", span=span)


def _platform(value: Any) -> str | None:
    if value in NAMES:
        return None
    return f"is {found(value, 'json')}, which is no platform\nthe platforms are {listed(NAMES)}"


def _text(value: Any) -> str | None:
    if not isinstance(value, str) or not value:
        return f"must be a string that is not empty, not {found(value, 'json')}"
    return f"has {len(value):,} characters: it may have {MAX_TEXT}" if len(value) > MAX_TEXT else None


def _entry(value: Any) -> str | None:
    fault = _text(value)
    if fault is None and entry_parts(value) is None and entry_script(value) is None:
        hint = 'write a file ("plugin.py", "src/plugin.ts"), or a module and its attribute ("pkg.mod:plugin")'
        return f"is {found(value, 'json')}, which names no entry\n{hint}"
    return fault


def _timezone(value: Any) -> str | None:
    fault = _text(value)
    if fault is not None:
        return fault
    from nsplugin.cron import ZoneError, zone

    try:
        zone(value)
    except ZoneError as error:
        return f"is no time zone: {error.message}\n{error.hint or ''}"
    return None


def _codes(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return None
    return 'must be a list of rule codes, their beginnings or rule names\nfor example ["NSP101", "NSP2"]'


def _codes_by_file(value: Any) -> str | None:
    if not isinstance(value, dict):
        return f"must be a table of path patterns\n{_PATTERNS}"
    return next(filter(None, map(_codes, value.values())), None)


KEYS: Final[Mapping[str, Callable[[Any], str | None]]] = {
    "platform": _platform,
    "id": _text,
    "version": _text,
    "entry": _entry,
    "timezone": _timezone,
    "out": _text,
    "select": _codes,
    "ignore": _codes,
    "per-file-ignores": _codes_by_file,
}


_PATTERNS: Final = 'for example {"legacy/*.py" = ["NSP402"]}'
_OF_RULES: Final = frozenset(("select", "ignore", "per-file-ignores"))


def entry_parts(entry: str) -> tuple[str, str | None] | None:
    """The module and attribute that an entry names: ``src/plugin.py`` is ``src.plugin``; ``None`` for no entry at all."""
    path, colon, attribute = entry.partition(":")
    if colon and not attribute.isidentifier():
        return None
    module = path[:-3].removeprefix("./").replace("/", ".") if path.endswith(".py") else path
    if not all(module.split(".")) or "\\" in module or "/" in module:
        return None
    return module, attribute or None


def entry_script(entry: str) -> str | None:
    """The path of the TypeScript or JavaScript file that an entry names; ``None`` for any other entry."""
    path, colon, attribute = entry.partition(":")
    path = path.removeprefix("./")
    if not path.lower().endswith(SCRIPTS) or "\\" in path or (colon and not attribute.isidentifier()):
        return None
    return path if all(part.strip(".") for part in path.split("/")) else None


class Places:
    """Where a key and its value stand in a TOML text; ``None`` where it is written in a way that a line search misses."""

    def __init__(self, text: str, header: str) -> None:
        self._lines = text.splitlines()
        self._header = header
        self._strings: dict[str, dict[str, Span]] = {}

    def of(self, key: str) -> tuple[Span | None, Span | None]:
        """The spans of the key and of its value (to the end of the line)."""
        if key in self._keys:
            return self._keys[key]
        table = self._tables.get(".".join(filter(None, (self._header, key))))
        return table, table

    def item(self, key: str, text: str) -> Span | None:
        """The span of a text somewhere in the value of a key, which may go over several lines."""
        around = self.of(key)[1]
        if around is None:
            return None
        if key not in self._strings:
            self._strings[key] = {}
            for string, span in self._strings_from(around):
                self._strings[key].setdefault(string, span)
        return self._strings[key].get(text, around)

    def _strings_from(self, place: Span) -> Iterator[tuple[str, Span]]:
        for number in range(place.line, len(self._lines) + 1):
            start = place.column - 1 if number == place.line else 0
            for string in _STRING.finditer(self._lines[number - 1], start):
                if string[1]:
                    yield string[2], _span(number, *string.span())

    @cached_property
    def _keys(self) -> dict[str, tuple[Span, Span]]:
        keys: dict[str, tuple[Span, Span]] = {}
        for number, line in self._own_lines():
            head = _KEY.match(line)
            if head is not None:
                value = _span(number, head.end(), head.end() + len(_value(line[head.end() :])))
                keys.setdefault(head[1].strip("\"'"), (_span(number, *head.span(1)), value))
        return keys

    @cached_property
    def _tables(self) -> dict[str, Span]:
        tables: dict[str, Span] = {}
        for number, line in enumerate(self._lines, 1):
            head = _TABLE.match(line)
            if head is not None:
                tables.setdefault(head[1].rstrip(), Span(number, 1, number, len(line.rstrip()) + 1))
        return tables

    def _own_lines(self) -> Iterator[tuple[int, str]]:
        header = ""
        for number, line in enumerate(self._lines, 1):
            if line.lstrip().startswith("["):
                header = re.sub(r"\s", "", line.partition("#")[0]).strip("[]")
            elif header == self._header:
                yield number, line


_KEY: Final = pattern(r"""\s*("[^"]*"|'[^']*'|[\w-]+)\s*=\s*""")
_TABLE: Final = pattern(r"\s*\[\s*([^\[\]]*)\]")
_STRING: Final = pattern(r"""(["'])(.*?)\1|#.*""")
_WHOLE: Final = pattern(r""""[^"]*"|'[^']*'""")


def _value(written: str) -> str:
    """What stands behind the equals sign, without a comment."""
    whole = _WHOLE.match(written)
    if whole is not None and written[whole.end() :].lstrip()[:1] in ("", "#"):
        return whole[0]
    return written.partition("#")[0].rstrip()


def _span(number: int, start: int, end: int) -> Span:
    return Span(number, start + 1, number, max(end, start + 1) + 1)


def kind(path: str | os.PathLike[str]) -> str:
    """What lies at a path that is no regular file, in words."""
    return "a folder" if os.path.isdir(path) else "no regular file"
