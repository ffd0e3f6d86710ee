"""Calls from a handler to the platform: under way as soon as they are made, awaited by async code, waited for by sync code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Mapping
from concurrent.futures import Future
from typing import Any, Generic, NoReturn, Protocol, TypeVar

T = TypeVar("T")


class Call(Generic[T]):
    """The answer to a call that is under way.

    ``await`` it in async code; in a sync handler ``.result()`` waits for it. A call that is never looked at is still made
    and finished before the attempt ends; if it fails, the attempt fails.
    """

    __slots__ = ("_convert", "_future", "name", "observed")

    def __init__(self, name: str, convert: Callable[[Any], T] | None = None) -> None:
        self.name = name
        self.observed = False
        self._convert = convert
        self._future: Future[T] = Future()
        self._future.set_running_or_notify_cancel()

    def resolve(self, value: Any) -> None:
        """The answer has come."""
        try:
            answer = value if self._convert is None else self._convert(value)
        except Exception as error:
            self._future.set_exception(error)
        else:
            self._future.set_result(answer)

    def refuse(self, error: BaseException) -> None:
        """The call failed."""
        self._future.set_exception(error)

    def done(self) -> bool:
        """Whether the answer, or a failure, is there."""
        return self._future.done()

    def when_done(self, action: Callable[[], None]) -> None:
        """Run ``action`` in whatever thread brings the answer; at once when it is there."""
        self._future.add_done_callback(lambda _: action())

    def result(self, timeout: float | None = None) -> T:
        """Wait for the answer (``timeout`` in seconds). Raises what the call failed with, or ``TimeoutError``."""
        self.observed = True
        if not self._future.done() and _in_a_loop():
            raise RuntimeError(f"{self.name}: write `await {self.name}(…)` in async code; .result() would block its event loop")
        return self._future.result(timeout)

    def failure(self) -> BaseException | None:
        """What a finished call failed with."""
        return self._future.exception()

    def __await__(self) -> Generator[Any, None, T]:
        self.observed = True
        if self._future.done():
            return self._future.result()
        return (yield from asyncio.wrap_future(self._future).__await__())

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self.name}(…) has no value yet: write `await {self.name}(…)`, or `.result()` in a sync handler")

    def __repr__(self) -> str:
        return f"<call of {self.name}: await it, or use .result() in a sync handler>"


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Caller(Protocol):
    """Carries a handler's calls to whoever answers them."""

    def call(self, method: str, arguments: Mapping[str, Any], convert: Callable[[Any], Any] | None = None) -> Call[Any]:
        """Make a call; ``convert`` turns the plain answer into what the author gets."""
        ...

    def spawn(self, name: str, work: Coroutine[Any, Any, T]) -> Call[T]:
        """Run a coroutine that makes several calls, so that sync code can wait for it as for a single one."""
        ...

    def sleep(self, seconds: float) -> Call[None]:
        """Pass the time, real or virtual."""
        ...

    def now_ms(self) -> int:
        """The time, real or virtual, in UTC milliseconds."""
        ...

    def log(self, level: str, message: str, fields: Mapping[str, Any]) -> None:
        """Write a record to the attempt's log."""
        ...
