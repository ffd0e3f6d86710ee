"""One run of a handler: who caused it, under which identity, with which limits."""

from __future__ import annotations

import json
from typing import Any, Final, Literal

from nsplugin.platforms import Platform
from nsplugin.record import field, record
from nsplugin.runtime.calls import Call, Caller
from nsplugin.runtime.signal import Signal

Kind = Literal["job", "route", "script", "after-trigger", "before-trigger", "webhook", "action", "read-action", "local-session"]
"""What is running. Only "job" and "route" are run by the core; the others occur in tests."""

READ_ONLY: Final[dict[Kind, str]] = {
    "before-trigger": "TRIGGER_READ_ONLY",
    "read-action": "ACTION_READ_ONLY",
    "local-session": "DEVELOPMENT_SESSION_READ_ONLY",
}
"""Invocations that may not enqueue, and the reason they are given (spec/cogover.md E7)."""


@record
class Facts:
    """What is running and on whose behalf, as both sides of a host know it (spec/cogover.md X1, X6, X8).

    ``user`` is ``None`` for the system. ``automation_steps`` is what is left of the budget that its writes may set off.
    ``enqueued_by``: ``management``, ``process:<id>``, ``agent:<id>``, or ``None``. Times are Unix ms; ``attempt`` is 0 and
    ``job`` empty for what is no job.
    """

    id: str
    plugin: str
    kind: Kind = "job"
    user: str | None = None
    enqueued_by: str | None = None
    automation_steps: int | None = None
    timeout_ms: int = 0
    job: str = ""
    attempt: int = 0
    max_attempts: int = 0
    source: Literal["enqueue", "schedule"] = "enqueue"
    run_at: int = 0
    enqueued_at: int | None = None


@record(frozen=False)
class Run:
    """A run under way, as the side that calls the handler sees it. ``payload`` becomes the model's own type if there is one."""

    platform: Platform
    facts: Facts
    caller: Caller
    jobs: frozenset[str]
    capabilities: frozenset[str]
    payload: Any = None
    request: Any = None
    signal: Signal = field(default_factory=Signal)
    calls: list[Call[Any]] = field(default_factory=list)

    def finish(self) -> None:
        """Wait, in a thread, for the calls that nobody awaited. Raises what one of them failed with."""
        for call in self.calls:
            if not call.observed:
                call.result()

    async def finished(self) -> None:
        """The same on a loop."""
        for call in self.calls:
            if not call.observed:
                await call


def payload_of(text: str | None) -> Any:
    """The payload from its stored text; ``None`` when there is none (spec/cogover.md H3)."""
    return None if text is None else json.loads(text)
