"""Bytes into text, and what to say when they are no UTF-8."""

from __future__ import annotations

import codecs
import re
from typing import Final, NamedTuple

Fault = tuple[int, str, str]
"""An offset into the text, a message and a hint."""


class Decoded(NamedTuple):
    """A text, whose undecodable bytes are lone surrogates (PEP 383), and the faults of its encoding."""

    text: str
    faults: tuple[Fault, ...] = ()


_UNDECODED: Final = re.compile(r"[\ud800-\udfff]")
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PATTERNS: Final = (("xxx1", "utf-32-be"), ("1xxx", "utf-32-le"), ("x1x1", "utf-16-be"), ("1x1x", "utf-16-le"))
_NAMES: Final = {
    "utf-32-le": "UTF-32 (little-endian)",
    "utf-32-be": "UTF-32 (big-endian)",
    "utf-16-le": "UTF-16 (little-endian)",
    "utf-16-be": "UTF-16 (big-endian)",
}
_SAVE: Final = "save it as UTF-8, without a byte order mark"
_BOM: Final = "\ufeff"


def decode(data: bytes) -> Decoded:
    """The text of a file that should be UTF-8 without a byte order mark. Never raises."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return _wide(data[len(mark) :], codec, "with a byte order mark")
    guess = _guess(data)
    return _wide(data, guess, "without a byte order mark") if guess else _narrow(data)


def check(text: str) -> Decoded:
    """The same for a text that was decoded before."""
    faults = []
    if text.startswith(_BOM):
        text = text[1:]
        faults.append(_byte_order_mark())
    return Decoded(text, (*faults, *_unpaired(text)))


def _guess(data: bytes) -> str | None:
    """UTF-16 or UTF-32 by the zero bytes among the first four, as JSON's first two characters are ASCII."""
    pattern = "".join("1" if byte else "x" for byte in data[:4])
    return next((codec for zeros, codec in _PATTERNS if zeros == pattern), None)


def _wide(data: bytes, codec: str, mark: str) -> Decoded:
    text = data.decode(codec, errors="replace")
    return Decoded(text, ((0, f"the text is {_NAMES[codec]}, {mark}; JSON is UTF-8", _SAVE),))


def _narrow(data: bytes) -> Decoded:
    text = data.decode("utf-8", errors="surrogateescape")
    faults = []
    if text.startswith(_BOM):
        text = text[1:]
        faults.append(_byte_order_mark())
    return Decoded(text, (*faults, *_invalid(data, text)))


def _byte_order_mark() -> Fault:
    return 0, "the text begins with a byte order mark (U+FEFF)", _SAVE


def _invalid(data: bytes, text: str) -> list[Fault]:
    """One fault for all bytes that are no UTF-8, at the first: they have one cause."""
    first = _UNDECODED.search(text)
    if first is None:
        return []
    at, byte = len(text[: first.start()].encode()) + data.startswith(codecs.BOM_UTF8) * 3, ord(first[0]) - 0xDC00
    meant = bytes([byte]).decode("cp1252", errors="replace")
    guess = f'in Windows-1252 it would be "{meant}": ' if meant.isalpha() else ""
    message = f"byte 0x{byte:02X} at offset {at:,} is not UTF-8{_more(text)}"
    return [(first.start(), message, f"{guess}{_SAVE}")]


def _unpaired(text: str) -> list[Fault]:
    first = _UNDECODED.search(text)
    if first is None:
        return []
    message = f"half of a surrogate pair, U+{ord(first[0]):04X}, is no character and has no UTF-8 form{_more(text)}"
    return [(first.start(), message, "write the whole character")]


def _more(text: str) -> str:
    count = len(_UNDECODED.findall(text)) - 1
    return f" ({count:,} more in this text)" if count else ""


def shown(text: str) -> str:
    """The text with U+FFFD for what could not be decoded: it can be printed, and every offset stays."""
    return text if text.isascii() else _UNDECODED.sub("\ufffd", text)
