"""Where everything stands in a JSON text: a tree of offsets that answers pointers one by one.

Pointers are not spelt out beforehand: a mebibyte of long keys over many children would make gigabytes of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Final

from nsplugin.json_text.lines import Lines
from nsplugin.json_text.strings import offsets
from nsplugin.pointers import split
from nsplugin.spans import Span, SpanMap, Target

_Place = tuple[int, int]
_QUOTES: Final = ('"', "'")


class Node:
    """A container: offsets of its children (four numbers each: key start, key end, start, end), by key or by position."""

    __slots__ = ("_index", "children", "end", "keys", "places", "start")

    def __init__(self, start: int, *, keyed: bool) -> None:
        self.start = start
        self.end = start
        self.keys: list[Any] | None = [] if keyed else None
        self.places = array("I")
        self.children: dict[int, Node] = {}
        self._index: dict[Any, int] | None = None

    def add(self, key: Any, places: tuple[int, int, int, int], child: Node | None) -> None:
        """Note a child; ``key`` counts in objects only."""
        if child is not None:
            self.children[len(self.places) // 4] = child
        if self.keys is not None:
            self.keys.append(key)
        self.places.extend(places)

    def number(self, token: str) -> int | None:
        """The child that a reference token names: of equal keys the last one, which is the one that counts."""
        if self.keys is not None:
            if self._index is None:
                self._index = {key: number for number, key in enumerate(self.keys)}
            return self._index.get(token)
        number = int(token) if token.isascii() and token.isdecimal() and len(token) < 9 else -1
        return number if 0 <= number < len(self.places) // 4 else None

    def offsets(self, number: int, target: Target) -> tuple[int, int]:
        """Start and end of a child's value or key."""
        first = 4 * number + (0 if target == "key" and self.keys is not None else 2)
        return self.places[first], self.places[first + 1]


class JsonSpans(SpanMap):
    """The spans of a JSON text, found when asked for."""

    __slots__ = ("_characters", "_lines", "_root", "_text", "_whole")

    def __init__(self, text: str, lines: Lines, root: Node | None, whole: tuple[int, int]) -> None:
        super().__init__()
        self._text = text
        self._lines = lines
        self._root = root
        self._whole = whole
        self._characters: dict[int, list[int]] = {}

    def locate(self, pointer: str, target: Target = "value", start: int | None = None, end: int | None = None) -> Span | None:
        """As :meth:`nsplugin.spans.SpanMap.locate`: the value or key itself, else its nearest ancestor."""
        place, key, found = self._find(pointer)
        if found and target == "key":
            place = key
        elif found and start is not None:
            place = self._part(place, start, start + 1 if end is None else end)
        return self._lines.span(*place)

    def _find(self, pointer: str) -> tuple[_Place, _Place, bool]:
        """The places of the deepest value on the way to ``pointer`` and of its key, and whether it is the one asked for."""
        node, place, key = self._root, self._whole, self._whole
        for token in split(pointer):
            number = node.number(token) if node is not None else None
            if node is None or number is None:
                return place, key, False
            place, key = node.offsets(number, "value"), node.offsets(number, "key")
            node = node.children.get(number)
        return place, key, True

    def _part(self, place: _Place, start: int, end: int) -> _Place:
        """Characters ``start:end`` of a decoded string, or the whole value when it is no string or not that long."""
        first, last = place
        if self._text[first : first + 1] not in _QUOTES or first + 1 >= last:
            return place
        inside = self._inside_of(first + 1, last - 1)
        if start >= len(inside):
            return place
        return inside[start], inside[min(max(end, start), len(inside) - 1)]

    def _inside_of(self, start: int, end: int) -> Sequence[int]:
        if self._text.find("\\", start, end) < 0:
            return range(start, end + 1)
        if start not in self._characters:
            self._characters[start] = offsets(self._text, start, end)
        return self._characters[start]
