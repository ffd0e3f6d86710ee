"""TypeScript source as bytes: what is no source at all. Needs no parser."""

from __future__ import annotations

import re
from typing import Final

from nsplugin.rules._family import Found
from nsplugin.spans import Span

MAX_BYTES: Final = 1 << 20
"""A larger file is not read: no plugin is written in one."""

_BOM: Final = b"\xef\xbb\xbf"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_ALONE: Final = re.compile(rb"\r(?!\n)")
"""A line end of the language that the grammar does not know: a comment would go on to the end of the file."""
_DEEP: Final = re.compile(rb"[\[({]{500}")


class Unreadable(Exception):
    """Carries the one fault of a file that cannot be read."""

    def __init__(self, message: str, span: Span, hint: str | None = None) -> None:
        super().__init__(message)
        self.fault = Found(pointer="", message=message, hint=hint, span=span)


def decode(data: bytes) -> bytes:
    """The file's UTF-8 without a byte order mark. Raises :class:`Unreadable`."""
    if len(data) > MAX_BYTES:
        raise Unreadable(f"this file has more than {MAX_BYTES} bytes, the most that are read", Span(1, 1, 1, 1))
    if data.startswith(_UTF_16):
        raise Unreadable("this file is UTF-16", Span(1, 1, 1, 1), "save it as UTF-8")
    body = data.removeprefix(_BOM)
    nul = body.find(b"\0")
    if nul >= 0:
        raise Unreadable("this file holds a NUL byte, so it is no source text", _at(body, nul))
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte 0x{body[error.start]:02x} is not UTF-8", _at(body, error.start), "save it as UTF-8") from None
    return _ALONE.sub(b"\n", body) if b"\r" in body else body


def _at(data: bytes, offset: int) -> Span:
    before = data[:offset].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Span(line, column, line, column + 1)


def is_utf_16(data: bytes) -> bool:
    """Whether a byte order mark says so."""
    return data.startswith(_UTF_16)


def why_no_source(data: bytes) -> str | None:
    """Why bytes that name no definer are not even another program's text, or ``None``.

    Text in an old encoding may well be another program, and what is too large is mostly a bundle.
    """
    if len(data) > MAX_BYTES or is_utf_16(data):
        return None
    if b"\0" in data:
        return "it is binary"
    return "it is nested too deeply" if _DEEP.search(data) is not None else None
