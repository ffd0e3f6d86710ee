"""Runs a plugin's entry in a child process with a time limit, and tells how that went, whatever the plugin does."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from nsplugin.record import field, record

KEPT: Final = 64 * 1024
"""Bytes of what a plugin prints that are shown, for each of its two streams."""
MAX_REPORT: Final = 32 * 1024 * 1024
MAX_LEFT: Final = 64
"""How often what an ended child left in its pipes is read: a grandchild that escaped may write for ever."""
ALARM: Final = 0.9
"""The part of the time limit after which the child notes where it is."""
START: Final = "from nsplugin_cli.source.child import main; main()"


@record
class Request:
    """What to import. ``file`` is where the module is expected; ``platform`` is a name, or ``None`` to guess."""

    folder: str
    module: str
    file: str | None
    attribute: str | None
    platform: str | None
    project: Mapping[str, str]
    seconds: float


@record(kw_only=False, frozen=False)
class Stream:
    """What came through a pipe: the first ``limit`` bytes and how many there were in all."""

    limit: int
    kept: bytearray = field(default_factory=bytearray)
    total: int = 0

    def take(self, data: bytes) -> None:
        """Note some bytes."""
        self.total += len(data)
        self.kept += data[: max(0, self.limit - len(self.kept))]

    @property
    def text(self) -> str:
        """What was kept, decoded; bytes that are not UTF-8 become the replacement character."""
        return self.kept.decode("utf-8", "replace")


@record
class Outcome:
    """How it went. ``kind``: "defined", "raised", "absent", "shadowed", "failed" (as the child reports them in ``detail``), or
    "timed-out" and "died" (as seen from outside). ``stack``: (file, line) of what ran when it hung or crashed, deepest first.
    """

    kind: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    stdout: Stream
    stderr: Stream
    stack: tuple[tuple[str, int], ...] = ()


def load(request: Request) -> Outcome:
    """Import in a child, wait for its report or its end, end everything it started in its process group."""
    nonce = os.urandom(16).hex()
    report, report_end = os.pipe()
    trace, trace_end = os.pipe()
    parent_end, parent = os.pipe()
    try:
        process = _start(request, nonce, report_end, trace_end, parent_end)
    finally:
        for descriptor in (report_end, trace_end, parent_end):
            os.close(descriptor)
    watch = _Watch(process, nonce, report, trace, parent)
    try:
        timed_out = not watch.until(time.monotonic() + request.seconds)
    finally:
        watch.stop()
    return _outcome(watch, timed_out)


def _start(request: Request, nonce: str, report: int, trace: int, parent: int) -> subprocess.Popen[bytes]:
    values = {
        "folder": request.folder,
        "module": request.module,
        "file": request.file,
        "attribute": request.attribute,
        "platform": request.platform,
        "project": dict(request.project),
        "alarm": time.monotonic() + request.seconds * ALARM,
        "deadline": time.monotonic() + request.seconds,
        "nonce": nonce,
        "report": report,
        "trace": trace,
        "parent": parent,
    }
    return subprocess.Popen(
        [sys.executable, "-P", "-X", "utf8", "-c", START, json.dumps(values)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(report, trace, parent),
        cwd=request.folder,
        env=_environment(),
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    """Ours, but the order of sets is the same in each run, and docstrings, which go into schemas, are kept."""
    return {**{key: value for key, value in os.environ.items() if key != "PYTHONOPTIMIZE"}, "PYTHONHASHSEED": "0"}


class _Watch:
    """Reads the child's four pipes until it has reported or ended; a pipe that a grandchild holds open delays nothing.

    ``parent``: the end of a fifth pipe, which closes when this process ends in whatever way (see ``child._start_guard``).
    """

    def __init__(self, process: subprocess.Popen[bytes], nonce: str, report: int, trace: int, parent: int) -> None:
        assert process.stdout is not None and process.stderr is not None
        self.process = process
        self.nonce = nonce.encode()
        self.report, self.trace = Stream(MAX_REPORT), Stream(KEPT)
        self.stdout, self.stderr = Stream(KEPT), Stream(KEPT)
        self.result: dict[str, Any] | None = None
        self._searched = 0
        self._body: tuple[int, int] | None = None
        self._selector = selectors.DefaultSelector()
        pipes = (report, trace, process.stdout.fileno(), process.stderr.fileno())
        for pipe, stream in zip(pipes, (self.report, self.trace, self.stdout, self.stderr), strict=True):
            os.set_blocking(pipe, False)
            self._selector.register(pipe, selectors.EVENT_READ, stream)
        self._own = (report, trace, parent)

    def until(self, deadline: float) -> bool:
        """Wait; whether the child reported or ended in time."""
        while self.result is None and self.process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._read(min(left, 0.05))
            self._parse()
        return True

    def stop(self) -> None:
        """End the child's process group, take what still lies in the pipes, close them."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self.process.kill()
        self.process.wait()
        for _ in range(MAX_LEFT):
            if not self._read(0):
                break
        self._parse()
        self._selector.close()
        for pipe in self._own:
            os.close(pipe)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def _read(self, seconds: float) -> bool:
        ready = self._selector.select(seconds)
        for key, _ in ready:
            data = os.read(key.fd, 1 << 16)
            if data:
                key.data.take(data)
            else:
                self._selector.unregister(key.fd)
        return bool(ready) and bool(self._selector.get_map())

    def _parse(self) -> None:
        """Take the report once it is whole. What has come is not looked through again at each read."""
        kept = self.report.kept
        if self._body is None:
            start = kept.find(self.nonce, self._searched)
            end = kept.find(b"\n", start) if start >= 0 else -1
            self._searched = max(0, len(kept) - len(self.nonce)) if start < 0 else start
            if end < 0:
                return
            self._body = end + 1, int(kept[start:end].split()[1])
        begin, size = self._body
        if len(kept) >= begin + size:
            self.result = json.loads(kept[begin : begin + size])

    @property
    def overflown(self) -> bool:
        """Whether more was reported than is read."""
        return self.report.total > self.report.limit


_FRAME: Final = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)


def _outcome(watch: _Watch, timed_out: bool) -> Outcome:
    stack = tuple(_stack(watch.trace.text))
    if watch.result is not None:
        kind, detail = watch.result.pop("kind"), watch.result
        return Outcome(kind=kind, detail=detail, stdout=watch.stdout, stderr=watch.stderr)
    if timed_out:
        return Outcome(kind="timed-out", stdout=watch.stdout, stderr=watch.stderr, stack=stack)
    detail = {"code": watch.process.returncode, "overflown": watch.overflown}
    return Outcome(kind="died", detail=detail, stdout=watch.stdout, stderr=watch.stderr, stack=stack)


def _stack(trace: str) -> Iterator[tuple[str, int]]:
    for match in _FRAME.finditer(trace):
        yield match[1], int(match[2])
