"""Plugins and cron rows over named statements: one piece of Python for both dialects."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from nsplugin.record import names, replace
from nsplugin_core.store.database import Database, Row, Transaction
from nsplugin_core.store.errors import StoreBusy
from nsplugin_core.store.records import DueSchedule, Enqueued, Fired, Installed, JobLimits, PluginRecord, Schedule
from nsplugin_core.store.tasks import clear, place

BATCH: Final = 500
_PLUGIN: Final = names(PluginRecord)
_SCHEDULE: Final = names(Schedule)
_Decide = Callable[[DueSchedule], Fired | None]
_Placed = tuple[Fired, Sequence[Enqueued]]


class SqlRegistry:
    """:class:`nsplugin_core.store.protocol.RegistryStore` on a database."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def change(self, plugin_id: str, plan: Callable[[Installed | None], Installed | None], *, now: int) -> Installed | None:
        """Replace a plugin by what ``plan`` makes of it."""
        while self._database.read("was_removed", plugin=plugin_id):
            clear(self._database, plugin_id, BATCH)
        after = self._database.atomically(lambda transaction: _change(transaction, plugin_id, plan, now))
        self._database.announce()
        return after

    def installed(self, plugin_id: str) -> Installed | None:
        """A plugin with its jobs and cron rows."""
        plugin = self._database.read("plugin", plugin=plugin_id)
        if not plugin:
            return None
        jobs, schedules = (self._database.read(name, plugin=plugin_id) for name in ("jobs", "schedules"))
        return _installed(plugin[0], jobs, schedules)

    def plugins(self) -> list[PluginRecord]:
        """All plugins by id."""
        return [_plugin(row) for row in self._database.read("plugins")]

    def schedules(self, plugin_id: str | None = None) -> list[Schedule]:
        """Cron rows in the manifests' order."""
        rows = self._database.read("all_schedules") if plugin_id is None else self._database.read("schedules", plugin=plugin_id)
        return [_schedule(row) for row in rows]

    def fire(self, decide: _Decide, *, now: int, limit: int, without: Sequence[str] = ()) -> list[_Placed]:
        """Take due cron rows, advance and enqueue as decided."""
        terms = {"now": now, "limit": limit, "without": json.dumps(list(without))}
        fired = self._database.atomically(lambda transaction: _fire(transaction, decide, terms))
        if any(enqueued for _, enqueued in fired):
            self._database.announce()
        return fired

    def next_fire(self, *, without: Sequence[str] = ()) -> int | None:
        """The earliest next fire of an enabled plugin."""
        return next((row[0] for row in self._database.read("next_fire", without=json.dumps(list(without)))), None)


def _change(
    transaction: Transaction, plugin_id: str, plan: Callable[[Installed | None], Installed | None], now: int
) -> Installed | None:
    transaction.run("lock_change", plugin=plugin_id)
    before = _locked(transaction, plugin_id)
    after = plan(before)
    if transaction.run("was_removed", plugin=plugin_id):
        raise StoreBusy(f"plugin {plugin_id!r} was uninstalled just now, and is being removed; try again")
    if after is None:
        transaction.run("lock_removal", plugin=plugin_id)
        transaction.run("uninstall", plugin=plugin_id)
        return None
    installed_at = before.plugin.installed_at if before else now
    after = replace(after, plugin=replace(after.plugin, installed_at=installed_at, updated_at=now))
    _save(transaction, before, after)
    return after


def _locked(transaction: Transaction, plugin_id: str) -> Installed | None:
    rows = transaction.run("plugin", plugin=plugin_id)
    if not rows:
        return None
    jobs, schedules = (transaction.run(name, plugin=plugin_id) for name in ("jobs", "lock_schedules"))
    return _installed(rows[0], jobs, schedules)


def _save(transaction: Transaction, before: Installed | None, after: Installed) -> None:
    plugin = after.plugin.id
    transaction.run("save_plugin", **_values(after.plugin))
    transaction.run("save_jobs", plugin=plugin, jobs=_jobs(after.jobs))
    transaction.run("save_schedules", plugin=plugin, schedules=json.dumps(list(map(_values, after.schedules))))
    if after.max_unfinished:
        transaction.run("open_usage", plugin=plugin)
    changed = [job for job in after.jobs if before is not None and job not in before.jobs]
    if changed:
        transaction.run("limit_waiting", plugin=plugin, jobs=_jobs(changed))


def _fire(transaction: Transaction, decide: _Decide, terms: Mapping[str, Any]) -> list[_Placed]:
    decided = [each for row in transaction.run("due_schedules", **terms) if (each := decide(_due(row))) is not None]
    tasks = [task for each in decided for task in each.tasks]
    placed = iter(place(transaction, tasks) if tasks else ())
    fired: list[_Placed] = [(each, [next(placed) for _ in each.tasks]) for each in decided]
    if fired:
        transaction.over("advance_schedules", "fired", [_advanced(each, enqueued) for each, enqueued in fired])
    return fired


def _advanced(fired: Fired, enqueued: Sequence[Enqueued]) -> dict[str, int | str | None]:
    return {
        "id": fired.schedule.id,
        "next_fire": fired.next_fire,
        "last_fire": fired.tasks[-1].fire_at if fired.tasks else None,
        "last_task": enqueued[-1].task_id if enqueued else None,
        "fires": len(fired.tasks),
        "skipped": fired.skipped,
        "caught_up": fired.caught_up,
    }


def _values(record: PluginRecord | JobLimits | Schedule) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names(record)}


def _jobs(jobs: Sequence[JobLimits]) -> str:
    return json.dumps(list(map(_values, jobs)))


def _installed(plugin: Row, jobs: Sequence[Row], schedules: Sequence[Row]) -> Installed:
    return Installed(
        plugin=_plugin(plugin),
        jobs=[JobLimits(name=name, max_attempts=attempts, timeout_ms=timeout) for name, attempts, timeout in jobs],
        schedules=[_schedule(row) for row in schedules],
    )


def _plugin(row: Row) -> PluginRecord:
    values = dict(zip(_PLUGIN, row, strict=True))
    return PluginRecord(**{**values, **{name: bool(values[name]) for name in ("enabled", "internal_system")}})


def _schedule(row: Row) -> Schedule:
    return Schedule(**dict(zip(_SCHEDULE, row, strict=True)))


def _due(row: Row) -> DueSchedule:
    return DueSchedule(schedule=_schedule(row[:-2]), platform=row[-2], unfinished=bool(row[-1]))
