"""Runs handlers in this process on virtual time: the ground of ``nsplugin.testing``."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from nsplugin.runtime.arguments import checked_arguments
from nsplugin.runtime.bound import BoundHandler
from nsplugin.runtime.calls import Call
from nsplugin.runtime.desk import Desk, Visit
from nsplugin.runtime.faults import Fault, failed, not_carried, raised
from nsplugin.runtime.invocation import Run

T = TypeVar("T")

LogTo = Callable[[str, str, Mapping[str, Any]], None]


class WaitedOnRealTime(TimeoutError):
    """A handler was still waiting after the real time that a test gives it."""


class VirtualTime:
    """A clock that moves only when somebody sleeps. UTC milliseconds, kept as a float between."""

    def __init__(self, now_ms: int) -> None:
        self._now = float(now_ms)

    def now_ms(self) -> int:
        """The virtual time."""
        return int(self._now)

    def move_to(self, moment: float) -> None:
        """Go on to a moment; never back."""
        self._now = max(self._now, moment)

    def move_by(self, milliseconds: float) -> None:
        """Go on."""
        self.move_to(self._now + milliseconds)

    def exactly(self) -> float:
        """The virtual time with its fraction."""
        return self._now


class LocalCaller:
    """The :class:`~nsplugin.runtime.calls.Caller` of one attempt: calls are answered on the spot, sleep moves the clock.

    Sleepers that wait side by side wake in the order of their times, whatever the order in which they fell asleep.
    """

    def __init__(self, desk: Desk, visit: Visit, time: VirtualTime, deadline: float, log: LogTo) -> None:
        self._desk, self._visit, self._time, self._deadline, self._log = desk, visit, time, deadline, log
        self._errors = desk.platform.context.errors
        self._sleepers: list[tuple[float, int, Call[None]]] = []
        self._numbers = itertools.count()
        self._spawned: list[asyncio.Future[None]] = []
        self.run: Run | None = None

    def call(self, method: str, arguments: Mapping[str, Any], convert: Callable[[Any], Any] | None = None) -> Call[Any]:
        """Answer a call. Raises at once when its arguments are no JSON."""
        call = self._begun(method, convert)
        try:
            checked_arguments(method, arguments)
        except Fault as fault:
            call.observed = True
            call.refuse(error := raised(fault, self._errors))
            raise error from None
        try:
            answer = self._desk.answer(self._visit, method, json.loads(json.dumps(arguments)))
            call.resolve(_carried(answer.result() if isinstance(answer, Future) else answer))
        except Exception as error:
            call.refuse(self._refusal(method, error))
        except BaseException as error:
            call.observed = True
            call.refuse(error)
            raise
        return call

    def _refusal(self, method: str, error: Exception) -> Exception:
        """The author's test sees what failed, though the plugin is told no more than in the core."""
        refusal = raised(failed(method, error), self._errors)
        refusal.__cause__ = None if isinstance(error, Fault) else error
        return refusal

    def spawn(self, name: str, work: Coroutine[Any, Any, T]) -> Call[T]:
        """Run a coroutine to its end: on the loop that runs, or by itself, since nothing it awaits takes time."""
        call: Call[T] = self._begun(name, None)
        if _loop() is None:
            self._drive(work, call)
        else:
            self._spawned.append(asyncio.ensure_future(_settled(work, call)))
        return call

    def _drive(self, work: Coroutine[Any, Any, T], call: Call[T]) -> None:
        try:
            work.send(None)
        except StopIteration as stop:
            call.resolve(stop.value)
        except Exception as error:
            call.refuse(error)
        else:
            work.close()
            call.refuse(RuntimeError(f"{call.name} waits for something that only an event loop brings"))

    def sleep(self, seconds: float) -> Call[None]:
        """Sleep on virtual time; ``TimeoutError`` when the attempt's time is over first."""
        call: Call[None] = self._begun("sleep", None)
        wakes = self._time.exactly() + max(0.0, seconds) * 1000
        heapq.heappush(self._sleepers, (wakes, next(self._numbers), call))
        loop = _loop()
        if loop is None:
            self._wake_next()
        else:
            loop.call_later(0, self._wake_next)
        return call

    def _wake_next(self) -> None:
        wakes, _, call = heapq.heappop(self._sleepers)
        if wakes < self._deadline:
            self._time.move_to(wakes)
            call.resolve(None)
            return
        self._time.move_to(self._deadline)
        assert self.run is not None
        reason = f"timed out after {self.run.facts.timeout_ms} ms"
        self.run.signal.abort(reason)
        call.refuse(TimeoutError(reason))

    def now_ms(self) -> int:
        """The virtual time."""
        return self._time.now_ms()

    def log(self, level: str, message: str, fields: Mapping[str, Any]) -> None:
        """Note a record."""
        self._log(level, message, fields)

    def _begun(self, name: str, convert: Callable[[Any], Any] | None) -> Call[Any]:
        call: Call[Any] = Call(name, convert)
        if self.run is not None:
            self.run.calls.append(call)
        return call


def call_handler(handler: BoundHandler, run: Run, real_s: float) -> Any:
    """Call a handler to its end and return what it returned.

    A sync handler runs in this thread, to its own end. An asynchronous one runs on a loop of its own; one that still waits
    after ``real_s`` real seconds is cancelled: :class:`WaitedOnRealTime`.
    """
    if handler.asynchronous:
        return _on_a_loop(lambda: _finished(handler.run(run), run), real_s)
    result = handler.call(run)
    if isinstance(result, Awaitable):
        return _on_a_loop(lambda: _finished(result, run), real_s)
    run.finish()
    return result


async def _finished(work: Awaitable[T], run: Run) -> T:
    result = await work
    await run.finished()
    return result


def _on_a_loop(work: Callable[[], Coroutine[Any, Any, T]], real_s: float) -> T:
    """A loop of our own, in a thread of its own where this one has a loop already (an asynchronous test)."""

    async def limited() -> T:
        limit = asyncio.timeout(real_s)
        try:
            async with limit:
                return await work()
        except TimeoutError:
            if limit.expired():
                text = f"the handler still waited after {real_s:g} s of real time: in tests only ctx.sleep is virtual"
                raise WaitedOnRealTime(text) from None
            raise

    return asyncio.run(limited()) if _loop() is None else _in_a_thread(lambda: asyncio.run(limited()))


def _in_a_thread(work: Callable[[], T]) -> T:
    future: Future[T] = Future()

    def body() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=body, name="nsplugin-test")
    thread.start()
    thread.join()
    return future.result()


def _carried(answer: Any) -> Any:
    """The answer as it comes out of a message: a copy, and JSON (see ``nsplugin_core.host.capabilities.answers.reply``)."""
    try:
        return json.loads(json.dumps(answer, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise not_carried(error) from None


async def _settled(work: Coroutine[Any, Any, T], call: Call[T]) -> None:
    try:
        call.resolve(await work)
    except Exception as error:
        call.refuse(error)


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
