"""What a store can do, in the engine's words, by role. Both stores keep it; ``tests/store_contract`` holds them to it.

Stores are synchronous and may be called from any thread. Time comes in as a parameter (UTC ms). Every method that changes
something does so in one transaction, durable when it returns. A store that can't be reached raises ``StoreUnavailable``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from nsplugin_core.attempts import Attempt
from nsplugin_core.store.records import (
    Depth,
    DueSchedule,
    Ending,
    Enqueued,
    Entry,
    Fired,
    Horizon,
    Installed,
    LockLease,
    NewTask,
    PastAttempt,
    PluginRecord,
    Schedule,
    Swept,
    Task,
    TaskFilter,
)


class TaskStore(Protocol):
    """The queue, finished tasks and the record of attempts."""

    def enqueue(self, tasks: Sequence[NewTask]) -> list[Enqueued]:
        """Accept all tasks or none. Raises ``UnknownPlugin``, ``UnknownJob`` or ``TooManyUnfinished``."""
        ...

    def horizon(self, *, since: int = 0) -> Horizon:
        """When which plugin has work again, as far as it is due, or its lease over, at ``since`` or later.

        A bound that leaves nothing out spares PostgreSQL the walk over what was done before and is not cleaned up yet.
        """
        ...

    def lose(self, judge: Callable[[Attempt], Ending], *, now: int) -> list[Ending]:
        """End attempts whose lease ran out by ``now`` as ``judge`` says; each is one caller's, however many there are."""
        ...

    def claim(self, wants: Mapping[str, int], *, now: int, grace_ms: int, claimer: str, since: int = 0) -> list[Attempt]:
        """Take tasks of enabled plugins due from ``since`` to ``now``, at most ``wants[plugin]`` each, in that order.

        A claimed attempt counts at once; its lease ends at ``now`` + its time-out + ``grace_ms``.
        """
        ...

    def finish(self, endings: Sequence[Ending], *, now: int) -> set[tuple[str, int]]:
        """Write endings of attempts whose claim still stands and whose lease has not run out; returns those (id, claim)."""
        ...

    def task(self, task_id: str) -> Task | None:
        """A task with its payload, finished ones too while they are stored."""
        ...

    def page(self, wanted: TaskFilter) -> list[Task]:
        """A page of tasks, without payloads."""
        ...

    def attempts(self, task_id: str) -> list[PastAttempt]:
        """The ended attempts of a task, oldest first."""
        ...

    def recent(self, plugin: str, limit: int) -> list[PastAttempt]:
        """The attempts of a plugin that ended last, latest first."""
        ...

    def retry(self, task_ids: Sequence[str], *, plugin: str, now: int) -> dict[str, bool]:
        """Requeue dead letters from 0 attempts: id → ``True``, or ``False`` where its key is taken and it is dropped."""
        ...

    def delete(self, task_ids: Sequence[str], *, plugin: str) -> list[str]:
        """Delete dead letters of a plugin; returns the ids that were there."""
        ...

    def depths(self, plugin: str | None = None) -> list[Depth]:
        """How many tasks of each job are in each state, of one plugin or of all."""
        ...

    def sweep(self, *, now: int, limit: int) -> Swept:
        """Remove what has outlived its retention, or its plugin, at most ``limit`` rows of each kind."""
        ...


class RegistryStore(Protocol):
    """Installed plugins and their cron rows."""

    def change(self, plugin_id: str, plan: Callable[[Installed | None], Installed | None], *, now: int) -> Installed | None:
        """Replace a plugin, locked meanwhile, by what ``plan`` makes of it: install, upgrade, switch, or uninstall (``None``).

        Waiting tasks follow: they are given changed limits, and go with the plugin, with all else that is its own; sweeps clear
        that away in batches, or the next installation under that id, before it begins. Returns what is installed now.
        """
        ...

    def installed(self, plugin_id: str) -> Installed | None:
        """A plugin with its jobs and cron rows."""
        ...

    def plugins(self) -> list[PluginRecord]:
        """All plugins by id."""
        ...

    def schedules(self, plugin_id: str | None = None) -> list[Schedule]:
        """Cron rows, of one plugin or of all, in the manifests' order."""
        ...

    def fire(
        self, decide: Callable[[DueSchedule], Fired | None], *, now: int, limit: int, without: Sequence[str] = ()
    ) -> list[tuple[Fired, Sequence[Enqueued]]]:
        """Take due cron rows of enabled plugins under row locks, advance and enqueue as decided; nobody else gets them.

        Returns what was decided, each with the tasks that now stand for it. Rows for which that is ``None``, and those whose
        ids are in ``without``, stay as they are.
        """
        ...

    def next_fire(self, *, without: Sequence[str] = ()) -> int | None:
        """The earliest next fire of an enabled plugin, but for the cron rows with these ids."""
        ...


class DataStore(Protocol):
    """What plugins keep: values under namespaces (``""`` is NextSkin's kv) and locks."""

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
        """Write and return the new version; with ``expected`` only if that is the version now (0: absent), else ``None``.

        Nothing is written for a plugin that is not installed (any more): without ``expected`` that raises ``UnknownPlugin``.
        """
        ...

    def remove(self, plugin: str, namespace: str, key: str, *, now: int, expected: int | None = None) -> bool:
        """Delete; with ``expected`` only if that is the version now. Whether something was deleted."""
        ...

    def entries(
        self, plugin: str, namespace: str, *, now: int, prefix: str = "", after: str = "", limit: int = 100
    ) -> list[Entry]:
        """Entries whose key has the prefix and comes after ``after``, by key (code point order)."""
        ...

    def lock(self, plugin: str, name: str, owner: str, *, now: int, ttl_ms: int) -> LockLease | None:
        """Take a free or expired lock; ``None`` while another lease (the same owner's too) stands, or without the plugin."""
        ...

    def renew(self, plugin: str, name: str, token: int, *, now: int, ttl_ms: int) -> LockLease | None:
        """Prolong the lease with that token; ``None`` when it is not held any more."""
        ...

    def unlock(self, plugin: str, name: str, token: int, *, now: int) -> bool:
        """Give the lease with that token back; whether it was still held."""
        ...


class Store(Protocol):
    """A store's roles, its wake-ups and its end."""

    @property
    def tasks(self) -> TaskStore:
        """The queue."""
        ...

    @property
    def registry(self) -> RegistryStore:
        """Plugins and schedules."""
        ...

    @property
    def data(self) -> DataStore:
        """Plugins' own data."""
        ...

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call ``wake`` (from any thread, coalesced, maybe for nothing) after tasks were accepted; returns what ends that.

        A wake-up can get lost; polling finds the work all the same.
        """
        ...

    def close(self) -> None:
        """Give up connections. Further calls raise ``StoreUnavailable``."""
        ...
