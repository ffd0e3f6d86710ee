"""Sees another process change the database file: SQLite has no word for that, but a counter that costs microseconds to read."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import Final

EVERY_SECONDS: Final = 0.01


class Watch:
    """A thread that calls ``wake`` whenever any connection has committed to the file."""

    def __init__(self, path: str, wake: Callable[[], None]) -> None:
        self._path, self._wake = path, wake
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nsplugin-watch", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        connection = sqlite3.connect(self._path, isolation_level=None)
        seen = None
        while not self._stop.wait(EVERY_SECONDS):
            version = _version(connection, seen)
            if seen is not None and version != seen:
                self._wake()
            seen = version
        connection.close()

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join()


def _version(connection: sqlite3.Connection, seen: int | None) -> int | None:
    try:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
    except sqlite3.Error:  # whatever the file is like now, tasks are looked for all the same: the next look may see more
        return seen
    return int(version)
