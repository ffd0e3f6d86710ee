"""How messages quote what they found: short, on one line, printable on every terminal."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 40
_HEAD: Final = 24
_SUGGESTED: Final = 160


def quoted(text: str) -> str:
    """The text in double quotes, its unprintable characters escaped; a long one is cut: ``"9999…" (6,000 characters)``."""
    if len(text) <= _LONGEST:
        return f'"{_printable(text)}"'
    return f'"{_printable(text[:_HEAD])}…" ({len(text):,} characters)'


def shortened(digits: str) -> str:
    """A number as a message shows it: whole, or its first digits and how many there are."""
    return digits if len(digits) <= _HEAD else f"{digits[:8]}… ({len(digits):,} digits)"


def write(text: str) -> str:
    """``write `0 3 * * *```: a hint with the text to write, cut when it is long."""
    return f"write `{text}`" if len(text) <= _SUGGESTED else f"write `{text[:_SUGGESTED]}…`"


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)
