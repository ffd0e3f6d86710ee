"""What a plugin logs and prints, as records: bounded in length and rate, with the attempt that it came from."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from nsplugin_core.host.capabilities.secrets import Redactor
from nsplugin_core.host.protocol import clean, size_of
from nsplugin_core.host.settings import HostSettings

Level = Literal["debug", "info", "warning", "error"]
LEVELS: Final[tuple[Level, ...]] = ("debug", "info", "warning", "error")
Stream = Literal["log", "stdout", "stderr", "output", "traceback", "host"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One line of a plugin's log.

    ``stream``: "log" for ``ctx.log``, "stdout" and "stderr" for prints, "output" for what came past Python (a subprocess, C
    code), "traceback" for what a handler raised, "host" for what the host itself has to say. ``task_id``, ``job`` and
    ``attempt`` are ``None`` where the attempt is not known.
    """

    plugin: str
    level: Level
    message: str
    stream: Stream
    fields: Mapping[str, Any] = field(default_factory=dict)
    task_id: str | None = None
    job: str | None = None
    attempt: int | None = None


LogSink = Callable[[LogRecord], None]
"""Takes records from any thread and returns soon."""


def to_logging(record: LogRecord) -> None:
    """The sink that is used when none is given: the standard logger ``nsplugin.plugins``."""
    level = logging.getLevelNamesMapping()[record.level.upper()]
    logging.getLogger("nsplugin.plugins").log(level, "%s: %s", record.plugin, record.message, extra={"record": record})


class Bucket:
    """A token bucket: ``rate`` a second, ``burst`` at most."""

    __slots__ = ("_burst", "_left", "_rate", "_then")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate, self._burst = rate, burst
        self._left, self._then = burst, now

    def left(self, now: float) -> float:
        """The tokens there are at ``now`` (monotonic seconds)."""
        self._left = min(self._burst, self._left + (now - self._then) * self._rate)
        self._then = now
        return self._left

    def take(self, count: float) -> None:
        """Take tokens; the bucket may be overdrawn by the last take."""
        self._left -= count


class PluginLog:
    """The log of one plugin's host: counts, cuts and forwards. Safe from any thread; never raises what the sink raises."""

    def __init__(self, plugin: str, settings: HostSettings, sink: LogSink, redactor: Redactor) -> None:
        now = time.monotonic()
        self._plugin, self._sink, self._redactor = plugin, sink, redactor
        self._line_bytes = settings.log_line_bytes
        self._lines_rate = settings.log_lines_per_s
        self._lines = Bucket(settings.log_lines_per_s, settings.log_burst, now)
        self._bytes_rate = settings.log_bytes_per_s
        self._bytes = Bucket(settings.log_bytes_per_s, settings.log_bytes_per_s, now)
        self._exceeded = ""
        self._lock = threading.Lock()
        self._dropped = 0
        self._partial = b""
        self._cut = 0

    def host(self, level: Level, message: str) -> None:
        """A line about the host itself; never dropped."""
        self._emit(LogRecord(plugin=self._plugin, level=level, message=message, stream="host"))

    def write(self, record: LogRecord, dropped_before: int = 0) -> None:
        """A record of the plugin's, unless it logs too fast. ``dropped_before``: how many the host itself kept back.

        Raises ``ProtocolError`` for fields that no log can hold.
        """
        with self._lock:
            self._drop(dropped_before, f"{self._lines_rate:,}")
            dropped = self._admit(record)
        if dropped is None:
            return
        self._say_dropped(dropped)
        self._emit(record)

    def _admit(self, record: LogRecord) -> int | None:
        now = time.monotonic()
        if self._lines.left(now) < 1:
            self._drop(1, f"{self._lines_rate:,}")
            return None
        if self._bytes.left(now) <= 0:
            self._drop(1, f"{self._bytes_rate:,} bytes")
            return None
        self._lines.take(1)
        self._bytes.take(len(record.message) + size_of(record.fields))
        dropped, self._dropped = self._dropped, 0
        return dropped

    def _drop(self, count: int, exceeded: str) -> None:
        if count:
            self._dropped, self._exceeded = self._dropped + count, exceeded

    def output(self, data: bytes) -> None:
        """Raw bytes from the host's output; whole lines are logged, a line's end beyond the limit is counted and cut."""
        *lines, rest = data.split(b"\n")
        room = max(0, int(self._lines.left(time.monotonic())))
        for line in lines[:room]:
            self._keep(line)
            self._end_line()
        if len(lines) > room:
            self._drop(len(lines) - room, f"{self._lines_rate:,}")
            self._partial, self._cut = b"", 0
        self._keep(rest)

    def close(self) -> None:
        """Log what is left of an unfinished line, and how much was dropped last."""
        self._end_line()
        dropped, self._dropped = self._dropped, 0
        self._say_dropped(dropped)

    def _say_dropped(self, dropped: int) -> None:
        if dropped:
            self.host("warning", f"{dropped:,} lines dropped: the plugin logs more than {self._exceeded} a second")

    def _keep(self, data: bytes) -> None:
        room = self._line_bytes - len(self._partial)
        self._partial += data[:room]
        self._cut += max(0, len(data) - room)

    def _end_line(self) -> None:
        line, cut = self._partial, self._cut
        self._partial, self._cut = b"", 0
        if not line.strip():
            return
        message = clean(line.decode("utf-8", "replace")) + (f" … ({cut:,} more bytes)" if cut else "")
        self.write(LogRecord(plugin=self._plugin, level="info", message=message, stream="output"))

    def _emit(self, record: LogRecord) -> None:
        redact = self._redactor
        try:
            self._sink(replace(record, message=redact.text(record.message), fields=redact.plain(record.fields)))
        except Exception:
            logging.getLogger(__name__).exception("a log sink failed")
