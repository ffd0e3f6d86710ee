"""A thread for each loop: sleeps until there is work, and goes on whatever one round ran into."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final, Protocol

from nsplugin_core.clock import Clock
from nsplugin_core.store.errors import StoreUnavailable

FIRST_WAIT_MS: Final = 100
LONGEST_WAIT_MS: Final = 10_000
_logger: Final = logging.getLogger("nsplugin.engine")


class Worker(Protocol):
    """A loop's body."""

    def run_once(self, now_ms: int) -> int:
        """Do what is to be done at ``now_ms``; returns how much that was."""
        ...


class Loop:
    """Runs a worker in a thread: again at once while there is work, else when woken, due, or ``every_ms`` has passed."""

    def __init__(
        self, name: str, worker: Worker, clock: Clock, *, every_ms: int, next_due: Callable[[], int | None] | None = None
    ) -> None:
        self._worker, self._clock, self._every_ms, self._next_due = worker, clock, every_ms, next_due
        self.name = name
        self._wake, self._stop = threading.Event(), threading.Event()
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name=f"nsplugin-{name}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    @property
    def failing(self) -> bool:
        """Whether the last round failed: the database is away, or we have a fault."""
        return self._failures > 0

    def wake(self) -> None:
        """There may be work. Callable from any thread."""
        self._wake.set()

    def stop(self) -> None:
        """End after the round that is under way, and wait for that; nothing where it never began."""
        self._stop.set()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            until = self._round()
            if until is not None and not self._stop.is_set():
                self._clock.wait(self._wake, until)

    def _round(self) -> int | None:
        """One round; returns until when to sleep, or ``None`` to go on at once."""
        now = self._clock.now_ms()
        try:
            if self._worker.run_once(now):
                self._failures = 0
                return None
            due = self._next_due() if self._next_due is not None else None
        except StoreUnavailable as error:
            return self._failed(f"{self.name}: {error}", now)
        except Exception:
            _logger.exception("%s: a round failed", self.name)
            return self._failed(None, now)
        self._failures = 0
        latest = now + self._every_ms
        return latest if due is None else min(due, latest)

    def _failed(self, message: str | None, now: int) -> int:
        """Wait longer after each failure in a row; a database that restarts is back soon."""
        wait: int = min(FIRST_WAIT_MS * 2**self._failures, LONGEST_WAIT_MS)
        self._failures = min(self._failures + 1, 10)
        if message is not None:
            _logger.warning("%s; next try in %d ms", message, wait)
        self._stop.wait(wait / 1000)
        return now
