"""The files that findings stand in: paths as they are shown, text, and the places that Python itself names in them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nsplugin.spans import Span

if TYPE_CHECKING:
    from nsplugin_cli.source.python_text import Text

MAX_BYTES = 2 << 20


StrPath = str | os.PathLike[str]


def shown(path: StrPath) -> str:
    """A path as reports name it: relative to the current folder when it lies below it, with slashes."""
    name, here = os.fspath(path), os.getcwd()
    if name == here:
        return "."
    return name.removeprefix(here if here.endswith(os.sep) else here + os.sep).replace(os.sep, "/")


def read(path: StrPath) -> bytes:
    """The first bytes of a file; nothing when it cannot be read, or is a pipe, which could keep us waiting."""
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES)
    except OSError:
        return b""


def text(path: StrPath) -> Text:
    """The text of a Python file or, as far as it goes, of any other."""
    return text_of(read(path))


def text_of(data: bytes) -> Text:
    """The text of such a file's bytes."""
    from nsplugin_cli.source.python_text import Text, Unreadable, decode

    try:
        return decode(data)
    except Unreadable:
        return Text(data.decode("utf-8", "replace"))


def span_of_frame(path: StrPath, frame: Sequence[Any]) -> Span:
    """The place of a traceback's frame: line, column, end line, end column, columns in bytes from 0 or ``None``."""
    line, column, end_line, end_column = frame
    lines = text(path)
    if column is None or end_column is None or not line <= (end_line or line) <= len(lines.lines):
        return _whole(lines, line)
    return Span(line, lines.column(line, column), end_line or line, lines.column(end_line or line, end_column))


def span_of_syntax(path: StrPath, place: Sequence[Any]) -> Span:
    """The place that a ``SyntaxError`` names: line, offset, end line, end offset, in characters from 1."""
    line, offset, end_line, end_offset = place
    if not offset or offset < 0:
        return _whole(text(path), line)
    end = end_offset if end_line == line and end_offset and end_offset > offset else offset + 1
    return Span(line, offset, line, end)


def span_of_assignment(path: StrPath, names: Sequence[str], index: int | None) -> Span | None:
    """Where the top level of a module assigns the first of these names last: the value, or one item of a list."""
    import ast

    lines = text(path)
    try:
        body = ast.parse(lines.source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for name in names:
        for statement in reversed(body):
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            value = getattr(statement, "value", None)
            if value is not None and any(isinstance(target, ast.Name) and target.id == name for target in targets):
                items = value.elts if index is not None and isinstance(value, (ast.List, ast.Tuple)) else []
                plain = not any(isinstance(item, ast.Starred) for item in items)
                return lines.span(items[index] if index is not None and plain and index < len(items) else value)
    return None


def _whole(lines: Text, line: int) -> Span:
    content = lines.lines[line - 1] if line <= len(lines.lines) else ""
    start = len(content) - len(content.lstrip()) + 1
    return Span(line, start, line, max(len(content.rstrip()) + 1, start + 1))
