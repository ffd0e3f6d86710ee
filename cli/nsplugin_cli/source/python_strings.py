"""Where each character of a string literal stands, so that a fault inside a string gets its own columns."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from nsplugin.lazy import pattern
from nsplugin.spans import Position
from nsplugin_cli.source.python_text import Text

_OPENING: Final = pattern(r"([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_BETWEEN: Final = pattern(r"(?:[ \t\f\n()]|\\\n|#[^\n]*)*")
_ESCAPE: Final = pattern(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]+\}|[0-7]{1,3}|\n|[\\'\"abfnrtv])", re.ASCII
)
_SIMPLE: Final = {"\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def characters(text: Text, node: ast.AST, value: str) -> tuple[Position, ...]:
    """The position of each character of a string literal, and that of its end; empty when they cannot be told.

    Takes plain, raw and triple-quoted literals, adjacent ones, and f-strings without fields.
    """
    if not isinstance(node, (ast.Constant, ast.JoinedStr)):
        return ()
    found = _Literal(text, node).read()
    if found is None or "".join(character for character, _ in found[:-1]) != value:
        return ()
    return tuple(position for _, position in found)


class _Literal:
    """Walks over the source of one expression that is made of nothing but string literals."""

    def __init__(self, text: Text, node: ast.Constant | ast.JoinedStr) -> None:
        (line, column), end = text.start(node), text.span(node)
        lines = [*text.lines[line - 1 : end.end_line - 1], text.lines[end.end_line - 1][: end.end_column - 1]]
        self.source = "\n".join(lines)
        self.line = line
        self.starts = [0]
        for each in lines:
            self.starts.append(self.starts[-1] + len(each) + 1)
        self.at = column - 1
        self._row = 0

    def read(self) -> list[tuple[str, Position]] | None:
        """Every character with its position, and an empty one at the end; ``None`` for anything but string literals."""
        found: list[tuple[str, Position]] = []
        end = self.at
        while self.at < len(self.source):
            opening = _OPENING.match(self.source, self.at)
            if opening is None or set(opening[1].lower()) - set("ruf"):
                return None
            self.at = opening.end()
            found.extend(self._body(opening[1].lower(), opening[2]))
            end = self.at
            if not self.source.startswith(opening[2], end):
                return None
            between = _BETWEEN.match(self.source, end + len(opening[2]))
            self.at = end if between is None else between.end()
        found.append(("", self._position(end)))
        return found

    def _body(self, prefix: str, quote: str) -> Iterator[tuple[str, Position]]:
        source = self.source
        while self.at < len(source) and not source.startswith(quote, self.at):
            start = self.at
            position = self._position(start)
            escape = _ESCAPE.match(source, start) if "r" not in prefix else None
            if escape is not None:
                self.at = escape.end()
                character = _escaped(escape[0])
                if character:
                    yield character, position
                continue
            doubled = "f" in prefix and source[start : start + 2] in ("{{", "}}")
            self.at += 2 if doubled else 1
            yield source[start], position
            if source[start] == "\\" and self.at < len(source):
                yield source[self.at], self._position(self.at)
                self.at += 1

    def _position(self, offset: int) -> Position:
        while self.starts[self._row + 1] <= offset:
            self._row += 1
        return Position(self.line + self._row, offset - self.starts[self._row] + 1)


def _escaped(escape: str) -> str:
    body = escape[1:]
    if body in _SIMPLE:
        return _SIMPLE[body]
    if body == "\n":
        return ""
    if body[0] == "N":
        try:
            return unicodedata.lookup(body[2:-1])
        except KeyError:
            return "\ufffd"
    number = int(body, 8) if body[0] in "01234567" else int(body[1:], 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"
