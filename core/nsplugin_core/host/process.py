"""One host from the core's side: its process, its thread, what it runs, and what it asks for (spec/core.md H1-H4)."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from math import inf
from pathlib import Path
from typing import Final, Literal

from nsplugin.runtime.desk import Visit
from nsplugin_core.attempts import Attempt, Deliver
from nsplugin_core.clock import Clock
from nsplugin_core.host import launch
from nsplugin_core.host.capabilities.answers import Answers, reply
from nsplugin_core.host.capabilities.secrets import Redactor
from nsplugin_core.host.channel import Channel, Misbehaved
from nsplugin_core.host.logs import LEVELS, LogRecord, LogSink, PluginLog
from nsplugin_core.host.protocol import VERSION, Message, ProtocolError, clean, encode, integer, text
from nsplugin_core.host.routes import RouteRequest, RouteResponse
from nsplugin_core.host.settings import HostSettings, PluginSource
from nsplugin_core.host.table import Effects, HostFailed, Work, WorkTable, refusals

_logger: Final = logging.getLogger(__name__)
State = Literal["starting", "ready", "retiring", "ended"]
_MAX_ERROR: Final = 2_000


class HostProcess:
    """A host's process. All methods may be called from any thread and none blocks.

    ``changed`` is called (from any thread) when the state does. After ``ended``, ``reason`` says why, and ``blamed`` whether
    it was the plugin's fault that another start should wait.
    """

    def __init__(
        self,
        source: PluginSource,
        settings: HostSettings,
        answers: Answers,
        sink: LogSink,
        clock: Clock,
        changed: Callable[[HostProcess], None],
    ) -> None:
        self.source, self.state, self.reason, self.blamed = source, "starting", "", True
        self.successor = False
        self.started = time.monotonic()
        self.last_work = self.started
        self.pid: int | None = None
        self._settings, self._answers, self._changed = settings, answers, changed
        self._redactor = Redactor(source.secrets.values())
        self._log = PluginLog(source.id, settings, sink, self._redactor)
        self._lock = threading.RLock()
        self._table = WorkTable(settings, clock)
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._inner: int | None = None
        self._why: str | None = None
        self._leave_by = inf
        self._early: list[tuple[str, RouteRequest, Future[RouteResponse]]] = []
        self._calls = 0
        self._threads: ThreadPoolExecutor | None = None
        self._thread = threading.Thread(target=self._main, name=f"host-{source.id}", daemon=True)

    state: State

    def begin(self) -> None:
        """Start the process, in a thread of its own."""
        self._thread.start()

    def free(self) -> int:
        """How many attempts may come."""
        with self._lock:
            return self._table.free() if self.state == "ready" else 0

    def running(self) -> int:
        """How many attempts and requests it has."""
        with self._lock:
            return len(self._table)

    def add(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        """Run attempts; a host that can't, gives them back."""
        self._do(lambda now: self._added(attempts, deliver, now))

    def _added(self, attempts: Sequence[Attempt], deliver: Deliver, now: float) -> Effects:
        """While the host starts, attempts whose time-outs allow it wait for that."""
        self.last_work = now
        patient_ms = self._settings.start_s * 1000 if self._settings.enforce_deadlines else 0.0
        least = {"ready": 0.0, "starting": patient_ms}.get(self.state, inf)
        taken = [attempt for attempt in attempts if attempt.timeout_ms >= least]
        effects = self._table.add(taken, deliver, now)
        refused = refusals([each for each in attempts if each.timeout_ms < least], self.reason or f"its host is {self.state}")
        if refused:
            effects.outcomes.setdefault(deliver, []).extend(refused)
        return effects

    def request(self, route: str, request: RouteRequest, answer: Future[RouteResponse]) -> None:
        """Call a route's handler; ``answer`` gets the response, or :class:`HostFailed`."""
        self._do(lambda now: self._requested(route, request, answer, now))

    def _requested(self, route: str, request: RouteRequest, answer: Future[RouteResponse], now: float) -> Effects:
        self.last_work = now
        if self.state == "ready":
            return self._table.request(route, request, answer, now)
        if self.state == "starting":
            self._early.append((route, request, answer))
            return Effects()
        error = HostFailed(self.reason or f"the plugin's host is {self.state}", "HOST_UNAVAILABLE")
        return Effects(answers=[lambda: answer.set_exception(error)])

    def cancel(self, task_id: str, claim: int) -> None:
        """Give up an attempt; the host is killed when it goes on after the grace."""
        self._do(lambda now: self._table.cancel(task_id, claim, now))

    def retire(self, reason: str, *, successor: bool) -> None:
        """Take no more work, finish what runs, then end; the plugin is not to blame. ``successor``: another takes its place."""
        self.successor = successor
        self._do(lambda now: self._retired(reason))
        self._changed(self)

    def _retired(self, reason: str) -> Effects:
        if self.state in ("starting", "ready"):
            self.state, self.reason, self.blamed = "retiring", reason, False
        effects = self._table.defer_waiting(reason)
        self._stop_when_empty(effects)
        return effects

    def tick(self, now: float) -> float:
        """Do what time brings; returns the next moment at which to look (monotonic seconds)."""
        moment = inf

        def ticked(now: float) -> Effects:
            nonlocal moment
            effects, moment = self._table.tick(now)
            return effects

        self._do(ticked, now)
        if self.state == "starting":
            moment = self.started + self._settings.start_s
            if moment <= now:
                self.kill(f"it took more than {self._settings.start_s:g} s to load the plugin")
                return inf
        return min(moment, self._leaving(now)) if self.state == "retiring" else moment

    def _leaving(self, now: float) -> float:
        """A host that was told to stop may hold the interpreter for ever: it has the grace that an attempt has."""
        if self._leave_by <= now:
            self.kill("it did not leave", blamed=False)
            return inf
        return min(self._leave_by, now + self._settings.grace_s)

    def kill(self, reason: str, *, blamed: bool = True) -> None:
        """End the process now; what runs in it is given back."""
        with self._lock:
            if self._why is None:
                self._why, self.blamed = reason, blamed
            if self._process is not None:
                launch.end(self._process, self._inner)

    def join(self, timeout: float) -> bool:
        """Wait until the host is gone; whether it is."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _do(self, action: Callable[[float], Effects], now: float | None = None) -> None:
        with self._lock:
            effects = action(time.monotonic() if now is None else now)
        self._carry_out(effects)

    def _carry_out(self, effects: Effects) -> None:
        effects.carry_out(self._send)
        if effects.kill is not None:
            self.kill(effects.kill, blamed=False)

    def _send(self, messages: Sequence[str]) -> None:
        channel = self._channel
        if channel is not None:
            channel.send(messages)

    def _main(self) -> None:
        try:
            reason = self._housed()
        except Exception as error:
            reason = f"its process can't be started: {error}"
        self._ended(reason)

    def _housed(self) -> str:
        """Its life, in a folder of its own."""
        parent = self._settings.work_directory
        directory = Path(tempfile.mkdtemp(prefix=f"nsplugin-{self.source.id}-", dir=parent))
        try:
            return self._live(directory)
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def _live(self, directory: Path) -> str:
        """From the start of the process to its end; returns why it ended."""
        process = launch.spawn(self.source, self._settings, directory)
        try:
            channel = Channel(process, self._take, self._log.output, self._settings.log_bytes_per_s)
            channel.send([encode(self._hello())])
        except BaseException:
            launch.discard(process)
            raise
        with self._lock:
            self._process, self._channel, self.pid = process, channel, process.pid
            if self._why is not None:
                launch.end(process)
        fault = None
        try:
            channel.run()
        except Misbehaved as error:
            fault = str(error)
        except Exception as error:
            _logger.exception("the core failed over a host of %s", self.source.id)
            fault = f"the core failed over it ({type(error).__name__})"
        with self._lock:
            launch.end(process, self._inner)
            self._process, self._channel = None, None
        code = process.wait()
        channel.close()
        if self._inner:
            os.close(self._inner)
        return self._why or fault or launch.described(code)

    def _hello(self) -> Message:
        source, settings = self.source, self._settings
        manifest = source.manifest
        limits = {"memory": settings.memory_bytes, "files": settings.open_files, "processes": settings.processes}
        return {
            "t": "hello",
            "protocol": VERSION,
            "plugin": source.id,
            "platform": source.platform,
            "directory": str(source.directory.resolve()),
            "entry": source.entry,
            "project": {key: manifest[key] for key in ("id", "version") if key in manifest} | {"entry": source.entry},
            "jobs": sorted(self._answers.jobs),
            "capabilities": sorted(self._answers.capabilities),
            "slots": settings.slots,
            "calls": settings.calls_in_flight,
            "log_rate": settings.log_lines_per_s,
            "limits": limits,
        }

    def _ended(self, reason: str) -> None:
        with self._lock:
            self.reason = self.reason if self.state == "retiring" and not self._why else reason
            self.state, self.pid = "ended", None
            effects = self._table.end(f"the plugin's host exited: {reason}")
            if self._threads is not None:
                self._threads.shutdown(wait=False, cancel_futures=True)
        self._log.close()
        self._changed(self)
        self._carry_out(effects)
        self._answer_early()

    def _take(self, messages: list[Message]) -> None:
        """What the host says; in the host's own thread."""
        effects = Effects()
        now = time.monotonic()
        for message in messages:
            action = _ACTIONS.get(message["t"])
            if action is None:
                raise ProtocolError(f"a message of an unknown kind {clean(message['t'][:40])!r}")
            action(self, message, effects, now)
        self._carry_out(effects)

    def _done(self, message: Message, effects: Effects, now: float) -> None:
        number = integer(message, "id")
        failed = message.get("k") != "success"
        error = self._redactor.text(text(message, "error", _MAX_ERROR)) if failed else None
        code = text(message, "code", 64) if failed else None
        with self._lock:
            self.last_work = now
            self._table.done(number, message, error, code, effects, now)
            self._stop_when_empty(effects)
        if message.get("full") is True:
            self.retire("it ran out of memory", successor=True)

    def _response(self, message: Message, effects: Effects, now: float) -> None:
        RouteResponse.of(message)
        with self._lock:
            self.last_work = now
            self._table.done(integer(message, "id"), message, None, None, effects, now)
            self._stop_when_empty(effects)

    def _stop_when_empty(self, effects: Effects) -> None:
        if self.state == "retiring" and not len(self._table):
            effects.messages.append(encode({"t": "stop"}))
            self._why = self._why or self.reason
            self._leave_by = min(self._leave_by, time.monotonic() + self._settings.grace_s)

    def _call(self, message: Message, effects: Effects, now: float) -> None:
        number, id = integer(message, "n"), message.get("id")
        method, arguments = text(message, "m", 64), message.get("a")
        if type(arguments) is not dict:
            raise ProtocolError("a call without arguments")
        with self._lock:
            self._calls += 1
            if self._calls > self._settings.calls_in_flight:
                raise ProtocolError(f"more than {self._settings.calls_in_flight:,} calls at once")
            work = self._table.get(id) if type(id) is int else None
            visit = self._visit(work)
            threads = self._threads = self._threads or ThreadPoolExecutor(
                self._settings.call_threads, thread_name_prefix=f"calls-{self.source.id}"
            )
        threads.submit(self._answer, number, visit, method, arguments)

    def _visit(self, work: Work | None) -> Visit | None:
        if work is None:
            return None
        if work.visit is None:
            work.visit = self._answers.visit(work.attempt, work.timeout_ms, work.user)
        visit: Visit = work.visit
        return visit

    def _answer(self, number: int, visit: Visit | None, method: str, arguments: Message) -> None:
        answer = self._answers.answer(visit, method, arguments)
        if isinstance(answer, Future):
            answer.add_done_callback(lambda future: self._reply(number, self._answers.late(method, future)))
        else:
            self._reply(number, answer)

    def _reply(self, number: int, answer: Message) -> None:
        with self._lock:
            self._calls -= 1
        self._send([reply(number, answer)])

    def _log_record(self, message: Message, effects: Effects, now: float) -> None:
        level, fields, dropped = message.get("level"), message.get("fields"), message.get("dropped")
        work = self._table.any(message.get("id"))
        attempt = None if work is None else work.attempt
        record = LogRecord(
            plugin=self.source.id,
            level=level if level in LEVELS else "info",
            message=text(message, "message", self._settings.log_line_bytes),
            stream=message["stream"] if message.get("stream") in ("log", "stdout", "stderr", "traceback") else "output",
            fields=fields if type(fields) is dict else {},
            task_id=None if attempt is None else attempt.task_id,
            job=None if attempt is None else attempt.job,
            attempt=None if attempt is None else attempt.attempt,
        )
        self._log.write(record, dropped if type(dropped) is int else 0)

    def _pid(self, message: Message, effects: Effects, now: float) -> None:
        """Said once, before any code of the plugin has run: the process inside its namespace, 0 when there is none."""
        if self._inner is None:
            pid = integer(message, "pid")
            with contextlib.suppress(ProcessLookupError):  # it has ended by now
                self._inner = 0
                self._inner = os.pidfd_open(pid) if pid else 0

    def _ready(self, message: Message, effects: Effects, now: float) -> None:
        if integer(message, "protocol") != VERSION:
            raise ProtocolError(f"protocol {message['protocol']}, where the core speaks {VERSION}")
        with self._lock:
            if self.state == "starting":
                self.state, self.last_work = "ready", now
                opened = self._table.open(now)
                effects.messages += opened.messages
        self._changed(self)
        self._answer_early()

    def _answer_early(self) -> None:
        early, self._early = self._early, []
        for route, request, answer in early:
            self.request(route, request, answer)

    def _failed(self, message: Message, effects: Effects, now: float) -> None:
        reason = text(message, "error", 4_000)
        with self._lock:
            self._why = self._why or reason
        trace = text(message, "trace", 8_000)
        self._log.host("error", f"the plugin can't be loaded: {trace or reason}")


_ACTIONS: Final[dict[str, Callable[[HostProcess, Message, Effects, float], None]]] = {
    "done": HostProcess._done,
    "response": HostProcess._response,
    "call": HostProcess._call,
    "log": HostProcess._log_record,
    "pid": HostProcess._pid,
    "ready": HostProcess._ready,
    "failed": HostProcess._failed,
}
