"""Python source as text: encodings, lines, positions in characters, and a parse that always ends in a tree or one fault."""

from __future__ import annotations

import ast
import codecs
import gc
import re
import warnings
from contextlib import suppress
from typing import Final

from nsplugin.lazy import pattern
from nsplugin.record import record
from nsplugin.rules._family import Found
from nsplugin.spans import Position, Span

MAX_BYTES: Final = 1 << 20
"""A larger file is not read: no plugin is written in one, and a tree takes hundreds of times the memory of its text."""

_BOM: Final = b"\xef\xbb\xbf"
_COOKIE: Final = pattern(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_BLANK: Final = pattern(rb"^[ \t\f]*(?:#.*)?$")
_SLOW: Final = frozenset({"punycode", "idna"})
"""Codecs that no source is written in and whose time grows with the square of the length."""


class Text:
    """Decoded source with line ends as ``\\n``, and the way from a tree's positions (UTF-8 bytes from 0) to spans."""

    __slots__ = ("lines", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")

    def column(self, line: int, offset: int) -> int:
        """The column, in characters from 1, of a byte offset in a line."""
        text = self.lines[line - 1]
        if text.isascii():
            return offset + 1
        return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1

    def start(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias | ast.arg) -> Position:
        """Where a node begins."""
        return Position(node.lineno, self.column(node.lineno, node.col_offset))

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias | ast.arg) -> Span:
        """The whole stretch of a node."""
        end_line, end_offset = node.end_lineno, node.end_col_offset
        if end_line is None or end_offset is None:
            return Span(*self.start(node), *self.start(node))
        if self.lines[node.lineno - 1].isascii() and self.lines[end_line - 1].isascii():
            return Span(node.lineno, node.col_offset + 1, end_line, end_offset + 1)
        return Span(*self.start(node), end_line, self.column(end_line, end_offset))

    def name_span(self, node: ast.AST) -> Span:
        """The stretch of what names an argument: the name before ``=``, else the whole node."""
        if not isinstance(node, ast.keyword) or node.arg is None:
            return self.span_of(node)
        line, column = self.start(node)
        return Span(line, column, line, column + len(node.arg))

    def written(self, node: ast.expr) -> str:
        """An expression as its author wrote it, on one line."""
        span = self.span(node)
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column - 1 : span.end_column - 1]
        return ast.unparse(node)

    def span_of(self, node: ast.AST) -> Span:
        """The whole stretch of a node of any kind; the first line for one that has no place."""
        if isinstance(node, (ast.expr, ast.stmt, ast.keyword, ast.alias, ast.arg)) and hasattr(node, "lineno"):
            return self.span(node)
        return Span(1, 1, 1, len(self.lines[0]) + 1)


@record(kw_only=False)
class Unreadable(Exception):
    """Carries the one fault of a file that cannot be read."""

    fault: Found


def decode(data: bytes) -> Text:
    """The text of a source file, as the interpreter would decode it. Raises :class:`Unreadable`."""
    if len(data) > MAX_BYTES:
        raise _unreadable(f"this file has more than {MAX_BYTES} bytes, the most that are read", Span(1, 1, 1, 1))
    body = data.removeprefix(_BOM)
    codec = _declared(body) or "utf-8"
    if body is not data and codec.lower().replace("_", "-") not in ("utf-8", "utf8", "utf-8-sig"):
        message = f"this file starts with the byte order mark of UTF-8, but says that it is {codec}"
        raise _unreadable(message, Span(1, 1, 1, 2), "remove one of the two")
    source = _decoded(body, codec)
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
    nul = source.find("\0")
    if nul >= 0:
        raise _unreadable("this file holds a NUL byte, so it is no Python source", _at(source, nul))
    return Text(source)


def _declared(body: bytes) -> str | None:
    head = body[:500]
    if b"coding" not in head:
        return None
    lines = re.split(rb"\r\n|\r|\n", head, maxsplit=2)
    for line in lines[:2]:
        match = _COOKIE.match(line)
        if match:
            return match[1].decode("ascii")
        if not _BLANK.match(line):
            return None
    return None


def _decoded(body: bytes, codec: str) -> str:
    try:
        if codecs.lookup(codec).name in _SLOW:  # by its own name: the registry takes others for it, such as "punycode-"
            raise LookupError(codec)
        return body.decode(codec)
    except UnicodeDecodeError as error:
        before = body[: error.start].decode(codec, "replace").replace("\r\n", "\n").replace("\r", "\n")
        message = f"this file is not {codec}: byte 0x{body[error.start]:02x} cannot be decoded"
        hint = "save it as UTF-8" if codec == "utf-8" else "save it as UTF-8 and remove the line that names the encoding"
        raise _unreadable(message, _at(before, len(before)), hint) from None
    except (LookupError, ValueError):
        line = 1 + (_COOKIE.match(body.splitlines()[0]) is None)
        message = f"the encoding {codec!r} is not known"
        raise _unreadable(message, Span(line, 1, line, 2), "save the file as UTF-8 and remove this line") from None


def parse(text: Text) -> ast.Module:
    """The tree of a text. Raises :class:`Unreadable`, whatever the text is."""
    collecting = gc.isenabled()
    gc.disable()  # a tree is all new objects and no garbage: collections during the parse cost twice the parse
    try:
        return _parsed(text.source)
    except SyntaxError as error:
        raise _unreadable(f"this file does not parse: {error.msg}", _place(text, error)) from None
    except (RecursionError, MemoryError):
        hint = "split the expression or statement on this line"
        raise _unreadable("this file is nested too deeply to be read", _longest(text), hint) from None
    except ValueError as error:
        raise _unreadable(f"this file does not parse: {error}", Span(1, 1, 1, 1)) from None
    finally:
        if collecting:
            gc.enable()


def _parsed(source: str) -> ast.Module:
    """Parse without a word about what is only doubtful (``"\\d"``), also where warnings are errors."""
    if "\\" not in source:
        with suppress(SyntaxError):
            return ast.parse(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def _place(text: Text, error: SyntaxError) -> Span:
    line = min(max(error.lineno or 1, 1), len(text.lines))
    column = min(max(error.offset or 1, 1), len(text.lines[line - 1]) + 1)
    end_line = min(max(error.end_lineno or line, line), len(text.lines))
    end = error.end_offset or 0
    if end_line == line and end <= column:
        end = column + 1
    return Span(line, column, end_line, max(end, 1))


def _longest(text: Text) -> Span:
    line = max(range(len(text.lines)), key=lambda index: len(text.lines[index]))
    return Span(line + 1, 1, line + 1, len(text.lines[line]) + 1)


def _at(source: str, offset: int) -> Span:
    line = source.count("\n", 0, offset) + 1
    column = offset - source.rfind("\n", 0, offset)
    return Span(line, column, line, column + 1)


def _unreadable(message: str, span: Span, hint: str | None = None) -> Unreadable:
    return Unreadable(Found(pointer="", message=message, hint=hint, span=span))
