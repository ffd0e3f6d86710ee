"""A code frame: one source line with the fault underlined, as styled fragments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nsplugin_cli.terminal import escaped

Fragment = tuple[str, str]
"""A style and the text that has it."""

WIDTH: Final = 100
"""Terminal cells of source that a frame shows at most: fixed, so that output is the same on every terminal."""
TAB: Final = "    "


def visible(text: str) -> str:
    """The text with every control, format and lone surrogate character written as its escape."""
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def frame(line: str, number: int, column: int, end_column: int) -> Iterator[Fragment]:
    """Three rows: a bare gutter, the line, the underline. ``end_column`` is exclusive and may lie past the line's end."""
    start = min(column - 1, len(line))
    end = max(min(end_column - 1, len(line)), start + 1)
    low = max(0, start - WIDTH)
    pieces = [_visible(character) for character in line[low : start + WIDTH]]
    first, last = _window(pieces, start - low, end - low)
    before, after = "…" * (low + first > 0), "…" * (low + last < len(line))
    margin = " " * len(str(number))
    indent = cells(before + "".join(pieces[first : start - low]))
    marked = max(cells("".join(pieces[start - low : min(end - low, last)])), 1)
    yield "gutter", f"{margin} |\n{number} | "
    yield "", f"{before}{''.join(pieces[first:last])}{after}\n"
    yield "gutter", f"{margin} | "
    yield "mark", " " * indent + "^" * marked
    yield "", "\n"


def _window(pieces: list[str], start: int, end: int) -> tuple[int, int]:
    """The slice of the pieces to show: from the line's start when the mark fits so, else with a little before it."""
    sizes = [cells(piece) for piece in pieces]
    fits = sum(sizes[:end]) <= WIDTH
    first = 0 if fits else max(0, start - WIDTH // 4)
    last, room = first, WIDTH
    while last < len(pieces) and sizes[last] <= room:
        room -= sizes[last]
        last += 1
    return first, last


def cells(text: str) -> int:
    """How many terminal cells a text without control characters takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(0 if category(char) in ("Mn", "Me") else 1 + (east_asian_width(char) in "WF") for char in text)


def _visible(character: str) -> str:
    return TAB if character == "\t" else escaped(character)
