"""The seam between the engine and the hosts: what a host is given, what it answers, and what the dispatcher asks of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from nsplugin.record import record

OutcomeKind = Literal["success", "failure", "retryable", "timeout", "deferred"]
Source = Literal["enqueue", "schedule"]


@record
class Attempt:
    """One attempt of a task, claimed and to be started now.

    ``task_id`` and ``claim`` together name the attempt: a claim number is never used twice for a task. ``payload_json`` is
    the JSON text, or ``None`` when the task has no payload. Times are UTC milliseconds; ``timeout_ms`` is per attempt.
    ``enqueued_at`` is ``None`` for a scheduled task. ``identity`` is the opaque identity under which a Cogover run executes
    and ``budget`` its automation steps (spec/cogover.md X1, X6); both are ``None`` when the enqueuer gave none. ``version``
    is when the plugin was last installed or switched: an attempt runs on that version or a later one (spec/cogover.md D9).
    """

    task_id: str
    claim: int
    plugin: str
    platform: str
    job: str
    payload_json: str | None
    attempt: int
    max_attempts: int
    timeout_ms: int
    source: Source
    run_at: int
    enqueued_at: int | None = None
    enqueued_by: str | None = None
    identity: str | None = None
    budget: int | None = None
    version: int = 0


@record
class Outcome:
    """How an attempt ended. ``deferred``: the host exited before or while it ran, so the attempt is given back.

    ``error`` is a message for ``last_error`` (cut to the platform's length by the engine), ``error_code`` a short word such
    as ``RETRYABLE``; both are ``None`` on success.
    """

    task_id: str
    claim: int
    kind: OutcomeKind
    error: str | None = None
    error_code: str | None = None


Deliver = Callable[[Sequence[Outcome]], None]
"""Takes outcomes from any thread and returns at once."""


class HostPool(Protocol):
    """The processes that run plugin code. Called by the dispatcher's thread only; none of the methods may block."""

    def free(self, plugin: str) -> int:
        """How many more attempts of the plugin can start now; 0 while its host is unavailable (spec/nextskin.md X6)."""
        ...

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        """Start the attempts. Each is delivered once, whatever happens to its host, unless it is cancelled first.

        An outcome that comes after the dispatcher gave the attempt up is harmless: it is refused and logged.
        """
        ...

    def cancel(self, task_id: str, claim: int) -> None:
        """The attempt's time is up: abort its signal, and kill its host after a grace if it goes on (spec/core.md H2)."""
        ...
