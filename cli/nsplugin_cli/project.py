"""The project file: ``nsplugin.toml``, or ``[tool.nsplugin]`` in ``pyproject.toml`` (spec/cli.md Project file)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from nsplugin.pointers import join
from nsplugin.record import field, record
from nsplugin.rules._family import Found
from nsplugin.spans import Span
from nsplugin_cli.project_keys import Places, faults, kind

FILE_NAMES: Final = ("nsplugin.toml", "pyproject.toml")
MAX_BYTES: Final = 1 << 20


@record
class Project:
    """One plugin's folder and what its project file says. Without a file, ``file`` is ``None`` and ``table`` is empty.

    ``faults``: what is wrong with the file, each with its span; a value at fault is absent from ``table``.
    ``spans``: where the values of its texts stand, by key.
    """

    folder: str
    file: str | None = None
    text: str = ""
    table: Mapping[str, Any] = field(default_factory=dict)
    spans: Mapping[str, Span] = field(default_factory=dict)
    faults: tuple[Found, ...] = ()

    def get(self, key: str) -> str | None:
        """A text value of the file, or ``None``."""
        value = self.table.get(key)
        return value if isinstance(value, str) else None

    @property
    def identity(self) -> dict[str, str]:
        """``id`` and ``version``, those that are given."""
        return {key: self.table[key] for key in ("id", "version") if key in self.table}


def find(start: str) -> Project | None:
    """The nearest project file at or above a folder, read; ``None`` when there is none."""
    folder, project = start, at(start)
    while project is None and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        project = at(folder)
    return project


def at(folder: str) -> Project | None:
    """The project whose file lies in this very folder. A ``pyproject.toml`` counts when it has ``[tool.nsplugin]``."""
    own, shared = (os.path.join(folder, name) for name in FILE_NAMES)
    if os.path.lexists(own):
        return read(own)
    if os.path.isfile(shared) and _mentions_us(shared):
        return read(shared)
    return None


def _mentions_us(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES)
    except OSError:
        return False
    return b"nsplugin" in data and _has_table(data)


def _has_table(data: bytes) -> bool:
    import tomli

    try:
        tool = tomli.loads(data.decode("utf-8-sig")).get("tool")
    except (ValueError, RecursionError):  # of bad UTF-8, of bad TOML, of a number that Python refuses
        return re.search(rb"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*nsplugin[ \t]*\]", data, re.MULTILINE) is not None
    return isinstance(tool, dict) and "nsplugin" in tool


def read(path: str) -> Project:
    """Read and judge a project file. Never raises on bad content: see ``Project.faults``."""
    if os.path.exists(path) and not os.path.isfile(path):
        return _unreadable(path, f"it is {kind(path)}")
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _unreadable(path, f"it cannot be read: {error.strerror}")
    if len(data) > MAX_BYTES:
        return _unreadable(path, "it is larger than 1 MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        place = Span(line, 1, line, 2)
        return _unreadable(path, "it is not UTF-8, which TOML must be", data.decode("utf-8", "replace"), place)
    return _parsed(path, text)


def _parsed(path: str, text: str) -> Project:
    import tomli

    try:
        return _judged(path, text, tomli.loads(text))
    except tomli.TOMLDecodeError as error:
        place = Span(error.lineno, error.colno, error.lineno, error.colno + 1)
        return _unreadable(path, f"it is not valid TOML: {error.msg}", text, place)
    except RecursionError:
        return _unreadable(path, "it is nested too deeply", text)
    except ValueError:  # Python's own, of an integer
        return _unreadable(path, "it holds a number of more digits than can be read", text)


def _unreadable(path: str, message: str, text: str = "", span: Span | None = None) -> Project:
    fault = Found(pointer="", message=message, span=span)
    return Project(folder=os.path.dirname(path), file=path, text=text, faults=(fault,))


def _judged(path: str, text: str, document: dict[str, Any]) -> Project:
    header = () if os.path.basename(path) == FILE_NAMES[0] else ("tool", "nsplugin")
    table: Any = document
    for key in header:
        table = table.get(key, {})
    if not isinstance(table, dict):
        return _unreadable(path, "[tool.nsplugin] must be a table", text)
    places = Places(text, ".".join(header))
    found = tuple(faults(table, places))
    wrong = {fault.pointer for fault in found}
    known = {key: value for key, value in table.items() if join("", key) not in wrong}
    found_at = {key: places.of(key)[1] for key, value in known.items() if isinstance(value, str)}
    spans = {key: span for key, span in found_at.items() if span is not None}
    return Project(folder=os.path.dirname(path), file=path, text=text, table=known, spans=spans, faults=found)
