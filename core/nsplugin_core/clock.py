"""Time, handed in: the engine reads no other clock (spec/core.md Q5)."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """UTC milliseconds, and waiting for an event or a moment, whichever comes first."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        ...

    def wait(self, event: threading.Event, until: int | None) -> None:
        """Return when ``event`` is set or at ``until`` (UTC ms; ``None``: only the event ends the wait)."""
        ...


class SystemClock:
    """The machine's clock."""

    __slots__ = ()

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        return time.time_ns() // 1_000_000

    def wait(self, event: threading.Event, until: int | None) -> None:
        """Return when ``event`` is set or at ``until`` (UTC ms)."""
        if until is None:
            event.wait()
        else:
            event.wait(max(0.0, until / 1000 - time.time()))


class VirtualClock:
    """A clock that moves only when told to, or when something waits on it."""

    __slots__ = ("_now",)

    def __init__(self, now_ms: int) -> None:
        self._now = now_ms

    def now_ms(self) -> int:
        """The virtual time in UTC milliseconds."""
        return self._now

    def advance_to(self, moment: int) -> None:
        """Move on to ``moment`` (UTC ms). Raises ``ValueError`` when that lies in the past."""
        if moment < self._now:
            raise ValueError(f"the clock can't go back from {self._now} to {moment}")
        self._now = moment

    def wait(self, event: threading.Event, until: int | None) -> None:
        """Jump to ``until`` unless ``event`` is set; without ``until`` really wait for the event."""
        if until is None:
            event.wait()
        elif not event.is_set():
            self._now = max(self._now, until)
