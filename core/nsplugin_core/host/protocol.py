"""The lines between the core and a host: JSON, one array of messages a line (spec/core.md H1).

A message is an object whose ``t`` names it. Batches make a line: thousands of small messages cost one read.

To the host: ``hello`` (first), ``run``, ``request``, ``abort``, ``cancel``, ``reply``, ``stop``.
From it: ``pid`` (first, from a launcher), ``ready`` or ``failed``, ``done``, ``response``, ``call``, ``log``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

VERSION: Final = 1
MAX_LINE: Final = 4 << 20
"""The greatest length of a line in bytes, both ways. A longer one ends the connection."""
MAX_MESSAGE: Final = MAX_LINE - 16
BATCH_BYTES: Final = 256 << 10
"""Messages are gathered into lines of about this length."""

Message = dict[str, Any]

_encoder: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_decoder: Final = json.JSONDecoder(parse_constant=_no_constant)


class ProtocolError(Exception):
    """The other side sent what is no message. The text says what was wrong, never the bytes themselves."""


class TooLongError(ValueError):
    """A message that no line can hold."""


def encode(message: Message) -> str:
    """The JSON text of one message. Raises ``ValueError`` or ``TypeError`` for what is no JSON, or is too long."""
    text = _encoder.encode(message)
    if len(text) > MAX_MESSAGE:
        raise TooLongError(f"a message of {len(text):,} bytes is larger than {MAX_MESSAGE:,}")
    return text


def frame(texts: Iterable[str]) -> Iterator[bytes]:
    """Gather encoded messages into lines."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > BATCH_BYTES:
            yield _line(batch)
            batch, size = [], 0
        batch.append(text)
        size += len(text) + 1
    if batch:
        yield _line(batch)


def _line(batch: list[str]) -> bytes:
    return f"[{','.join(batch)}]\n".encode("ascii")


def decode(line: bytes) -> list[Message]:
    """The messages of a line. Raises :class:`ProtocolError` for anything else, however it was made."""
    try:
        messages = _decoder.decode(line.decode())
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a line that is no JSON ({type(error).__name__})") from None
    if type(messages) is not list or not all(type(item) is dict and type(item.get("t")) is str for item in messages):
        raise ProtocolError("a line that is no list of messages")
    return messages


class Lines:
    """Cuts a stream of bytes into lines of bounded length."""

    __slots__ = ("_limit", "_parts", "_size")

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes, without their line feeds. Raises :class:`ProtocolError` for a long one."""
        head, *tail = data.split(b"\n")
        self._keep(head)
        if not tail:
            return []
        lines = [b"".join(self._parts), *tail[:-1]]
        self._parts, self._size = [], 0
        self._keep(tail[-1])
        return lines

    def _keep(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._limit:
            raise ProtocolError(f"a line of more than {self._limit:,} bytes")


def integer(message: Message, key: str) -> int:
    """A whole number of a message. Raises :class:`ProtocolError`."""
    value = message.get(key)
    if type(value) is not int:
        raise ProtocolError(f"a {message['t']!r} message without a whole number {key!r}")
    return value


def text(message: Message, key: str, limit: int) -> str:
    """A text of a message, cut to ``limit`` characters, its surrogates and NULs replaced. Raises :class:`ProtocolError`."""
    value = message.get(key)
    if type(value) is not str:
        raise ProtocolError(f"a {message['t']!r} message without a text {key!r}")
    return clean(value[:limit])


def size_of(fields: Mapping[str, Any]) -> int:
    """How many bytes fields take as JSON. Raises :class:`ProtocolError` where they are none (a number past all bounds)."""
    try:
        return len(_encoder.encode(fields)) if fields else 0
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"fields that are no JSON ({type(error).__name__})") from None


def clean(value: str) -> str:
    """The text with what no database stores (NUL, lone surrogates) replaced by U+FFFD."""
    if value.isascii() and "\0" not in value:
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "\ufffd")
