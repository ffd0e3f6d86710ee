"""LISTEN and NOTIFY as a mere wake-up, sent after the commit, at most so often, by its own thread. Polling is the truth."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable
from typing import Any, Final

import psycopg
from psycopg import sql

EVERY_SECONDS: Final = 0.005
AGAIN_SECONDS: Final = 1.0


class Wakeups:
    """Tells other processes that there may be work, and hears it from them.

    A NOTIFY within the enqueuing transaction would make all commits wait for each other; this one is outside, and one
    stands for all the tasks of some milliseconds.
    """

    def __init__(
        self, connect: Callable[[], psycopg.Connection[Any]], *, channel: str, sender: str, wake: Callable[[], None]
    ) -> None:
        self._connect, self._channel, self._sender, self._wake = connect, channel, sender, wake
        self._news, self._stop = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}
        self._bell, self._ring = socket.socketpair()

    def announce(self) -> None:
        """Have the others woken soon. Returns at once."""
        self._news.set()
        self._start("nsplugin-notify", self._notify)

    def listen(self) -> None:
        """Hear the others from now on."""
        self._start("nsplugin-listen", self._listen)

    def close(self) -> None:
        """Send what is still to be told, and end the threads."""
        self._stop.set()
        telling = self._news.is_set()
        self._news.set()
        self._ring.close()
        for thread in self._threads.values():
            thread.join()
        self._bell.close()
        if telling:
            _quietly(self._tell_once)

    def _start(self, name: str, work: Callable[[], None]) -> None:
        if name in self._threads:
            return
        with self._lock:
            if name not in self._threads:
                thread = threading.Thread(target=lambda: self._keep(work), name=name, daemon=True)
                self._threads[name] = thread
                thread.start()

    def _keep(self, work: Callable[[], None]) -> None:
        """Run until stopped, with a new connection whenever the old one is gone; a wake-up lost meanwhile is polled for."""
        while not self._stop.is_set():
            if not _quietly(work):
                self._stop.wait(AGAIN_SECONDS)

    def _notify(self) -> None:
        with self._connect() as connection:
            connection.execute("SET synchronous_commit = off")
            while not self._stop.is_set():
                self._news.wait()
                if not self._stop.is_set():
                    self._news.clear()
                    self._tell(connection)
                    self._stop.wait(EVERY_SECONDS)

    def _tell_once(self) -> None:
        with self._connect() as connection:
            self._tell(connection)

    def _tell(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute("SELECT pg_notify(%s, %s)", (self._channel, self._sender))

    def _listen(self) -> None:
        with self._connect() as connection, selectors.DefaultSelector() as ready:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
            self._wake()
            ready.register(connection, selectors.EVENT_READ)
            ready.register(self._bell, selectors.EVENT_READ)
            while not self._stop.is_set():
                ready.select()
                if any(heard.payload != self._sender for heard in list(connection.notifies(timeout=0))):
                    self._wake()


def _quietly(work: Callable[[], None]) -> bool:
    try:
        work()
    except psycopg.Error:
        return False
    return True
