"""What stands behind the answers: the stores and providers that a core, or a test, plugs in. See docs/providers.md.

Methods are called from several threads. They raise :class:`~nsplugin.runtime.faults.Fault` to refuse; anything else that
they raise is reported to the plugin as a failure of the platform.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from nsplugin.record import record
from nsplugin.runtime.enqueueing import Order
from nsplugin.runtime.faults import Fault
from nsplugin.runtime.invocation import Facts


class Entry(Protocol):
    """A stored value: JSON text, its version (growing) and when it expires (UTC ms)."""

    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def expires_at(self) -> int | None: ...


class Lease(Protocol):
    """A lock that is held; the token grows with each lease of a name."""

    @property
    def token(self) -> int: ...
    @property
    def expires_at(self) -> int: ...


class Values(Protocol):
    """Values and locks by plugin: what the core's data store is."""

    def entry(self, plugin: str, namespace: str, key: str, *, now: int) -> Entry | None:
        """The value, unless it is absent or expired."""
        ...

    def put(
        self,
        plugin: str,
        namespace: str,
        key: str,
        value: str,
        *,
        now: int,
        expires_at: int | None = None,
        expected: int | None = None,
    ) -> int | None:
        """Write and return the new version; with ``expected`` only if that is the version now (0: absent), else ``None``."""
        ...

    def remove(self, plugin: str, namespace: str, key: str, *, now: int, expected: int | None = None) -> bool:
        """Delete; with ``expected`` only if that is the version now. Whether something was deleted."""
        ...

    def entries(
        self, plugin: str, namespace: str, *, now: int, prefix: str = "", after: str = "", limit: int = 100
    ) -> Sequence[Entry]:
        """Entries whose key has the prefix and comes after ``after``, by key."""
        ...

    def lock(self, plugin: str, name: str, owner: str, *, now: int, ttl_ms: int) -> Lease | None:
        """Take a free or expired lock; ``None`` while another lease stands."""
        ...

    def renew(self, plugin: str, name: str, token: int, *, now: int, ttl_ms: int) -> Lease | None:
        """Prolong the lease with that token; ``None`` when it is not held any more."""
        ...

    def unlock(self, plugin: str, name: str, token: int, *, now: int) -> bool:
        """Give the lease with that token back; whether it was still held."""
        ...


@record
class Accepted:
    """The task that stands for an order; ``duplicate``: it was there before, under the same key."""

    task_id: str
    duplicate: bool


class Queue(Protocol):
    """Takes orders for jobs."""

    def enqueue(self, order: Order, facts: Facts, by: str | None) -> Accepted:
        """Store a task of ``facts.plugin`` durably, with the identity and budget of the run that ``facts`` tell of.

        ``by``: ``process:<id>`` or ``agent:<id>`` where the end of one orders it, else ``None`` (spec/cogover.md X8).
        """
        ...


@record
class Access:
    """On whose behalf a provider acts: ``user`` is ``None`` for the system."""

    plugin: str
    user: str | None
    automation_steps: int | None
    run: str


class DataProvider(Protocol):
    """Records. A record is ``{"id", "fields", "system"}``; a page ``{"items", "next_cursor"}``.

    ``where`` is a tree of ``{"op": "and", "of": […]}`` ("and", "or", "not") over ``{"op": "eq", "field", "value"}`` ("eq",
    "ne", "lt", "lte", "gt", "gte", "in", "contains").
    """

    def list(
        self,
        access: Access,
        object: str,
        *,
        where: Mapping[str, Any] | None,
        fields: Sequence[str] | None,
        order_by: str | None,
        limit: int,
        cursor: str | None,
    ) -> Mapping[str, Any]: ...
    def get(self, access: Access, object: str, id: str, *, fields: Sequence[str] | None) -> Mapping[str, Any]: ...
    def create(self, access: Access, object: str, values: Mapping[str, Any]) -> Mapping[str, Any]: ...
    def update(self, access: Access, object: str, id: str, values: Mapping[str, Any]) -> Mapping[str, Any]: ...
    def delete(self, access: Access, object: str, id: str) -> None: ...
    def aggregate(
        self,
        access: Access,
        object: str,
        *,
        measures: Mapping[str, str],
        where: Mapping[str, Any] | None,
        group_by: Sequence[str],
    ) -> Sequence[Mapping[str, Any]]: ...


class SchemaProvider(Protocol):
    """The workspace's objects."""

    def objects(self, access: Access) -> Sequence[str]: ...
    def object(self, access: Access, name: str) -> Mapping[str, Any]: ...


class NotificationsProvider(Protocol):
    """Messages to users."""

    def send(self, access: Access, *, to: Sequence[str], title: str, body: str, link: str | None) -> None: ...


class EmailProvider(Protocol):
    """E-mail."""

    def send(self, access: Access, *, to: Sequence[str], subject: str, text: str | None, html: str | None) -> None: ...


class OrgProvider(Protocol):
    """The workspace's users, each ``{"id", "name", "email"}``."""

    def user(self, access: Access, id: str) -> Mapping[str, Any]: ...
    def users(self, access: Access, limit: int) -> Sequence[Mapping[str, Any]]: ...


Completed = Callable[[Literal["completed", "failed"], Any], None]
"""Called once with how an execution ended and its output; it enqueues the job that waits for it (spec/cogover.md X8).

An output that no payload can hold (not JSON, or too large) is told to the job as a failure.
"""


class ExecutionProvider(Protocol):
    """Processes, or agents."""

    def start(self, access: Access, key: str, input: Any, completed: Completed | None) -> str:
        """Start one and return its id. ``completed`` may be called from any thread, also before this returns."""
        ...


@record
class Providers:
    """The providers that are plugged in; a call to one that is not raises an error that names it."""

    data: DataProvider | None = None
    schema: SchemaProvider | None = None
    notifications: NotificationsProvider | None = None
    email: EmailProvider | None = None
    org: OrgProvider | None = None
    processes: ExecutionProvider | None = None
    agents: ExecutionProvider | None = None

    def plugged(self, name: str) -> Any:
        """The provider of that name. Raises :class:`Fault` when there is none."""
        provider = getattr(self, name)
        if provider is None:
            text = f"no provider for {name} is plugged in: give the core Providers({name}=…), or local ones (docs/providers.md)"
            raise Fault("PROVIDER_MISSING", text, provider=name)
        return provider


@record
class Services:
    """Everything that answers calls. ``now``: UTC milliseconds.

    Where time is virtual, ``sleep`` passes it, and ``rest`` hears that a host has nothing to do but sleep.
    """

    values: Values
    queue: Queue
    now: Callable[[], int]
    providers: Providers = Providers()
    sleep: Callable[[Facts, int], Any] | None = None
    rest: Callable[[Facts], None] | None = None
