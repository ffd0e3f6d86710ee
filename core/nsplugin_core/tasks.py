"""The life of a task as a table, and the one function that reads it (spec/core.md Q1). Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from nsplugin.platforms import RetryPolicy
from nsplugin.retries import RETRIED, wait_ms

State = Literal["queued", "held", "running", "succeeded", "dead"]
Target = Literal["queued", "held", "running", "succeeded", "dead", "gone"]
Event = Literal[
    "claim", "success", "failure", "retryable", "timeout", "deferred", "lost",
    "hold", "release", "retry", "delete", "expire", "uninstall",
]  # fmt: skip
When = Literal["always", "retried", "attempts left", "key free", "otherwise"]

UNFINISHED: Final[tuple[State, ...]] = ("queued", "held", "running")
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


def _endings(event: Event, source: str) -> tuple[Transition, Transition]:
    again = Transition(
        state="running", event=event, when="retried", target="queued", run_at="now + wait", error="set", source=source
    )
    return again, Transition(
        state="running", event=event, when="otherwise", target="dead", error="set", source="spec/nextskin.md X4"
    )


TABLE: Final[tuple[Transition, ...]] = (
    Transition(state="queued", event="claim", target="running", attempt="+1", source="spec/nextskin.md X5"),
    Transition(state="running", event="success", target="succeeded", source="spec/nextskin.md X2"),
    *_endings("failure", "spec/nextskin.md X3, spec/cogover.md X4"),
    *_endings("retryable", "spec/cogover.md X4"),
    *_endings("timeout", "spec/nextskin.md X2"),
    Transition(
        state="running", event="deferred", target="queued", attempt="-1", run_at="now", source="spec/nextskin.md X6, spec/core.md Q3"
    ),
    Transition(
        state="running", event="lost", when="attempts left", target="queued", run_at="now", error="set", source="spec/core.md Q2"
    ),
    Transition(state="running", event="lost", when="otherwise", target="dead", error="set", source="spec/core.md Q2"),
    Transition(state="queued", event="hold", target="held", source="spec/nextskin.md A4"),
    Transition(state="held", event="release", target="queued", source="spec/nextskin.md A4"),
    Transition(
        state="dead", event="retry", when="key free", target="queued", attempt="0", run_at="now", source="spec/nextskin.md A2"
    ),
    Transition(state="dead", event="retry", when="otherwise", target="gone", source="spec/nextskin.md A2"),
    Transition(state="dead", event="delete", target="gone", source="spec/nextskin.md A1"),
    Transition(state="dead", event="expire", target="gone", source="spec/nextskin.md A3, spec/core.md Q6"),
    Transition(state="succeeded", event="expire", target="gone", source="spec/cogover.md E6, spec/core.md Q6"),
    *(
        Transition(state=state, event="uninstall", target="gone", source="spec/nextskin.md A4")
        for state in (*UNFINISHED, *FINISHED)
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """What a task becomes. ``sets_error`` says that the ending's message replaces ``last_error``."""

    state: Target
    attempt: int
    run_at: int
    sets_error: bool


class IllegalTransition(ValueError):
    """The table has no such row: a fault of the engine, never of a plugin."""


def advance(state: State, event: Event, situation: Situation) -> Next:
    """The only way from one state to the next. Raises :class:`IllegalTransition` where the table has no row."""
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
