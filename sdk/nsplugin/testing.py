"""Run a plugin's jobs in its author's own tests: a fake context, virtual time, and the platform's own retry policy.

    from nsplugin.testing import run_job
    from plugin import plugin

    def test_expires_a_key():
        result = run_job(plugin, "expire", {"key": "a"}, kv={"a": 1})
        assert result.succeeded and result.kv == {}

    def test_gives_up_after_five_attempts():
        result = run_job(plugin, "expire", {"key": "a"}, fail=99)
        assert result.state == "dead" and result.waits_ms == (10_000, 20_000, 40_000, 80_000)

Works with any test runner, without the ``[core]`` extra. Cogover jobs are run alike: ``run_job(jobs, "recalc_totals", …)``.
"""

from __future__ import annotations

import json
from asyncio import CancelledError
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from random import Random
from typing import Any, Final, Literal

from nsplugin.context import Response
from nsplugin.definition.assembly import Assembled, assemble
from nsplugin.definition.job import JobDefinition
from nsplugin.definition.plugin import Plugin
from nsplugin.errors import DefinitionError
from nsplugin.platforms import Platform, every
from nsplugin.record import replace
from nsplugin.retries import retried, wait_ms, wait_range_ms
from nsplugin.rules.subject import ABSENT, JobView, Subject
from nsplugin.runtime.bound import BoundHandler, bind_job, bind_route
from nsplugin.runtime.desk import Desk, Grants
from nsplugin.runtime.desk_storage import KV
from nsplugin.runtime.endings import SUCCESS, Ended, ended_by
from nsplugin.runtime.enqueueing import payload_text
from nsplugin.runtime.faults import Fault, raised
from nsplugin.runtime.invocation import Facts, Kind, Run, payload_of
from nsplugin.runtime.local import LocalCaller, VirtualTime, WaitedOnRealTime, call_handler
from nsplugin.runtime.memory import MemoryQueue, MemoryValues
from nsplugin.runtime.providers import Providers, Services
from nsplugin.runtime.request import HttpRequest
from nsplugin.runtime.standins import local_providers

__all__ = ["Attempt", "Bench", "Enqueued", "LogLine", "Result", "local_providers", "retry_waits", "run_job"]

Target = Plugin | JobDefinition | Sequence[JobDefinition]
Failures = int | BaseException | Mapping[int, BaseException | Literal["timeout"]]
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""When virtual time begins."""
_REAL_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt. ``number`` counts from 1; ``started_at`` and ``ended_at`` are virtual UTC ms.

    ``ending``: "success", "failure", "retryable" or "timeout"; ``error`` is what the handler raised. ``wait_ms``: how long the
    platform waits before the next attempt, ``None`` after the last.
    """

    number: int
    ending: Literal["success", "failure", "retryable", "timeout"]
    error: BaseException | None
    message: str | None
    started_at: int
    ended_at: int
    wait_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueued:
    """A job that a handler enqueued: when it is due (``delay_ms`` after the enqueueing), and its dedupe or idempotency key."""

    id: str
    job: str
    payload: Any
    delay_ms: int
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A record of ``log``."""

    level: str
    message: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a job. ``state``: "succeeded", "dead", or "queued" when another attempt would follow.

    ``enqueued``, ``logs``: what the attempts left; ``kv``: all values of ``ctx.kv`` afterwards.
    """

    state: Literal["succeeded", "dead", "queued"]
    attempts: tuple[Attempt, ...]
    enqueued: tuple[Enqueued, ...]
    logs: tuple[LogLine, ...]
    kv: Mapping[str, Any]

    @property
    def succeeded(self) -> bool:
        """Whether an attempt succeeded."""
        return self.state == "succeeded"

    @property
    def waits_ms(self) -> tuple[int, ...]:
        """The waits between the attempts, in milliseconds."""
        return tuple(attempt.wait_ms for attempt in self.attempts if attempt.wait_ms is not None)

    @property
    def error(self) -> BaseException | None:
        """What the last attempt raised."""
        return self.attempts[-1].error


@dataclass(kw_only=True)
class Bench:
    """A plugin with a fake platform around it, kept over several runs.

    ``kv`` and ``secrets`` are what it finds; ``providers`` stand in for records, messages and the like (see
    ``nsplugin.testing.local_providers``). ``user`` is on whose behalf runs execute (``None``: the system's), and
    ``allow_internal_system`` the project's approved identity policy. ``random`` in [0, 1) sets the jitter of retry waits, 0.5
    being the middle; a ``random.Random`` draws it. ``now`` is when virtual time begins; without a time zone it is UTC.
    """

    target: Target
    kv: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    providers: Providers = field(default_factory=local_providers)
    user: str | None = "test-user"
    allow_internal_system: bool = False
    now: datetime = START
    random: float | Random = 0.5

    def __post_init__(self) -> None:
        self.platform, assembled = _assembled(self.target)
        subject = Subject(raw=assembled.raw, platform=self.platform)
        self._jobs = {str(job.name): job for job in subject.jobs}
        self._assembled = assembled
        self._plugin = str(assembled.raw["id"])
        self._capabilities = frozenset(assembled.raw.get("capabilities", ()))
        self.time = VirtualTime(_unix_ms(self.now))
        self._ids = _ids(self.platform)
        self.values, self.queue = MemoryValues(), MemoryQueue(self.time.now_ms, self._ids.__next__)
        self.logs = list[LogLine]()
        services = Services(values=self.values, queue=self.queue, now=self.time.now_ms, providers=self.providers)
        self._desk = Desk(self.platform, self._grants(), services)
        for key, value in self.kv.items():
            self.values.put(self._plugin, KV, key, json.dumps(value), now=self.time.now_ms())

    def _grants(self) -> Grants:
        return Grants(
            jobs=frozenset(self._jobs),
            capabilities=self._capabilities,
            secrets=self.secrets,
            allow_internal_system=self.allow_internal_system,
        )

    def run(
        self,
        job: str | None = None,
        payload: Any = ABSENT,
        *,
        attempts: int | None = None,
        fail: Failures = 0,
        source: Literal["enqueue", "schedule"] = "enqueue",
        kind: Kind = "job",
    ) -> Result:
        """Run a job until it succeeded, is dead, or had ``attempts`` attempts.

        ``job`` may be left out when there is only one. ``fail``: how many of the first attempts fail before the handler is
        called; or an error for all; or errors (``"timeout"`` for a time-out) by attempt number. A ``schedule`` run has no user,
        and on Cogover no payload. Each run has an id of its own, the same in all its attempts.

        Raises ``KeyError`` for an undeclared job, ``ValueError`` for arguments that no run can have, and what enqueueing raises
        for a payload out of bounds. A sync handler is never cut short: one that loops holds the test.
        """
        if attempts is not None and attempts < 1:
            raise ValueError(f"attempts is {attempts}; it must be at least 1")
        if source == "schedule" and payload is not ABSENT and self.platform.layout.schedules == "in-job":
            raise ValueError(f"a scheduled run of {self.platform.title} has no payload: leave payload out")
        view, text = self._view(job), self._payload(payload)
        handler = bind_job(self._assembled.call[str(view.name)], self.platform.handlers, self._model(view))
        logged, enqueued = len(self.logs), len(self.queue.accepted)
        most = self._limit(view, "maxAttempts")
        begun = self._facts(view, most, source, kind)
        made: list[Attempt] = []
        for number in range(1, most + 1 if attempts is None else min(most, attempts) + 1):
            facts = replace(begun, attempt=number, run_at=self.time.now_ms())
            made.append(self._attempt(handler, facts, text, _failure(fail, number)))
            if made[-1].wait_ms is None:
                break
            self.time.move_by(made[-1].wait_ms)
        return self._result(made, enqueued, logged)

    def request(
        self, route: str, *, json: Any = ABSENT, body: bytes = b"", headers: Mapping[str, str] | None = None, query: str = ""
    ) -> Response:
        """Call a route (``"POST /expire"``) with a body of bytes or of JSON data.

        Raises what its handler raises, ``KeyError`` for a route that is not declared, ``TypeError`` for an answer that is no
        ``Response``, and ``TimeoutError`` when an asynchronous handler still waits after 10 s of real time.
        """
        if route not in self._assembled.routes:
            raise KeyError(f"no route {route!r}; there are {', '.join(self._assembled.routes) or 'none'}")
        method, _, path = route.partition(" ")
        data = body if json is ABSENT else _json_bytes(json)
        request = HttpRequest(method=method, path=path, query=query, headers=headers, body=data, user=self.user)
        facts = Facts(id="", plugin=self._plugin, kind="route", user=self.user, timeout_ms=int(_REAL_S * 1000))
        run = self._run(facts, None, request)
        response = call_handler(bind_route(self._assembled.routes[route], self.platform.handlers), run, _REAL_S)
        if not isinstance(response, Response):
            raise TypeError(f"a route's handler returns a Response, not {type(response).__name__}")
        return response

    def retry_waits(self, job: str | None = None) -> tuple[tuple[int, int], ...]:
        """The shortest and longest wait, in milliseconds, after each attempt of a job but the last, if all of them fail."""
        most = self._limit(self._view(job), "maxAttempts")
        return tuple(wait_range_ms(self.platform.retry, attempt) for attempt in range(1, most))

    @property
    def enqueued(self) -> tuple[Enqueued, ...]:
        """All jobs that handlers enqueued so far."""
        return self._enqueued(0)

    def stored(self, namespace: str = KV) -> dict[str, Any]:
        """The values of a namespace of ``state``, or of ``ctx.kv``."""
        entries = self.values.entries(self._plugin, namespace, now=self.time.now_ms(), limit=100_000)
        return {entry.key: json.loads(entry.value) for entry in entries}

    def _view(self, job: str | None) -> JobView:
        name = next(iter(self._jobs)) if job is None and len(self._jobs) == 1 else job
        if name not in self._jobs:
            raise KeyError(f"no job {name!r}; there are {', '.join(self._jobs) or 'none'}")
        return self._jobs[name]

    def _payload(self, payload: Any) -> str | None:
        given = self.platform.payload.absent_value if payload is ABSENT else payload
        try:
            return payload_text(self.platform, given)
        except Fault as fault:
            raise raised(fault, self.platform.context.errors) from None

    def _model(self, view: JobView) -> Any:
        return self._assembled.payload_models.get(str(view.name))

    def _limit(self, view: JobView, key: Literal["maxAttempts", "timeoutMs"]) -> int:
        limit = {"maxAttempts": self.platform.max_attempts, "timeoutMs": self.platform.timeout_ms}[key]
        value = view.get(key)
        return limit.default if value is ABSENT else int(value)

    def _facts(self, view: JobView, limit: int, source: Literal["enqueue", "schedule"], kind: Kind) -> Facts:
        now, automation = self.time.now_ms(), self.platform.automation
        return Facts(
            id=next(self._ids),
            plugin=self._plugin,
            kind=kind,
            user=self.user if source == "enqueue" else None,
            automation_steps=None if automation is None else automation.max_count,
            timeout_ms=self._limit(view, "timeoutMs"),
            job=str(view.name),
            max_attempts=limit,
            source=source,
            run_at=now,
            enqueued_at=now if source == "enqueue" else None,
        )

    def _run(self, facts: Facts, payload: Any, request: Any) -> Run:
        visit, deadline = self._desk.visit(facts), self.time.exactly() + facts.timeout_ms
        caller = LocalCaller(self._desk, visit, self.time, deadline, self._log)
        run = Run(
            platform=self.platform,
            facts=facts,
            caller=caller,
            jobs=frozenset(self._jobs),
            capabilities=self._capabilities,
            payload=payload,
            request=request,
        )
        caller.run = run
        return run

    def _attempt(self, handler: BoundHandler, facts: Facts, text: str | None, failure: BaseException | str | None) -> Attempt:
        started = self.time.now_ms()
        run = self._run(facts, payload_of(text), None)
        error = _attempted(handler, run, failure)
        timed_out = run.signal.aborted or failure == "timeout"
        ended = SUCCESS if error is None else ended_by(error)
        ending = "timeout" if timed_out else ended.kind
        return Attempt(
            number=facts.attempt,
            ending=ending,
            error=error,
            message=run.signal.reason or ended.error,
            started_at=started,
            ended_at=self.time.now_ms(),
            wait_ms=self._wait(ended, timed_out, facts),
        )

    def _wait(self, ended: Ended, timed_out: bool, facts: Facts) -> int | None:
        ending = "timeout" if timed_out else ended.kind
        if ending == "success":
            return None
        if not retried(self.platform.retry, ending, facts.attempt, facts.max_attempts):
            return None
        jitter = self.random.random() if isinstance(self.random, Random) else self.random
        return wait_ms(self.platform.retry, facts.attempt, jitter)

    def _result(self, made: Sequence[Attempt], enqueued: int, logged: int) -> Result:
        last = made[-1]
        return Result(
            state="succeeded" if last.ending == "success" else "dead" if last.wait_ms is None else "queued",
            attempts=tuple(made),
            enqueued=self._enqueued(enqueued),
            logs=tuple(self.logs[logged:]),
            kv=self.stored(),
        )

    def _enqueued(self, first: int) -> tuple[Enqueued, ...]:
        return tuple(
            Enqueued(
                id=each.task_id,
                job=each.order.job,
                payload=payload_of(each.order.payload),
                delay_ms=each.order.due_at - each.accepted_at,
                key=each.order.key,
            )
            for each in self.queue.accepted[first:]
        )

    def _log(self, level: str, message: str, fields: Mapping[str, Any]) -> None:
        self.logs.append(LogLine(level=level, message=message, fields=dict(fields)))


def run_job(
    target: Target,
    job: str | None = None,
    payload: Any = ABSENT,
    *,
    attempts: int | None = None,
    fail: Failures = 0,
    source: Literal["enqueue", "schedule"] = "enqueue",
    **surroundings: Any,
) -> Result:
    """Run a job of a plugin once, with all its attempts, on virtual time. ``surroundings`` are those of :class:`Bench`.

    See :meth:`Bench.run` for the arguments. Raises :class:`~nsplugin.errors.DefinitionError` when the definition is faulty.
    """
    bench = Bench(target=target, **surroundings)
    return bench.run(job, payload, attempts=attempts, fail=fail, source=source)


def retry_waits(target: Target, job: str | None = None) -> tuple[tuple[int, int], ...]:
    """The shortest and longest wait, in milliseconds, after each attempt of a job but the last, if all of them fail."""
    return Bench(target=target).retry_waits(job)


def _unix_ms(moment: datetime) -> int:
    """A time without a zone is UTC, on whatever machine a test runs."""
    return int((moment.replace(tzinfo=UTC) if moment.utcoffset() is None else moment).timestamp() * 1000)


def _ids(platform: Platform) -> Iterator[str]:
    """Ids of runs in the platform's own form (spec/cogover.md X7), the same ones in every test."""
    limit = platform.run_id
    prefix = "task-" if limit is None else limit.pattern.partition("[")[0]
    width = 0 if limit is None else limit.max_length - len(prefix)
    return (f"{prefix}{number:0{width}}" for number in count(1))


def _assembled(target: Target) -> tuple[Platform, Assembled]:
    value: Any = [target] if isinstance(target, JobDefinition) else target
    layout = "mapping" if isinstance(target, Plugin) else "list"
    platform = next(platform for platform in every() if platform.layout.jobs == layout)
    project = {"id": "test", "entry": f"plugin:{platform.layout.attribute}"}
    if isinstance(target, Plugin) and "id" in target.manifest_source:
        del project["id"]
    assembled = assemble(value, platform, project)
    errors = [problem for problem in assembled.problems if problem.severity == "error"]
    if errors:
        raise DefinitionError(errors, "what is tested")
    return platform, assembled


def _failure(fail: Failures, attempt: int) -> BaseException | str | None:
    if isinstance(fail, Mapping):
        return fail.get(attempt)
    if isinstance(fail, int):
        return RuntimeError(f"attempt {attempt} was told to fail") if attempt <= fail else None
    return fail


def _attempted(handler: BoundHandler, run: Run, failure: BaseException | str | None) -> BaseException | None:
    if isinstance(failure, str):
        run.signal.abort(f"timed out after {run.facts.timeout_ms} ms")
        return TimeoutError(run.signal.reason)
    if failure is not None:
        return failure
    try:
        call_handler(handler, run, max(1.0, min(_REAL_S, run.facts.timeout_ms / 1000)))
    except WaitedOnRealTime as error:
        run.signal.abort(str(error))
        return error
    except (Exception, CancelledError, SystemExit) as error:
        return error
    return None


def _json_bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
