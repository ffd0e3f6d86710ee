"""How values are written on the pages: times, durations, sizes, counts, and text from plugins made visible."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime
from typing import Final

_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_KEPT: Final = "\n\t"
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_JOINERS: Final = "\u200c\u200d"


def utc(moment: int) -> str:
    """UTC milliseconds as ``2026-06-01 12:00:05 UTC``."""
    return datetime.fromtimestamp(moment // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def relative(moment: int, now: int) -> str:
    """How far a moment is from now: ``5 min ago``, ``in 2 h``, ``now``."""
    distance = abs(moment - now)
    if distance < 1_000:
        return "now"
    size, unit = next(each for each in _UNITS if distance >= each[0])
    words = f"{distance // size} {unit}"
    return f"in {words}" if moment > now else f"{words} ago"


def duration(milliseconds: int) -> str:
    """``340 ms``, ``2.5 s``, ``10 s``, ``3 min 20 s``, ``2 h``."""
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f}".removesuffix(".0") + " s"
    parts = []
    for size, unit in _UNITS:
        amount, milliseconds = divmod(milliseconds, size)
        parts += [f"{amount} {unit}"] if amount else []
    return " ".join(parts[:2])


def size(count: int) -> str:
    """Bytes as ``312 B`` or ``12.4 KiB``."""
    return f"{count} B" if count < 1024 else f"{count / 1024:.1f} KiB"


def number(count: int) -> str:
    """``10,000``."""
    return f"{count:,}"


def counted(count: int, noun: str) -> str:
    """``1 dead letter``, ``10,000 dead letters``."""
    return f"{number(count)} {noun if count == 1 else f'{noun}s'}"


def capital(text: str) -> str:
    """The text with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]


def visible(text: str) -> str:
    """Text from a plugin with what would be invisible, or turn the text around, written as its code point: ``<U+202E>``."""
    return "".join(char if _is_seen(char) else f"<U+{ord(char):04X}>" for char in text.replace("\r\n", "\n"))


def _is_seen(char: str) -> bool:
    return char in _KEPT or char in _JOINERS or unicodedata.category(char) not in _HIDDEN


def pretty_json(text: str) -> str:
    """A payload's JSON text, indented; as it is where it can't be read."""
    try:
        return visible(json.dumps(json.loads(text), indent=2, ensure_ascii=False))
    except (ValueError, RecursionError):
        return visible(text)
