"""Where a pointer stands in a text: lines and columns, counted from 1, columns in characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from nsplugin.pointers import parent
from nsplugin.row import Row

Target = Literal["value", "key"]


class Position(Row):
    """A place between characters: ``line`` and ``column`` from 1."""

    line: int
    column: int


class Span(Row):
    """A stretch of text; ``end_column`` is exclusive. All numbers count from 1, columns in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


Characters = Sequence[Position] | Callable[[], Sequence[Position]]
"""The position of each character of a decoded string, and one more for its end; or a function that finds them."""


class SpanMap:
    """Spans of a document by pointer.

    ``values`` holds the span of each value, ``keys`` that of each mapping key (by the pointer of its value), ``texts``
    the character positions of each string value, so that a fault inside a string (a cron field) gets its own columns.
    """

    __slots__ = ("keys", "texts", "values")

    def __init__(
        self,
        values: Mapping[str, Span] | None = None,
        keys: Mapping[str, Span] | None = None,
        texts: Mapping[str, Characters] | None = None,
    ) -> None:
        self.values = dict(values or {})
        self.keys = dict(keys or {})
        self.texts = dict(texts or {})

    def locate(self, pointer: str, target: Target = "value", start: int | None = None, end: int | None = None) -> Span | None:
        """The span of a value or key, or of the characters ``start:end`` of a string; else of the nearest ancestor."""
        if start is not None and target == "value":
            inside = self._inside(pointer, start, start + 1 if end is None else end)
            if inside is not None:
                return inside
        first, second = (self.keys, self.values) if target == "key" else (self.values, self.keys)
        while True:
            span = first.get(pointer) or second.get(pointer)
            if span is not None or not pointer:
                return span
            pointer = parent(pointer)
            first, second = self.values, self.keys

    def _inside(self, pointer: str, start: int, end: int) -> Span | None:
        characters = self.texts.get(pointer)
        if characters is None:
            return None
        places = characters() if callable(characters) else characters
        last = len(places) - 1
        if last < 0 or start > last:
            return None
        return Span(*places[start], *places[min(max(end, start), last)])
