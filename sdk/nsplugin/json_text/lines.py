"""Offsets into a text as lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from nsplugin.spans import Position, Span

_LINE_END: Final = re.compile(r"\r\n?|\n")


class Lines:
    """The lines of a text, which end with LF, CRLF or CR, as editors count them. Columns are characters."""

    __slots__ = ("_starts",)

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def position(self, offset: int) -> Position:
        """Line and column, from 1, of the character at ``offset`` (or of the end of the text)."""
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def span(self, start: int, end: int) -> Span:
        """The stretch from ``start`` to ``end``, exclusive."""
        return Span(*self.position(start), *self.position(end))

    def begin(self, offset: int) -> int:
        """The offset at which the line of ``offset`` begins."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def describe(self, offset: int) -> str:
        """The place in words: ``line 2, column 3``."""
        line, column = self.position(offset)
        return f"line {line}, column {column}"
