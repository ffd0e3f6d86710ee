"""The host's end of the pipes to the core."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from typing import Final, NoReturn

from nsplugin_core.host.protocol import Lines, Message, ProtocolError, decode, encode, frame

_CHUNK: Final = 64 << 10

GONE: Final = 0
"""Exit code when the core is gone, or the plugin closed our pipes."""
CONFUSED: Final = 70
"""Exit code when the core sends what is no message."""
BROKEN: Final = 71
"""Exit code when the host itself can't go on, for want of memory or threads."""


class Wire:
    """Sends messages to the core and reads the core's. What is sent from the loop's thread is gathered until it comes round."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd, self._write_fd = read_fd, write_fd
        self._lines = Lines()
        self._outbox: list[str] = []
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0
        self._planned = False

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Gather what the loop's thread sends; called in that thread."""
        self._loop, self._loop_thread = loop, threading.get_ident()

    def receive(self) -> list[Message]:
        """The next messages; blocks. Ends the process when the core is gone, or speaks another language."""
        while True:
            data = self._read()
            try:
                messages = [message for line in self._lines.feed(data) for message in decode(line)]
            except ProtocolError:
                leave(CONFUSED)
            if messages:
                return messages

    def _read(self) -> bytes:
        try:
            data = os.read(self._read_fd, _CHUNK)
        except OSError:
            leave(GONE)
        return data or leave(GONE)

    def send(self, message: Message) -> None:
        """Send a message. Raises ``ValueError`` or ``TypeError`` when it is no JSON, or too long."""
        self.send_text(encode(message))

    def send_text(self, text: str) -> None:
        """Send an encoded message."""
        with self._lock:
            self._outbox.append(text)
            if self._loop is not None and threading.get_ident() == self._loop_thread:
                if not self._planned:
                    self._planned = True
                    self._loop.call_soon(self.flush)
                return
        self.flush()

    def flush(self) -> None:
        """Write what was gathered. Ends the process when the core is gone."""
        with self._writing:
            with self._lock:
                texts, self._outbox = self._outbox, []
                self._planned = False
            for line in frame(texts):
                self._write(memoryview(line))

    def _write(self, left: memoryview) -> None:
        try:
            while left:
                left = left[os.write(self._write_fd, left) :]
        except OSError:
            leave(GONE)

    def forget(self) -> None:
        """In a forked process: the pipes belong to the host, not to its children."""
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (self._read_fd, self._write_fd):
            os.dup2(nothing, fd, inheritable=False)
        os.close(nothing)
        self._lock, self._writing = threading.Lock(), threading.Lock()


def leave(code: int) -> NoReturn:
    """End at once, without what a plugin registered for its exit."""
    os._exit(code)


def give_up() -> NoReturn:
    """Our own code failed: say how past everything the plugin may have replaced, and end, so that attempts are given back."""
    try:
        os.write(2, f"the host failed: {traceback.format_exc()}".encode(errors="replace"))
    finally:
        leave(BROKEN)
