"""The pipes of one host: a loop that reads its messages and its output and writes to it, and never blocks on it."""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from subprocess import Popen
from typing import Final

from nsplugin_core.host.logs import Bucket
from nsplugin_core.host.protocol import Lines, Message, ProtocolError, decode, frame

_CHUNK: Final = 64 << 10
_TICK_S: Final = 0.2
"""How often an exit is looked for where the system has no pidfd."""
_DEAF_S: Final = 1.0
"""How long a host that closed its connection may take to exit."""
_MAX_UNREAD: Final = 32 << 20
"""How many bytes wait for a host that does not read."""
_LAST_WORDS: Final = 4 << 20
"""How many bytes of an exited host are still read."""


class Misbehaved(Exception):
    """The host must be ended; the text says what it did."""


class Channel:
    """Owns the pipes of a child. ``run`` is the loop of the host's thread; ``send`` may be called from any thread.

    ``messages`` takes each batch that was read; ``output`` what the child printed past Python.
    """

    def __init__(
        self,
        process: Popen[bytes],
        messages: Callable[[list[Message]], None],
        output: Callable[[bytes], None],
        output_bytes_per_s: int,
    ) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self._messages, self._output = messages, output
        self._in, self._out, self._log = (pipe.fileno() for pipe in (process.stdin, process.stdout, process.stderr))
        self._selector = selectors.DefaultSelector()
        self._wake_r, self._wake_w = os.pipe()
        self._pidfd = _pidfd(process.pid)
        self._lines = Lines()
        self._budget = Bucket(output_bytes_per_s, output_bytes_per_s, time.monotonic())
        self._outbox: deque[str] = deque()
        self._pending = memoryview(b"")
        self._unread = 0
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._woken = False
        self._closed = False
        self._ended = False
        self._deaf_at: float | None = None
        self._muted = False
        self._register()

    def _register(self) -> None:
        for fd, action in ((self._out, self._read), (self._log, self._read_log), (self._wake_r, self._awake)):
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ, action)
        os.set_blocking(self._in, False)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ, self._end)

    def send(self, texts: Iterable[str]) -> None:
        """Write encoded messages soon. What is sent to a host that is gone is dropped: its attempts are deferred anyway."""
        for text in texts:
            self._unread += len(text)
            self._outbox.append(text)
        if threading.get_ident() != self._thread:
            self.wake()

    def wake(self) -> None:
        """Make the loop look around."""
        with self._lock:
            if not self._woken and not self._closed:
                self._woken = True
                os.write(self._wake_w, b"\0")

    def run(self) -> None:
        """Read and write until the child has exited. Raises :class:`Misbehaved` when it must be ended instead."""
        try:
            while not self._ended:
                if self._outbox or self._pending:
                    self._write()
                self._look_around(time.monotonic())
                for key, _ in self._selector.select(self._timeout()):
                    key.data()
            self._last_words()
        except ProtocolError as error:
            raise Misbehaved(f"it sent {error}") from None

    def _timeout(self) -> float | None:
        return _TICK_S if self._pidfd is None or self._muted or self._deaf_at is not None else None

    def _look_around(self, now: float) -> None:
        if self._pidfd is None and self._process.poll() is not None:
            self._ended = True
        if self._muted and self._budget.left(now) > 0:
            self._muted = False
            self._selector.register(self._log, selectors.EVENT_READ, self._read_log)
        if self._unread > _MAX_UNREAD:
            raise Misbehaved(f"it left more than {_MAX_UNREAD:,} bytes of the core's answers unread")
        if self._deaf_at is not None and now >= self._deaf_at and not self._ended:
            raise Misbehaved("it closed its connection to the core")

    def _read(self) -> None:
        data = _receive(self._out)
        if data:
            self._take(data)
        elif data is not None:
            self._selector.unregister(self._out)
            self._deaf_at = time.monotonic() + _DEAF_S

    def _read_log(self) -> None:
        data = _receive(self._log)
        if data:
            self._budget.take(len(data))
            self._output(data)
        if data == b"" or self._budget.left(time.monotonic()) <= 0:
            self._selector.unregister(self._log)
            self._muted = data != b""

    def _awake(self) -> None:
        os.read(self._wake_r, 64)
        with self._lock:
            self._woken = False

    def _end(self) -> None:
        self._ended = True

    def _write(self) -> None:
        try:
            while self._pending or self._fill():
                self._pending = self._pending[os.write(self._in, self._pending) :]
            self._await_room(False)
        except BlockingIOError:
            self._await_room(True)
        except BrokenPipeError:
            self._outbox.clear()
            self._pending = memoryview(b"")
            self._await_room(False)

    def _fill(self) -> bool:
        texts = [self._outbox.popleft() for _ in range(len(self._outbox))]
        self._unread = sum(map(len, texts))
        self._pending = memoryview(b"".join(frame(texts)))
        return bool(texts)

    def _await_room(self, wanted: bool) -> None:
        registered = self._in in self._selector.get_map()
        if wanted and not registered:
            self._selector.register(self._in, selectors.EVENT_WRITE, _nothing)
        elif registered and not wanted:
            self._selector.unregister(self._in)

    def _last_words(self) -> None:
        for fd, take in ((self._out, self._take), (self._log, self._output)):
            left = _LAST_WORDS
            while left > 0 and (data := _receive(fd)):
                take(data)
                left -= len(data)

    def _take(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            self._messages(decode(line))

    def close(self) -> None:
        """Close every descriptor that belongs to the child."""
        with self._lock:
            self._closed = True
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        for fd in (self._wake_r, self._wake_w, *(() if self._pidfd is None else (self._pidfd,))):
            os.close(fd)


def _receive(fd: int) -> bytes | None:
    """Some bytes; ``b""`` at the end, ``None`` when there are none now."""
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _nothing() -> None:
    """Room to write is used after every round of the loop."""


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
