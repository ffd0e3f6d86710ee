"""Durations in words, and read from words: ``1 min 12 s``, ``250ms``."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1))
_NAMES: Final = dict(_UNITS) | {"m": 60_000}
_PARTS: Final = 2
_WRITTEN: Final = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s?(ms|s|min|m|h|d)")


def spoken(milliseconds: int) -> str:
    """A duration in its two greatest units, rounded: ``1 min 12 s``, ``9.8 s``, ``250 ms``, ``0 s``."""
    if milliseconds < 1_000:
        return f"{milliseconds} ms" if milliseconds else "0 s"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f}".removesuffix(".0") + " s"
    first = next(index for index, (_, size) in enumerate(_UNITS) if milliseconds >= size)
    smallest = _UNITS[min(first + _PARTS - 1, 3)][1]
    left = (milliseconds + smallest // 2) // smallest * smallest
    parts: list[str] = []
    for name, size in _UNITS[:4]:
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number} {name}")
    return " ".join(parts[:_PARTS])


def parsed(text: str) -> int:
    """Milliseconds of ``30s``, ``1.5 min``, ``250ms``, ``1h``, ``2d``. Raises ``ValueError`` for anything else."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no duration; write a number and ms, s, min, h or d, such as 30s")
    return round(float(match[1]) * _NAMES[match[2]])
