"""What the plugin prints, as log records of the attempt that printed it."""

from __future__ import annotations

import io
import os
import time
from contextvars import ContextVar
from typing import Any, Final

from nsplugin_core.host.inside.wire import Wire

current: ContextVar[Any] = ContextVar("nsplugin_attempt", default=None)
"""The number of the attempt whose code is running."""

_MAX_LINE: Final = 8_000
_BURST: Final = 2_000


class Records:
    """Sends log records, at most so many a second: a flood costs the plugin its lines, and nobody else anything."""

    def __init__(self, wire: Wire, rate: int) -> None:
        self._wire, self._rate = wire, rate
        self._left: float = _BURST
        self._then = time.monotonic()
        self._dropped = 0

    def write(self, stream: str, level: str, message: str, fields: dict[str, Any]) -> None:
        """Send one record, from any thread."""
        now = time.monotonic()
        self._left = min(_BURST, self._left + (now - self._then) * self._rate)
        self._then = now
        if self._left < 1:
            self._dropped += 1
            return
        self._left -= 1
        record = {"t": "log", "id": current.get(), "stream": stream, "level": level, "message": message}
        dropped, self._dropped = self._dropped, 0
        self._wire.send(record | {"fields": fields, "dropped": dropped})


class Prints(io.TextIOBase):
    """``sys.stdout`` or ``sys.stderr``: whole lines become records; ``buffer`` and ``fileno`` lead to the raw output."""

    encoding = "utf-8"

    def __init__(self, records: Records, stream: str, level: str, fd: int) -> None:
        self._records, self._stream, self._level, self._fd = records, stream, level, fd
        self._parts: dict[Any, str] = {}
        self.buffer = io.FileIO(os.dup(fd), "w", closefd=True)

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """The raw output."""
        return self._fd

    def isatty(self) -> bool:
        """Never."""
        return False

    def reconfigure(self, **settings: Any) -> None:
        """What programs ask of a text stream; lines stay lines of UTF-8."""

    def write(self, text: str) -> int:
        """Keep the text until its line is whole."""
        who = current.get()
        *lines, rest = (self._parts.pop(who, "") + text).split("\n")
        for line in lines:
            self._line(line)
        if len(rest) > _MAX_LINE:
            self._line(rest)
        elif rest:
            self._parts[who] = rest
        return len(text)

    def end(self) -> None:
        """The attempt ends: what stands on its last line is logged."""
        rest = self._parts.pop(current.get(), "")
        if rest:
            self._line(rest)

    def _line(self, line: str) -> None:
        if line.strip():
            cut = f" … ({len(line) - _MAX_LINE:,} more characters)" if len(line) > _MAX_LINE else ""
            self._records.write(self._stream, self._level, line[:_MAX_LINE].rstrip("\r") + cut, {})
