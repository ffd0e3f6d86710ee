"""TypeScript source as text: what is no source at all, the first place that does not parse, comments that silence findings."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from nsplugin.rules._family import Found
from nsplugin.spans import Position, Span
from nsplugin_cli.facts import Ignore
from nsplugin_cli.source.typescript_module import Module

MAX_BYTES: Final = 1 << 20
"""A larger file is not read: no plugin is written in one."""

_BOM: Final = b"\xef\xbb\xbf"


class Unreadable(Exception):
    """Carries the one fault of a file that cannot be read."""

    def __init__(self, message: str, span: Span, hint: str | None = None) -> None:
        super().__init__(message)
        self.fault = Found(pointer="", message=message, hint=hint, span=span)


def decode(data: bytes) -> bytes:
    """The file's UTF-8 without a byte order mark. Raises :class:`Unreadable`."""
    if len(data) > MAX_BYTES:
        raise Unreadable(f"this file has more than {MAX_BYTES} bytes, the most that are read", Span(1, 1, 1, 1))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("this file is UTF-16", Span(1, 1, 1, 1), "save it as UTF-8")
    body = data.removeprefix(_BOM)
    nul = body.find(b"\0")
    if nul >= 0:
        raise Unreadable("this file holds a NUL byte, so it is no source text", _at(body, nul))
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte 0x{body[error.start]:02x} is not UTF-8", _at(body, error.start), "save it as UTF-8") from None
    return body


def _at(data: bytes, offset: int) -> Span:
    before = data[:offset].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Span(line, column, line, column + 1)


def syntax_fault(module: Module) -> Found | None:
    """The first place that does not parse, or ``None``."""
    node = next(module.errors(), None)
    if node is None:
        return None
    start = module.position(node.start_byte)
    end = module.position(node.end_byte)
    if end.line != start.line or end.column == start.column:
        end = Position(start.line, start.column + 1)
    return Found(pointer="", message=_said(module, node), span=Span(*start, *end))


def _said(module: Module, node: Node) -> str:
    language = "JavaScript" if module.path.lower().endswith((".js", ".mjs", ".cjs", ".jsx")) else "TypeScript"
    if node.is_missing:
        return f"this is no valid {language}: {node.type} is missing here"
    text = module.text(node).split("\n")[0].strip()
    shown = text if len(text) <= 30 else text[:29] + "…"
    return f"this is no valid {language}, from {shown!r} on" if shown else f"this is no valid {language}"


def ignores(module: Module) -> tuple[Ignore, ...]:
    """The comments that silence findings on their line."""
    if b"nsplugin:" not in module.data:
        return ()
    from nsplugin_cli.source.suppress import read_comment

    found = []
    for node in module.captured.get("comment", ()):
        start = module.position(node.start_byte)
        ignore = read_comment(module.text(node), start.line, start.column)
        if ignore is not None:
            found.append(ignore)
    return tuple(found)
