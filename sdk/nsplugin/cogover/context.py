"""What Cogover hands to job handlers: the types an author annotates with (spec/cogover.md H1–H3, E1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from nsplugin.cogover.records import Data, Page, Schema
from nsplugin.cogover.services import Agents, Crypto, Email, Limits, Notifications, Org, Processes, Secrets
from nsplugin.context import Call, Json, Log
from nsplugin.record import record


@record
class JobInfo:
    """The run that a handler executes. Times are Unix milliseconds.

    ``id`` is the same in all attempts: use it as idempotency key for calls to other services. ``attempt`` counts from 1.
    ``run_at`` is when the run was due, ``enqueued_at`` when it was enqueued (``None`` for a scheduled run).
    """

    id: str
    key: str
    attempt: int
    max_attempts: int
    source: Literal["enqueue", "schedule"]
    run_at: int
    enqueued_at: int | None = None


@record
class Invocation:
    """For whom a run executes. ``identity``: a user, or the system (scheduled runs, inbound webhooks); ``user``: whose id."""

    identity: Literal["user", "system"]
    user: str | None = None
    enqueued_by: str | None = None


@record
class EnqueueResult:
    """What ``jobs.enqueue`` returns: the run, and whether it existed already."""

    run_id: str
    duplicate: bool


@record
class StateEntry:
    """A stored value and its version. ``expires_at``: Unix milliseconds, ``None`` for never."""

    value: Json
    version: int
    expires_at: int | None = None


class Jobs(Protocol):
    """Work for later: ``jobs``."""

    def enqueue(
        self,
        key: str,
        payload: Json = None,
        options: Mapping[str, Any] | None = None,
        *,
        delay_ms: int | None = None,
        run_at: int | None = None,
        idempotency_key: str | None = None,
    ) -> Call[EnqueueResult]:
        """Enqueue a run of a job that the active version declares.

        ``payload``: JSON data of at most 65536 bytes. ``delay_ms``: milliseconds, 0–2592000000; ``run_at``: Unix milliseconds,
        at most 30 days ahead; one of them or neither. ``idempotency_key``: at most 128 characters; while a run of that job with
        the same key is stored, that run is returned. ``options`` takes the same as a mapping with the platform's names
        (``{"delayMs": 60000}``). Raises ``ValidationError`` for an undeclared key, payload or option, ``RateLimitError`` beyond
        50 enqueues an invocation, ``PermissionDeniedError`` where enqueueing is not allowed.
        """
        ...


class State(Protocol):
    """Values that outlive a run, under namespaces: ``state``."""

    def get(self, key: str, *, namespace: str = "default") -> Call[StateEntry | None]:
        """The value of a key with its version, ``None`` when there is none or it expired."""
        ...

    def set(
        self,
        key: str,
        value: Json,
        *,
        namespace: str = "default",
        ttl_ms: int | None = None,
        if_version: int | None = None,
    ) -> Call[StateEntry]:
        """Store JSON data. With ``if_version`` only over that version (0: over nothing), else ``StateConflictError``."""
        ...

    def delete(self, key: str, *, namespace: str = "default", if_version: int | None = None) -> Call[bool]:
        """Remove a key; whether it existed. With ``if_version`` only that version, else ``StateConflictError``."""
        ...

    def list(
        self, prefix: str = "", *, namespace: str = "default", cursor: str | None = None, limit: int = 100
    ) -> Call[Page[str]]:
        """A page of the keys with that prefix, in order, at most ``limit`` (1–1000)."""
        ...

    def update(
        self, key: str, change: Callable[[Json], Json], *, namespace: str = "default", ttl_ms: int | None = None
    ) -> Call[StateEntry]:
        """Store ``change(value now, or None)``, computed anew whenever somebody else wrote in between."""
        ...


class Lock(Protocol):
    """A lock that is held, until its lease runs out or the block of ``async with`` (or ``with``) ends."""

    @property
    def token(self) -> int:
        """A number that grows with each holder: hand it on, so that what comes from an earlier holder can be refused."""
        ...

    def renew(self, lease_ms: int) -> Call[None]:
        """Hold the lock for so many milliseconds from now. Raises ``LockLostError`` when the lease had run out."""
        ...

    def release(self) -> Call[None]:
        """Give the lock back. Raises ``LockLostError`` when the lease had run out."""
        ...

    async def __aenter__(self) -> Lock: ...

    async def __aexit__(self, kind: object, *error: object) -> None: ...

    def __enter__(self) -> Lock: ...

    def __exit__(self, kind: object, *error: object) -> None: ...


class Locks(Protocol):
    """Sections that must not run twice at the same time: ``locks``."""

    def acquire(self, name: str, *, lease_ms: int, wait_ms: int = 0) -> Call[Lock]:
        """Take a lock for so many milliseconds, waiting for it at most ``wait_ms``. Raises ``LockUnavailableError``."""
        ...


class JobContext(Protocol):
    """All that a job handler gets. A handler names the fields it wants, or takes all as its only parameter ``context``."""

    @property
    def job(self) -> JobInfo:
        """The run and this attempt."""
        ...

    @property
    def payload(self) -> Json:
        """The JSON value given to ``enqueue``, else ``None``. Plain data of the author's own; check it before use."""
        ...

    @property
    def invocation(self) -> Invocation:
        """For whom the run executes."""
        ...

    @property
    def data(self) -> Data:
        """The workspace's records."""
        ...

    @property
    def schema(self) -> Schema:
        """The workspace's objects and fields."""
        ...

    @property
    def log(self) -> Log:
        """The project's log."""
        ...

    @property
    def state(self) -> State:
        """Values that outlive the run."""
        ...

    @property
    def locks(self) -> Locks:
        """Sections that must not run twice at the same time."""
        ...

    @property
    def notifications(self) -> Notifications:
        """Notifications to users."""
        ...

    @property
    def email(self) -> Email:
        """E-mail."""
        ...

    @property
    def jobs(self) -> Jobs:
        """Work for later."""
        ...

    @property
    def secrets(self) -> Secrets:
        """The project's secrets."""
        ...

    @property
    def crypto(self) -> Crypto:
        """Hashes, signatures and random values."""
        ...

    @property
    def org(self) -> Org:
        """The organisation's people."""
        ...

    @property
    def limits(self) -> Limits:
        """What is left of the run's limits."""
        ...

    @property
    def processes(self) -> Processes:
        """Processes to start."""
        ...

    @property
    def agents(self) -> Agents:
        """AI agents to start."""
        ...
