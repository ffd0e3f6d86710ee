"""From how an attempt ended to what becomes of its task: the table, the platform's policies, and the words for it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final, Literal, cast

from nsplugin.platforms import Retention, load
from nsplugin_core import policy
from nsplugin_core.attempts import Attempt, OutcomeKind
from nsplugin_core.events import EngineEvent, EventType
from nsplugin_core.store.records import Ending
from nsplugin_core.tasks import Situation, advance

HISTORY_MS: Final = 7 * policy.DAY_MS
"""How long the record of an attempt stays, at least; with its task's dead letter or stored run, longer (spec/core.md Q6)."""

Kind = OutcomeKind | Literal["lost"]
_CODES: Final[dict[str, str]] = {
    "failure": "HANDLER_ERROR",
    "retryable": "RETRYABLE",
    "timeout": "JOB_TIMEOUT",
    "lost": "INTERRUPTED",
}
_EVENTS: Final[dict[str, EventType]] = {
    "success": "success",
    "failure": "failure",
    "retryable": "failure",
    "timeout": "timeout",
    "lost": "lost",
    "deferred": "deferral",
}


def ending(
    attempt: Attempt, kind: Kind, *, now: int, source: random.Random, error: str | None = None, code: str | None = None
) -> Ending:
    """What becomes of a running task whose attempt ended so at ``now`` (UTC ms)."""
    platform = load(attempt.platform)
    after = advance(
        "running",
        kind,
        Situation(
            now=now,
            attempt=attempt.attempt,
            max_attempts=attempt.max_attempts,
            run_at=attempt.run_at,
            retry=platform.retry,
            random=source.random,
        ),
    )
    return Ending(
        task_id=attempt.task_id,
        claim=attempt.claim,
        plugin=attempt.plugin,
        job=attempt.job,
        number=attempt.attempt,
        outcome=kind,
        state=cast('Literal["queued", "succeeded", "dead"]', after.state),
        attempt=after.attempt,
        run_at=after.run_at,
        sets_error=after.sets_error,
        error=_message(attempt, kind, error, platform.retention) if kind != "success" else None,
        error_code=code or _CODES.get(kind),
        ended_at=now,
        keep_until=policy.kept_until(platform.retention, after.state, now),
        log_until=now + HISTORY_MS,
    )


def _message(attempt: Attempt, kind: Kind, error: str | None, retention: Retention) -> str:
    text = error or {
        "timeout": f"timed out: not finished within {attempt.timeout_ms} ms",
        "lost": f"attempt {attempt.attempt} of {attempt.max_attempts} was cut short: the core that ran it stopped",
        "deferred": "the host exited; the attempt is given back",
    }.get(kind, "failed without a message")
    return policy.error_text(retention, text)


def events(ended: Ending) -> Iterator[EngineEvent]:
    """What to tell of an ending: itself, and where it decides the task's fate, that."""
    yield _event(ended, _EVENTS[ended.outcome])
    if ended.state == "dead":
        yield _event(ended, "dead")
    elif ended.sets_error:
        yield _event(ended, "retry", due=ended.run_at)


def refusal(ended: Ending) -> EngineEvent:
    """What to tell of an ending that the store did not take: the claim does not stand any more (spec/core.md Q2)."""
    return _event(ended, "refused")


def _event(ended: Ending, kind: EventType, *, due: int | None = None) -> EngineEvent:
    return EngineEvent(
        at=ended.ended_at,
        type=kind,
        plugin=ended.plugin,
        job=ended.job,
        task=ended.task_id,
        attempt=ended.number,
        due=due,
        error=ended.error if kind != "retry" else None,
    )
