"""Carries a handler's calls to the core and the answers back."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from nsplugin.runtime.arguments import checked_arguments
from nsplugin.runtime.calls import Call
from nsplugin.runtime.faults import Fault, raised
from nsplugin.runtime.invocation import Run
from nsplugin_core.host.inside.output import Records
from nsplugin_core.host.inside.wire import Wire
from nsplugin_core.host.protocol import Message

T = TypeVar("T")
_REST: Final = "time.rest"


class OpenCalls:
    """The calls of a host that have no answer yet, at most ``limit``."""

    def __init__(self, wire: Wire, loop: asyncio.AbstractEventLoop, limit: int) -> None:
        self.wire, self.loop, self._limit = wire, loop, limit
        self._numbers = itertools.count(1)
        self._open: dict[int, tuple[Call[Any], str]] = {}
        self._asleep: dict[int, int] = {}
        self._looking = False

    def make(self, call: Call[Any], message: Message, errors: str) -> None:
        """Send a call. Raises :class:`Fault` when it can't be sent."""
        if len(self._open) >= self._limit:
            raise Fault("TOO_MANY_CALLS", f"{self._limit:,} calls are under way already: await some before you make more")
        number = next(self._numbers)
        self._open[number] = call, errors
        try:
            self.wire.send({"t": "call", "n": number, **message})
        except ValueError as error:
            del self._open[number]
            raise Fault("VALIDATION_ERROR", f"{call.name}: {error}") from None

    def settle(self, message: Message) -> None:
        """An answer has come; whoever waits for it goes on."""
        call, errors = self._open.pop(message["n"])
        self._asleep.pop(message["n"], None)
        fault = message.get("fault")
        if fault is None:
            call.resolve(message.get("value"))
        else:
            call.refuse(raised(Fault(fault["code"], fault["message"], **fault["details"]), errors))
        if self._asleep and call.name != _REST:
            self._look_soon()

    def sleep(self, call: Call[None], run: int, milliseconds: int, errors: str) -> None:
        """Pass virtual time: the core wakes the run, once it knows that nothing but time brings this host on."""
        self.make(call, {"id": run, "m": "time.sleep", "a": {"ms": milliseconds}}, errors)
        self._asleep |= {number: run for number, (each, _) in self._open.items() if each is call}
        self._look_soon()

    def _look_soon(self) -> None:
        if not self._looking:
            self._looking = True
            self.loop.call_soon_threadsafe(self._look)

    def _look(self) -> None:
        """Tell the core when the loop has nothing to do and no call but sleeps is open; else whatever is open looks again."""
        if getattr(self.loop, "_ready", ()):
            self.loop.call_soon(self._look)
            return
        self._looking = False
        waits = any(number not in self._asleep and call.name != _REST for number, (call, _) in list(self._open.items()))
        run = next(iter(list(self._asleep.values())), None)
        if run is not None and not waits:
            self.make(Call(_REST), {"id": run, "m": _REST, "a": {}}, "call")


class HostCaller:
    """The :class:`~nsplugin.runtime.calls.Caller` of one run."""

    __slots__ = ("_errors", "_number", "_open", "_records", "_run", "_virtual_now")

    def __init__(self, number: int, open_calls: OpenCalls, records: Records, errors: str, virtual_now: int | None) -> None:
        self._number, self._open, self._records, self._errors = number, open_calls, records, errors
        self._virtual_now = virtual_now
        self._run: Run | None = None

    def serve(self, run: Run) -> None:
        """Note the run whose calls these are."""
        self._run = run

    def call(self, method: str, arguments: Mapping[str, Any], convert: Callable[[Any], Any] | None = None) -> Call[Any]:
        """Make a call. Raises at once when its arguments are no JSON."""
        call = self._begun(method, convert)
        try:
            checked_arguments(method, arguments)
            self._open.make(call, {"id": self._number, "m": method, "a": dict(arguments)}, self._errors)
        except Fault as fault:
            call.observed = True
            call.refuse(error := raised(fault, self._errors))
            raise error from None
        return call

    def spawn(self, name: str, work: Coroutine[Any, Any, T]) -> Call[T]:
        """Run a coroutine on the host's loop."""
        call: Call[T] = self._begun(name, None)
        future = asyncio.run_coroutine_threadsafe(work, self._open.loop)
        future.add_done_callback(lambda done: _copy(done, call))
        return call

    def sleep(self, seconds: float) -> Call[None]:
        """Pass real time here, virtual time with the core; ends with ``TimeoutError`` when the attempt is given up."""
        assert self._run is not None
        call: Call[None] = self._begun("sleep", None)
        if self._virtual_now is not None:
            milliseconds = max(0, round(seconds * 1000))
            self._virtual_now += milliseconds
            self._open.sleep(call, self._number, milliseconds, self._errors)
            return call
        loop = self._open.loop
        loop.call_soon_threadsafe(loop.call_later, max(0.0, seconds), _wake, call, None)
        signal = self._run.signal

        def aborted() -> None:
            loop.call_soon_threadsafe(_wake, call, signal.reason)

        signal.wait().when_done(aborted)
        return call

    def now_ms(self) -> int:
        """The time; in virtual time that at which the run began, and what it slept since."""
        return time.time_ns() // 1_000_000 if self._virtual_now is None else self._virtual_now

    def log(self, level: str, message: str, fields: Mapping[str, Any]) -> None:
        """Send a record of the attempt's log."""
        self._records.write("log", level, message, dict(fields))

    def _begun(self, name: str, convert: Callable[[Any], Any] | None) -> Call[Any]:
        call: Call[Any] = Call(name, convert)
        if self._run is not None:
            self._run.calls.append(call)
        return call


def _wake(call: Call[None], reason: str | None) -> None:
    if call.done():
        return
    if reason is None:
        call.resolve(None)
    else:
        call.refuse(TimeoutError(reason))


def _copy(done: Future[Any], call: Call[Any]) -> None:
    error = done.exception() if not done.cancelled() else asyncio.CancelledError()
    if error is None:
        call.resolve(done.result())
    else:
        call.refuse(error)
