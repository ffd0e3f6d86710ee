"""Values, locks and a queue in memory: for an author's tests. They keep the contracts of the core's stores."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

from nsplugin.record import field, record, replace
from nsplugin.runtime.enqueueing import Order
from nsplugin.runtime.invocation import Facts
from nsplugin.runtime.providers import Accepted

_Place = tuple[str, str, str]


@record
class Kept:
    """A value in memory: JSON text, its version and when it expires (UTC ms)."""

    key: str
    value: str
    version: int
    expires_at: int | None

    def lives(self, now: int) -> bool:
        """Whether its time is not over."""
        return self.expires_at is None or self.expires_at > now


@record
class Held:
    """A lease in memory."""

    owner: str
    token: int
    expires_at: int


class MemoryValues:
    """:class:`~nsplugin.runtime.providers.Values` in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[_Place, Kept] = {}
        self._held: dict[tuple[str, str], Held] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()

    def entry(self, plugin: str, namespace: str, key: str, *, now: int) -> Kept | None:
        """The value, unless it is absent or expired."""
        kept = self._kept.get((plugin, namespace, key))
        return kept if kept is not None and kept.lives(now) else None

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
        with self._lock:
            if not self._is(self.entry(plugin, namespace, key, now=now), expected):
                return None
            version = next(self._numbers)
            self._kept[plugin, namespace, key] = Kept(key=key, value=value, version=version, expires_at=expires_at)
            return version

    def remove(self, plugin: str, namespace: str, key: str, *, now: int, expected: int | None = None) -> bool:
        """Delete; with ``expected`` only if that is the version now. Whether something was deleted."""
        with self._lock:
            entry = self.entry(plugin, namespace, key, now=now)
            if entry is None or not self._is(entry, expected):
                return False
            del self._kept[plugin, namespace, key]
            return True

    def entries(
        self, plugin: str, namespace: str, *, now: int, prefix: str = "", after: str = "", limit: int = 100
    ) -> list[Kept]:
        """Entries whose key has the prefix and comes after ``after``, by key."""
        with self._lock:
            here = [kept for (owner, space, _), kept in self._kept.items() if (owner, space) == (plugin, namespace)]
        found = [kept for kept in here if kept.lives(now) and kept.key.startswith(prefix) and kept.key > after]
        return sorted(found, key=lambda kept: kept.key)[:limit]

    def lock(self, plugin: str, name: str, owner: str, *, now: int, ttl_ms: int) -> Held | None:
        """Take a free or expired lock; ``None`` while another lease stands."""
        with self._lock:
            held = self._held.get((plugin, name))
            if held is not None and held.expires_at > now:
                return None
            lease = Held(owner=owner, token=next(self._numbers), expires_at=now + ttl_ms)
            self._held[plugin, name] = lease
            return lease

    def renew(self, plugin: str, name: str, token: int, *, now: int, ttl_ms: int) -> Held | None:
        """Prolong the lease with that token; ``None`` when it is not held any more."""
        with self._lock:
            held = self._held.get((plugin, name))
            if held is None or held.token != token or held.expires_at <= now:
                return None
            self._held[plugin, name] = replace(held, expires_at=now + ttl_ms)
            return self._held[plugin, name]

    def unlock(self, plugin: str, name: str, token: int, *, now: int) -> bool:
        """Give the lease with that token back; whether it was still held."""
        with self._lock:
            held = self._held.get((plugin, name))
            if held is None or held.token != token or held.expires_at <= now:
                return False
            del self._held[plugin, name]
            return True

    def _is(self, entry: Kept | None, expected: int | None) -> bool:
        return expected is None or expected == (0 if entry is None else entry.version)


@record
class Queued:
    """An accepted order, and when it was accepted (UTC ms)."""

    task_id: str
    accepted_at: int
    plugin: str
    order: Order
    user: str | None
    by: str | None


@record(kw_only=False, frozen=False)
class MemoryQueue:
    """:class:`~nsplugin.runtime.providers.Queue` that only notes what was enqueued; a key stays taken while it is noted.

    ``ids`` makes the id of each.
    """

    now: Callable[[], int]
    ids: Callable[[], str] = field(default_factory=lambda: (f"task-{number}" for number in itertools.count(1)).__next__)
    accepted: list[Queued] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def enqueue(self, order: Order, facts: Facts, by: str | None) -> Accepted:
        """Note an order, unless one of the same job with the same key is there."""
        with self.lock:
            same = [each for each in self.accepted if order.key is not None and _name(each.order) == _name(order)]
            if same:
                return Accepted(task_id=same[0].task_id, duplicate=True)
            task_id = self.ids()
            self.accepted.append(
                Queued(
                    task_id=task_id,
                    accepted_at=self.now(),
                    plugin=facts.plugin,
                    order=order,
                    user=facts.user,
                    by=by,
                )
            )
            return Accepted(task_id=task_id, duplicate=False)


def _name(order: Order) -> tuple[str, str | None]:
    return order.job, order.key
