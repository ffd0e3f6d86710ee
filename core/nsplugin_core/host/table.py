"""What runs in one host and what waits for a slot: records and their changes with time, without any I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Literal

from nsplugin_core.attempts import Attempt, Deliver, Outcome, OutcomeKind
from nsplugin_core.clock import Clock
from nsplugin_core.host.protocol import Message, TooLongError, encode
from nsplugin_core.host.routes import RouteRequest, RouteResponse
from nsplugin_core.host.settings import HostSettings

_HORIZON_S: Final = 0.05
"""As much work waits beside the slots as they finish in this time, so that short attempts never leave a slot empty."""
_MAX_WAITING: Final = 256
_HURRIED_MS: Final = 1_000
TIMED_OUT: Final = "JOB_TIMEOUT"
TOO_LARGE: Final = "TOO_LARGE"
Stage = Literal["running", "over", "cancelled"]


@dataclass(slots=True, kw_only=True)
class Work:
    """An attempt or a route's request in a host. ``due``: when its stage ends, in monotonic seconds."""

    number: int
    timeout_ms: int
    started: float
    due: float
    attempt: Attempt | None = None
    deliver: Deliver | None = None
    answer: Future[RouteResponse] | None = None
    user: str | None = None
    stage: Stage = "running"
    visit: Any = None
    """What the answering side of calls remembers of it."""

    @property
    def what(self) -> str:
        """It in words."""
        attempt = self.attempt
        return (
            "a route's request" if attempt is None else f"attempt {attempt.attempt} of job {attempt.job!r} ({attempt.task_id})"
        )


@dataclass(slots=True)
class Effects:
    """What a change wants done: messages to the host, outcomes to deliver, requests to answer; why the host must be killed."""

    messages: list[str] = field(default_factory=list)
    outcomes: dict[Deliver, list[Outcome]] = field(default_factory=dict)
    answers: list[Callable[[], None]] = field(default_factory=list)
    kill: str | None = None

    def outcome(self, deliver: Deliver, attempt: Attempt, kind: OutcomeKind, error: str | None, code: str | None) -> None:
        """Note an outcome."""
        outcome = Outcome(task_id=attempt.task_id, claim=attempt.claim, kind=kind, error=error, error_code=code)
        self.outcomes.setdefault(deliver, []).append(outcome)

    def carry_out(self, send: Callable[[list[str]], None]) -> None:
        """Send, deliver and answer; not under a lock."""
        if self.messages:
            send(self.messages)
        for deliver, outcomes in self.outcomes.items():
            deliver(outcomes)
        for answer in self.answers:
            answer()


class HostFailed(Exception):
    """A route's request got no response: the handler raised, took too long, or its host exited. ``code`` says which."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class WorkTable:
    """The work of one host. Not safe by itself: its host holds a lock around every call."""

    def __init__(self, settings: HostSettings, clock: Clock) -> None:
        self._settings, self._clock = settings, clock
        self._numbers = 0
        self._working: dict[int, Work] = {}
        self._attempts = 0
        self._waiting: deque[tuple[float, Attempt, Deliver]] = deque()
        self._mean_s = inf
        self._open = False

    def __len__(self) -> int:
        return len(self._working) + len(self._waiting)

    def get(self, number: int) -> Work | None:
        """Work by its number, while it counts: not once its time is over."""
        work = self._working.get(number)
        return work if work is not None and work.stage == "running" else None

    def any(self, number: object) -> Work | None:
        """Work by its number, also when its time is over."""
        return self._working.get(number) if type(number) is int else None

    def free(self) -> int:
        """How many attempts may still come."""
        slots = self._settings.slots
        ahead = min(_MAX_WAITING, int(slots * _HORIZON_S / self._mean_s)) if self._settings.enforce_deadlines else 0
        return max(0, slots + ahead - self._attempts - len(self._waiting))

    def add(self, attempts: Sequence[Attempt], deliver: Deliver, now: float) -> Effects:
        """Start attempts, or let them wait for a slot."""
        self._waiting.extend((now, attempt, deliver) for attempt in attempts)
        effects = Effects()
        self._fill(effects, now)
        return effects

    def open(self, now: float) -> Effects:
        """The host is ready: start what waited for that."""
        self._open = True
        effects = Effects()
        self._waiting = deque((now, attempt, deliver) for _, attempt, deliver in self._waiting)
        self._fill(effects, now)
        return effects

    def request(self, route: str, request: RouteRequest, answer: Future[RouteResponse], now: float) -> Effects:
        """Start a route's handler, if a message can carry the request."""
        timeout_ms, number = round(self._settings.route_s * 1000), self._numbers + 1
        facts = {"id": f"request-{number}", "kind": "route", "user": request.user, "timeout_ms": timeout_ms}
        try:
            text = encode({"t": "request", "id": number, "route": route, "request": request.plain(), "facts": facts})
        except TooLongError as error:
            failed = HostFailed(f"the request is too large: {error}", TOO_LARGE)
            return Effects(answers=[lambda: answer.set_exception(failed)])
        work = self._new(timeout_ms, now)
        work.answer, work.user = answer, request.user
        return Effects(messages=[text])

    def done(self, number: int, message: Message, error: str | None, code: str | None, effects: Effects, now: float) -> None:
        """The host says that work has ended; a late word only frees the slot (spec/nextskin.md X2)."""
        work = self._working.pop(number, None)
        if work is None:
            return
        if work.attempt is not None:
            self._attempts -= 1
            self._learn(now - work.started)
        if work.stage == "running":
            self._settle(work, message, error, code, effects)
        self._fill(effects, now)

    def _settle(self, work: Work, message: Message, error: str | None, code: str | None, effects: Effects) -> None:
        if work.attempt is not None and work.deliver is not None:
            kind: OutcomeKind = message["k"] if message.get("k") in ("success", "failure", "retryable") else "failure"
            effects.outcome(work.deliver, work.attempt, kind, error, code)
        elif message["t"] == "response":
            effects.answers.append(_answered(work, message))
        else:
            effects.answers.append(_failed(work, error or "the handler failed", code or "HANDLER_FAILED"))

    def over(self, work: Work, reason: str, now: float) -> list[str]:
        """The work's time is over: abort its signal; what follows if it goes on is :meth:`tick`'s to do."""
        work.stage, work.due = "over", now + self._settings.grace_s / 2
        return [encode({"t": "abort", "id": work.number, "reason": reason})]

    def cancel(self, task_id: str, claim: int, now: float) -> Effects:
        """Give up an attempt that nobody waits for any more."""
        kept = deque(item for item in self._waiting if (item[1].task_id, item[1].claim) != (task_id, claim))
        self._waiting = kept
        for work in self._working.values():
            attempt = work.attempt
            if attempt is not None and (attempt.task_id, attempt.claim) == (task_id, claim) and work.stage == "running":
                return Effects(messages=self.over(work, "the attempt was given up", now))
        return Effects()

    def tick(self, now: float) -> tuple[Effects, float]:
        """What time brings: time-outs, cancellations, a host to kill; and the next moment at which to look."""
        effects = Effects()
        for work in list(self._working.values()):
            if work.due <= now:
                _STAGES[work.stage](self, work, effects, now)
        moments = [work.due for work in self._working.values()]
        return effects, min([*moments, self._tick_waiting(effects, now)])

    def _tick_waiting(self, effects: Effects, now: float) -> float:
        patience = self._settings.patience_s
        while self._open and self._waiting and self._waiting[0][0] + patience <= now:
            _, attempt, deliver = self._waiting.popleft()
            effects.outcome(deliver, attempt, "deferred", "its host had no slot for it in time", "HOST_BUSY")
        return self._waiting[0][0] + patience if self._open and self._waiting else inf

    def _time_out(self, work: Work, effects: Effects, now: float) -> None:
        reason = f"timed out after {work.timeout_ms} ms"
        effects.messages += self.over(work, reason, now)
        if work.attempt is not None and work.deliver is not None:
            effects.outcome(work.deliver, work.attempt, "timeout", reason, TIMED_OUT)
        else:
            effects.answers.append(_failed(work, reason, TIMED_OUT))

    def _cancel_task(self, work: Work, effects: Effects, now: float) -> None:
        work.stage, work.due = "cancelled", now + self._settings.grace_s / 2
        effects.messages.append(encode({"t": "cancel", "id": work.number}))

    def _give_up(self, work: Work, effects: Effects, now: float) -> None:
        effects.kill = f"{work.what} went on {self._settings.grace_s:g} s after its time was over"

    def end(self, reason: str) -> Effects:
        """The host is gone: all that counts is deferred (spec/nextskin.md X6)."""
        effects = self.defer_waiting(reason)
        for work in self._working.values():
            if work.stage != "running":
                continue
            if work.attempt is not None and work.deliver is not None:
                effects.outcome(work.deliver, work.attempt, "deferred", reason, "HOST_EXITED")
            else:
                effects.answers.append(_failed(work, reason, "HOST_EXITED"))
        self._working.clear()
        self._attempts = 0
        return effects

    def defer_waiting(self, reason: str) -> Effects:
        """Give back what has not started."""
        effects = Effects()
        for _, attempt, deliver in self._waiting:
            effects.outcome(deliver, attempt, "deferred", reason, "HOST_EXITED")
        self._waiting.clear()
        return effects

    def _fill(self, effects: Effects, now: float) -> None:
        while self._open and self._waiting and (self._attempts < self._settings.slots or _hurried(self._waiting[0][1])):
            _, attempt, deliver = self._waiting.popleft()
            work = self._new(attempt.timeout_ms, now)
            work.attempt, work.deliver = attempt, deliver
            self._attempts += 1
            effects.messages.append(encode(self._run_message(work.number, attempt)))

    def _run_message(self, number: int, attempt: Attempt) -> Message:
        message = {"t": "run", "id": number, "job": attempt.job, "payload": attempt.payload_json, "facts": _facts(attempt)}
        return message if self._settings.enforce_deadlines else message | {"now": self._clock.now_ms()}

    def _new(self, timeout_ms: int, now: float) -> Work:
        self._numbers += 1
        due = now + timeout_ms / 1000 if self._settings.enforce_deadlines else inf
        work = Work(number=self._numbers, timeout_ms=timeout_ms, started=now, due=due)
        self._working[work.number] = work
        return work

    def _learn(self, seconds: float) -> None:
        self._mean_s = seconds if self._mean_s == inf else max(1e-6, 0.9 * self._mean_s + 0.1 * seconds)


_STAGES: Final[dict[Stage, Callable[[WorkTable, Work, Effects, float], None]]] = {
    "running": WorkTable._time_out,
    "over": WorkTable._cancel_task,
    "cancelled": WorkTable._give_up,
}


def refusals(attempts: Sequence[Attempt], reason: str) -> list[Outcome]:
    """Outcomes that give attempts back because their host can't take them."""
    return [
        Outcome(task_id=each.task_id, claim=each.claim, kind="deferred", error=reason, error_code="HOST_UNAVAILABLE")
        for each in attempts
    ]


def _hurried(attempt: Attempt) -> bool:
    """Whether its time-out, which runs from the claim, leaves no time to wait for a slot."""
    return attempt.timeout_ms < _HURRIED_MS


def _facts(attempt: Attempt) -> dict[str, Any]:
    return {
        "id": attempt.task_id,
        "user": attempt.identity,
        "enqueued_by": attempt.enqueued_by,
        "automation_steps": attempt.budget,
        "timeout_ms": attempt.timeout_ms,
        "job": attempt.job,
        "attempt": attempt.attempt,
        "max_attempts": attempt.max_attempts,
        "source": attempt.source,
        "run_at": attempt.run_at,
        "enqueued_at": attempt.enqueued_at,
    }


def _answered(work: Work, message: Message) -> Callable[[], None]:
    assert work.answer is not None
    answer, response = work.answer, RouteResponse.of(message)
    return lambda: answer.set_result(response)


def _failed(work: Work, error: str, code: str) -> Callable[[], None]:
    assert work.answer is not None
    answer = work.answer
    return lambda: answer.set_exception(HostFailed(error, code))
