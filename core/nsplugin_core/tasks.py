"""The life of a task as a table, and the one function that reads it (spec/core.md Q1). Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from nsplugin.platforms import RetryPolicy
from nsplugin.record import record
from nsplugin.retries import RETRIED, wait_ms

State = Literal["queued", "running", "succeeded", "dead"]
Target = Literal["queued", "running", "succeeded", "dead", "gone"]
Event = Literal[
    "claim", "success", "failure", "retryable", "timeout", "deferred", "lost",
    "retry", "delete", "expire", "uninstall",
]  # fmt: skip
When = Literal["always", "retried", "attempts left", "key free", "otherwise"]

UNFINISHED: Final[tuple[State, ...]] = ("queued", "running")
FINISHED: Final[tuple[State, ...]] = ("succeeded", "dead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A row of the table: in ``state``, at ``event``, ``when`` holds → ``target``.

    ``attempt``: what happens to the count of attempts. ``run_at``: when the task is due next. ``error``: whether
    ``last_error`` is written. ``source`` is the requirement behind the row.
    """

    state: State
    event: Event
    target: Target
    source: str
    when: When = "always"
    attempt: Literal["same", "+1", "-1", "0"] = "same"
    run_at: Literal["same", "now", "now + wait"] = "same"
    error: Literal["same", "set"] = "same"


def _row(state: State, event: Event, target: Target, source: str, **rest: Any) -> Transition:
    return Transition(state=state, event=event, target=target, source=source, **rest)


def _failed(event: Event, source: str) -> tuple[Transition, Transition]:
    again = _row("running", event, "queued", source, when="retried", run_at="now + wait", error="set")
    return again, _row("running", event, "dead", "spec/nextskin.md X4", when="otherwise", error="set")


TABLE: Final[tuple[Transition, ...]] = (
    _row("queued", "claim", "running", "spec/nextskin.md X5", attempt="+1"),
    _row("running", "success", "succeeded", "spec/nextskin.md X2"),
    *_failed("failure", "spec/nextskin.md X3, spec/cogover.md X4"),
    *_failed("retryable", "spec/cogover.md X4"),
    *_failed("timeout", "spec/nextskin.md X2"),
    _row("running", "deferred", "queued", "spec/nextskin.md X6, spec/core.md Q3", attempt="-1", run_at="now"),
    _row("running", "lost", "queued", "spec/core.md Q2", when="attempts left", run_at="now", error="set"),
    _row("running", "lost", "dead", "spec/core.md Q2", when="otherwise", error="set"),
    _row("dead", "retry", "queued", "spec/nextskin.md A2", when="key free", attempt="0", run_at="now"),
    _row("dead", "retry", "gone", "spec/nextskin.md A2", when="otherwise"),
    _row("dead", "delete", "gone", "spec/nextskin.md A1"),
    _row("dead", "expire", "gone", "spec/nextskin.md A3, spec/core.md Q6"),
    _row("succeeded", "expire", "gone", "spec/cogover.md E6, spec/core.md Q6"),
    *(_row(state, "uninstall", "gone", "spec/nextskin.md A4") for state in (*UNFINISHED, *FINISHED)),
)


@record
class Situation:
    """What a transition may depend on besides state and event. ``random`` is drawn only for a retry's wait.

    ``now`` and ``run_at`` are UTC milliseconds; ``attempt`` is the number of attempts counted so far.
    """

    now: int
    attempt: int
    max_attempts: int
    run_at: int
    retry: RetryPolicy
    random: Callable[[], float]
    key_free: bool = True


@record
class Next:
    """What a task becomes. ``sets_error`` says that the ending's message replaces ``last_error``."""

    state: Target
    attempt: int
    run_at: int
    sets_error: bool


class IllegalTransition(ValueError):
    """The table has no such row: a fault of the engine, never of a plugin."""


def advance(state: State, event: Event, situation: Situation) -> Next:
    """What an event makes of a task. Raises :class:`IllegalTransition` where the table has no row.

    The engine asks it how an attempt's ending goes on. Claiming, and what an administrator, time or an installation does to
    many tasks at once, is SQL beside the table: ``tests/store_contract/test_contract_models.py`` holds both to one model.
    """
    for row in _BY_STEP.get((state, event), ()):
        if _WHEN[row.when](event, situation):
            return _next(row, situation)
    raise IllegalTransition(f"a task that is {state} can't meet the event {event}")


def _next(row: Transition, situation: Situation) -> Next:
    return Next(
        state=row.target,
        attempt=_ATTEMPT[row.attempt](situation.attempt),
        run_at=_RUN_AT[row.run_at](situation),
        sets_error=row.error == "set",
    )


def _steps() -> dict[tuple[str, str], tuple[Transition, ...]]:
    steps: dict[tuple[str, str], tuple[Transition, ...]] = {}
    for row in TABLE:
        steps[row.state, row.event] = (*steps.get((row.state, row.event), ()), row)
    return steps


_BY_STEP: Final = _steps()
_WHEN: Final[dict[When, Callable[[Event, Situation], bool]]] = {
    "always": lambda event, s: True,
    "otherwise": lambda event, s: True,
    "retried": lambda event, s: s.attempt < s.max_attempts and event in RETRIED[s.retry.policy],
    "attempts left": lambda event, s: s.attempt < s.max_attempts,
    "key free": lambda event, s: s.key_free,
}
_ATTEMPT: Final[dict[str, Callable[[int], int]]] = {
    "same": lambda attempt: attempt,
    "+1": lambda attempt: attempt + 1,
    "-1": lambda attempt: attempt - 1,
    "0": lambda attempt: 0,
}
_RUN_AT: Final[dict[str, Callable[[Situation], int]]] = {
    "same": lambda s: s.run_at,
    "now": lambda s: s.now,
    "now + wait": lambda s: s.now + wait_ms(s.retry, s.attempt, s.random()),
}
