"""Characters that are not ASCII: their names for messages, and the ASCII characters they look like."""

from __future__ import annotations

import unicodedata
from typing import Final

SOFT_HYPHEN: Final = "\u00ad"
_CONTROLS: Final = {
    0x00: "NUL",
    0x08: "backspace",
    0x0A: "line feed",
    0x0B: "vertical tab",
    0x0C: "form feed",
    0x0D: "carriage return",
    0x1B: "escape",
    0x1C: "file separator",
    0x1D: "group separator",
    0x1E: "record separator",
    0x1F: "unit separator",
    0x7F: "delete",
    0x85: "next line",
}
_SIGNS: Final = {"\u2212": "-", "\u060c": ",", "\u3001": ",", "\u2217": "*", "\u066d": "*", "\u2044": "/", "\u2215": "/"}


def named(sign: str) -> str:
    """A character by code point and name: ``U+00A0 (NO-BREAK SPACE)``, ``U+000A (line feed)``."""
    code = ord(sign)
    if 0xD800 <= code <= 0xDFFF:
        return f"U+{code:04X} (an unpaired surrogate)"
    name = _CONTROLS.get(code) or unicodedata.name(sign, "a control character" if code < 0xA0 else "no character")
    return f"U+{code:04X} ({name})"


def ascii_form(text: str) -> str:
    """The text with digits and signs of other scripts as the ASCII ones they look like; marks on letters are dropped."""
    return "".join(sign if sign.isascii() else _ascii(sign) for sign in text)


def _ascii(sign: str) -> str:
    category = unicodedata.category(sign)
    if category == "Pd":
        return "-"
    if category in ("Mn", "Me"):
        return ""
    if sign in _SIGNS:
        return _SIGNS[sign]
    value = unicodedata.numeric(sign, 0.5)
    if value == int(value):
        return str(int(value))
    return unicodedata.normalize("NFKC", sign)
