"""Runs handlers: asynchronous ones on the host's loop, the others in threads, several at a time."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from nsplugin.context import Response
from nsplugin.platforms import Platform
from nsplugin.runtime.bound import BoundHandler
from nsplugin.runtime.endings import SUCCESS, Ended, ended_by
from nsplugin.runtime.invocation import Facts, Run, payload_of
from nsplugin.runtime.request import HttpRequest
from nsplugin_core.host.inside.caller import HostCaller, OpenCalls
from nsplugin_core.host.inside.output import Prints, Records, current
from nsplugin_core.host.inside.wire import Wire, give_up, leave
from nsplugin_core.host.protocol import Message, TooLongError

_ROUTE_THREADS: Final = 16


@dataclass(slots=True, kw_only=True)
class Work:
    """One run of a handler. ``task`` is set once it is on the loop."""

    number: int
    handler: BoundHandler
    run: Run
    answers: bool
    task: asyncio.Task[None] | None = None


class Runner:
    """Takes the core's messages in the reader's thread and sees to them."""

    def __init__(
        self,
        *,
        platform: Platform,
        hello: Message,
        jobs: Mapping[str, BoundHandler],
        routes: Mapping[str, BoundHandler],
        wire: Wire,
        loop: asyncio.AbstractEventLoop,
        records: Records,
        prints: tuple[Prints, ...],
    ) -> None:
        self._platform, self._jobs, self._routes = platform, jobs, routes
        self._plugin: str = hello["plugin"]
        self._declared, self._capabilities = frozenset(hello["jobs"]), frozenset(hello["capabilities"])
        self._wire, self._loop, self._records, self._prints = wire, loop, records, prints
        self._calls = OpenCalls(wire, loop, hello["calls"])
        self._host = os.getpid()
        self._working: dict[int, Work] = {}
        self._waiting: list[Work] = []
        self._threads = ThreadPoolExecutor(hello["slots"] + _ROUTE_THREADS, thread_name_prefix="handler")
        self._actions: dict[str, Callable[[Message], None]] = {
            "run": self._run,
            "request": self._request,
            "abort": self._abort,
            "cancel": self._cancel,
            "reply": self._calls.settle,
            "stop": _stop,
        }

    def take(self, messages: list[Message]) -> None:
        """See to messages; called in the reader's thread, so that a handler that blocks the loop holds up nothing here."""
        for message in messages:
            self._actions[message["t"]](message)
        if self._waiting:
            self._loop.call_soon_threadsafe(self._start_waiting)

    def _run(self, message: Message) -> None:
        handler = self._jobs.get(message["job"])
        if handler is None:
            error = (
                f"the plugin's code has no job {message['job']!r}, which its installed manifest declares: upgrade the plugin"
            )
            self._tell(message["id"], Ended(kind="failure", error=error, code="JOB_MISSING"))
            return
        try:
            payload = payload_of(message["payload"])
        except (ValueError, RecursionError) as error:
            self._tell(
                message["id"], Ended(kind="failure", error=f"the stored payload is no JSON: {error}", code="PAYLOAD_BROKEN")
            )
            return
        self._begin(message, handler, Facts(plugin=self._plugin, **message["facts"]), payload=payload)

    def _request(self, message: Message) -> None:
        handler = self._routes.get(message["route"])
        if handler is None:
            error = f"the plugin has no route {message['route']!r}; it has {', '.join(self._routes) or 'none'}"
            self._tell(message["id"], Ended(kind="failure", error=error, code="ROUTE_MISSING"))
            return
        facts = Facts(plugin=self._plugin, **message["facts"])
        request = HttpRequest(**message["request"] | {"body": base64.b64decode(message["request"]["body"])})
        self._begin(message, handler, facts, request=request)

    def _begin(self, message: Message, handler: BoundHandler, facts: Facts, payload: Any = None, request: Any = None) -> None:
        number = message["id"]
        caller = HostCaller(number, self._calls, self._records, self._platform.context.errors, message.get("now"))
        run = Run(
            platform=self._platform,
            facts=facts,
            caller=caller,
            jobs=self._declared,
            capabilities=self._capabilities,
            payload=payload,
            request=request,
        )
        caller.serve(run)
        work = Work(number=number, handler=handler, run=run, answers=request is not None)
        self._working[number] = work
        if handler.asynchronous:
            self._waiting.append(work)
        else:
            self._threads.submit(self._in_thread, work)

    def _start_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for work in waiting:
            work.task = self._loop.create_task(self._on_loop(work))

    async def _on_loop(self, work: Work) -> None:
        current.set(work.number)
        try:
            result = await work.handler.run(work.run)
            if work.run.calls:
                await work.run.finished()
            self._finish(work, SUCCESS, result)
        except BaseException as error:
            self._finish(work, ended_by(error), error)

    def _in_thread(self, work: Work) -> None:
        token = current.set(work.number)
        try:
            result = work.handler.call(work.run)
            if isinstance(result, Awaitable):
                result = asyncio.run_coroutine_threadsafe(_awaited(result), self._loop).result()
            work.run.finish()
            self._finish(work, SUCCESS, result)
        except BaseException as error:
            self._finish(work, ended_by(error), error)
        finally:
            current.reset(token)

    def _finish(self, work: Work, ended: Ended, result: Any) -> None:
        """Report how a run ended. A host that can't, ends; so does a forked copy, which has nothing to report."""
        if os.getpid() != self._host:
            leave(0)
        try:
            self._report(work, ended, result)
        except BaseException:
            give_up()

    def _report(self, work: Work, ended: Ended, result: Any) -> None:
        for prints in self._prints:
            prints.end()
        self._working.pop(work.number, None)
        if ended.kind != "success":
            self._records.write("traceback", "error", ended.trace or "", {"error": ended.error, "code": ended.code})
            self._tell(work.number, ended, full=isinstance(result, MemoryError))
        elif work.answers:
            self._respond(work.number, result)
        else:
            self._wire.send_text(f'{{"t":"done","id":{work.number},"k":"success"}}')

    def _tell(self, number: int, ended: Ended, full: bool = False) -> None:
        message = {"t": "done", "id": number, "k": ended.kind, "error": ended.error, "code": ended.code}
        self._wire.send(message | {"full": True} if full else message)

    def _respond(self, number: int, result: Any) -> None:
        try:
            self._wire.send({"t": "response", "id": number, **_plain(result)})
        except (TypeError, ValueError) as error:
            reason = "the response is too large" if isinstance(error, TooLongError) else str(error)
            self._tell(number, Ended(kind="failure", error=reason, code="RESPONSE_INVALID"))

    def _abort(self, message: Message) -> None:
        work = self._working.get(message["id"])
        if work is not None:
            work.run.signal.abort(message["reason"])

    def _cancel(self, message: Message) -> None:
        work = self._working.get(message["id"])
        if work is not None and work.task is not None:
            self._loop.call_soon_threadsafe(work.task.cancel)


def _stop(message: Message) -> None:
    leave(0)


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result


def _plain(result: Any) -> dict[str, Any]:
    if not isinstance(result, Response):
        raise TypeError(f"a route's handler returns a Response, not {type(result).__name__}; see Response.json")
    body = result.body.encode() if isinstance(result.body, str) else bytes(result.body)
    headers = {str(name): str(value) for name, value in result.headers.items()}
    return {"status": result.status, "headers": headers, "body": base64.b64encode(body).decode()}
