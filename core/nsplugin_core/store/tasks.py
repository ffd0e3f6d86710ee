"""The queue over named statements: one piece of Python for both dialects."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Final

from nsplugin.record import names
from nsplugin_core.attempts import Attempt
from nsplugin_core.store.database import Database, Row, Transaction
from nsplugin_core.store.errors import StoreBusy, TooManyUnfinished, UnknownJob, UnknownPlugin
from nsplugin_core.store.group_commit import GroupCommit
from nsplugin_core.store.records import Depth, Ending, Enqueued, Horizon, NewTask, PastAttempt, Swept, Task, TaskFilter
from nsplugin_core.tasks import UNFINISHED

_TASK: Final = names(Task)
_PAST: Final = names(PastAttempt)
_ATTEMPT: Final = (
    "task_id", "claim", "plugin", "platform", "job", "payload_json", "attempt", "max_attempts", "timeout_ms", "source",
    "run_at", "enqueued_at", "enqueued_by", "identity", "budget", "version",
)  # fmt: skip
_NEW: Final = (
    "id", "plugin", "job", "payload", "due_at", "created_at", "source", "key", "enqueued_by", "identity", "budget",
    "schedule_id", "fire_at",
)  # fmt: skip
_new_values: Final = attrgetter(*_NEW)
_ENDED: Final = (
    "claim", "plugin", "number", "outcome", "state", "attempt", "run_at", "sets_error", "error", "error_code", "ended_at",
    "keep_until", "log_until",
)  # fmt: skip
_ENDING: Final = ("id", *_ENDED)
_ending_values: Final = attrgetter("task_id", *_ENDED)
_turn: Final = itemgetter(len(_ATTEMPT), 0)
"""By the column after an attempt's own, when the task was due, claims are in order."""
_LEFT: Final = ("task", "finished", "attempt", "run_key", "entry", "lock")
ANY_LEASE: Final = -1
_TRIES: Final = 5
_ROW_WEIGHT: Final = 512
LEADERS: Final = 2
LAST: Final = 2**62


class SqlTasks:
    """:class:`nsplugin_core.store.protocol.TaskStore` on a database."""

    __slots__ = ("_commits", "_database")

    def __init__(self, database: Database) -> None:
        self._database = database
        self._commits = GroupCommit(self._enqueue_one, self._enqueue_many, _weight, leaders=LEADERS)

    def enqueue(self, tasks: Sequence[NewTask]) -> list[Enqueued]:
        """Accept all tasks or none, together with what other threads enqueue for the same plugin meanwhile."""
        return self._commits.write(tasks[0].plugin, tasks) if tasks else []

    def _enqueue_one(self, tasks: Sequence[NewTask]) -> list[Enqueued]:
        placed = self._place_one(tasks[0]) if len(tasks) == 1 and _plain(tasks[0]) else self._place(tasks)
        self._database.announce()
        return placed

    def _enqueue_many(self, calls: Sequence[Sequence[NewTask]]) -> list[list[Enqueued]]:
        tasks = [task for call in calls for task in call]
        placed = iter(self._place(tasks))
        self._database.announce()
        return [[next(placed) for _ in call] for call in calls]

    def _place_one(self, task: NewTask) -> list[Enqueued]:
        """The common case is a single statement, and so a single round trip."""
        if self._database.once("enqueue_one", **_values(task)):
            return [Enqueued(task_id=task.id, duplicate=False)]
        return self._place([task])

    def _place(self, tasks: Sequence[NewTask]) -> list[Enqueued]:
        return self._database.atomically(lambda transaction: place(transaction, tasks))

    def horizon(self, *, since: int = 0) -> Horizon:
        """When which plugin has work again."""
        due: dict[str, int] = {}
        plugins: list[str] = []
        lease: int | None = None
        first: int | None = None
        for plugin, enabled, moment in self._database.read("horizon", since=since):
            if enabled:
                plugins.append(plugin)
            if moment is None:
                continue
            if plugin is None:
                lease = moment
            elif enabled:
                due[plugin] = moment
            if first is None or moment < first:
                first = moment
        return Horizon(due=due, lease=lease, first=first, plugins=frozenset(plugins))

    def lose(self, judge: Callable[[Attempt], Ending], *, now: int) -> list[Ending]:
        """End attempts whose lease ran out."""
        return self._database.atomically(lambda transaction: _lose(transaction, judge, now))

    def claim(self, wants: Mapping[str, int], *, now: int, grace_ms: int, claimer: str, since: int = 0) -> list[Attempt]:
        """Take due tasks of enabled plugins."""
        terms = {"now": now, "since": since, "grace": grace_ms, "claimer": claimer}
        if len(wants) == 1:
            ((plugin, slots),) = wants.items()
            rows = self._database.once("claim_one", plugin=plugin, slots=slots, **terms)
        else:
            rows = self._claimed(wants, terms)
        rows.sort(key=_turn)
        return list(map(_attempt, rows))

    def _claimed(self, wants: Mapping[str, int], terms: Mapping[str, Any]) -> list[Row]:
        groups: dict[int, list[str]] = {}
        for plugin, slots in wants.items():
            groups.setdefault(slots, []).append(plugin)
        return [
            row
            for slots, plugins in groups.items()
            for row in self._database.once("claim", plugins=json.dumps(plugins), slots=slots, **terms)
        ]

    def finish(self, endings: Sequence[Ending], *, now: int) -> set[tuple[str, int]]:
        """Write endings whose claim still stands."""
        return self._database.atomically(lambda transaction: _end(transaction, endings, alive=now)) if endings else set()

    def task(self, task_id: str) -> Task | None:
        """A task with its payload."""
        return next((_task(row) for row in self._database.read("task", id=task_id)), None)

    def page(self, wanted: TaskFilter) -> list[Task]:
        """A page of tasks, without payloads."""
        unfinished = wanted.state in UNFINISHED
        plugins = [wanted.plugin] if wanted.plugin is not None else [row[0] for row in self._database.read("plugins")]
        found = [task for plugin in plugins for task in self._page(plugin, wanted, unfinished)]
        found.sort(key=_place_in_page, reverse=not unfinished)
        return found[: wanted.limit]

    def _page(self, plugin: str, wanted: TaskFilter, unfinished: bool) -> list[Task]:
        after, after_id = wanted.after or ((-LAST, "") if unfinished else (LAST, ""))
        name = "page_unfinished" if unfinished else "page_finished"
        terms = {"plugin": plugin, "state": wanted.state, "after": after, "after_id": after_id, "limit": wanted.limit}
        rows = (
            self._database.read(name, **terms)
            if wanted.job is None
            else self._database.read(f"{name}_job", job=wanted.job, **terms)
        )
        return [_task(row) for row in rows]

    def attempts(self, task_id: str) -> list[PastAttempt]:
        """The ended attempts of a task."""
        return [_past(row) for row in self._database.read("attempts", id=task_id)]

    def recent(self, plugin: str, limit: int) -> list[PastAttempt]:
        """The attempts of a plugin that ended last."""
        return [_past(row) for row in self._database.read("recent", plugin=plugin, limit=limit)]

    def retry(self, task_ids: Sequence[str], *, plugin: str, now: int) -> dict[str, bool]:
        """Requeue dead letters from 0 attempts, or drop them where their key is taken."""
        results = self._database.atomically(lambda transaction: _retry(transaction, json.dumps(list(task_ids)), plugin, now))
        self._database.announce()
        return results

    def delete(self, task_ids: Sequence[str], *, plugin: str) -> list[str]:
        """Delete dead letters."""
        rows = self._database.atomically(
            lambda transaction: transaction.run("drop_dead", plugin=plugin, ids=json.dumps(list(task_ids)), revived="[]")
        )
        return [row[0] for row in rows]

    def depths(self, plugin: str | None = None) -> list[Depth]:
        """How many tasks of each job are in each state."""
        rows = self._database.read("depths") if plugin is None else self._database.read("depths_of", plugin=plugin)
        return [Depth(plugin=owner, job=job, state=state, tasks=tasks) for owner, job, state, tasks in rows]

    def sweep(self, *, now: int, limit: int) -> Swept:
        """Remove what has outlived its retention, each kind in its own small transaction."""
        kinds = ("finished", "attempts", "entries", "locks")
        swept = {kind: len(self._database.once(f"sweep_{kind}", now=now, limit=limit)) for kind in kinds}
        left = sum(clear(self._database, plugin, limit) for (plugin,) in self._database.read("removed"))
        return Swept(removed=left, **swept)


def clear(database: Database, plugin: str, limit: int) -> int:
    """Remove what an uninstalled plugin left, at most ``limit`` rows of each kind; returns how many.

    Once there are none the plugin is forgotten, which counts too.
    """
    left = sum(len(database.once(f"clear_{kind}", plugin=plugin, limit=limit)) for kind in _LEFT)
    return left or len(database.once("forget", plugin=plugin))


def _plain(task: NewTask) -> bool:
    return task.key_scope == "unfinished" and not task.max_unfinished


def _weight(tasks: Sequence[NewTask]) -> int:
    """About as many characters as they add to a statement."""
    return sum(_ROW_WEIGHT + len(task.payload or "") for task in tasks)


def place(transaction: Transaction, tasks: Sequence[NewTask]) -> list[Enqueued]:
    """Accept tasks within a transaction; the cron rows of a fire are advanced in the same one."""
    if len(tasks) == 1 and _plain(tasks[0]) and transaction.run("enqueue_one", **_values(tasks[0])):
        return [Enqueued(task_id=tasks[0].id, duplicate=False)]
    for plugin in sorted({task.plugin for task in tasks}):
        transaction.run("lock_plugin", plugin=plugin)
    stored = [task for task in tasks if task.key_scope == "stored" and task.key is not None]
    reserved = {row[0] for row in transaction.run("reserve_keys", tasks=_wire(stored))} if stored else set[str]()
    refused = {task.id for task in stored} - reserved
    fresh = [task for task in tasks if task.id not in refused]
    inserted, holders = _insert(transaction, fresh) if fresh else (set[str](), dict[str, str]())
    _take_room(transaction, [task for task in fresh if task.id in inserted])
    holders |= _holders(transaction, [task for task in tasks if task.id in refused])
    return [Enqueued(task_id=holders.get(task.id, task.id), duplicate=task.id in holders) for task in tasks]


def _insert(transaction: Transaction, tasks: Sequence[NewTask]) -> tuple[set[str], dict[str, str]]:
    """The ids inserted, and the holders of the others' keys; again where a holder ended between the two statements."""
    inserted: set[str] = set()
    holders: dict[str, str] = {}
    for _ in range(_TRIES):
        left = [task for task in tasks if task.id not in inserted and task.id not in holders]
        one = len(left) == 1
        rows = transaction.run("enqueue_one", **_values(left[0])) if one else transaction.run("enqueue", tasks=_wire(left))
        inserted.update(row[0] for row in rows)
        if len(inserted) == len(tasks):
            return inserted, holders
        holders |= _holders(transaction, [task for task in left if task.id not in inserted])
        if len(inserted) + len(holders) == len(tasks):
            return inserted, holders
    raise StoreBusy("the tasks' keys or ids are taken and freed too fast; try again")


def _take_room(transaction: Transaction, tasks: Sequence[NewTask]) -> None:
    """Count new tasks where they are limited; a schedule's task counts, but is never refused (spec/cogover.md C1, E8)."""
    limits = {task.plugin: task.max_unfinished for task in tasks if task.max_unfinished}
    if not limits:
        return
    more = Counter(task.plugin for task in tasks)
    asked = {task.plugin for task in tasks if task.source == "enqueue"}
    for plugin, limit in sorted(limits.items()):
        rows = transaction.run("take_room", plugin=plugin, count=more[plugin])
        if rows and rows[0][0] > limit and plugin in asked:
            raise TooManyUnfinished(plugin, limit)


def _holders(transaction: Transaction, tasks: Sequence[NewTask]) -> dict[str, str]:
    """The tasks that hold what these would have taken. Raises where plugin or job are not there."""
    rows = transaction.run("placed", tasks=_wire(tasks)) if tasks else []
    wanted = {task.id: task for task in tasks}
    holders: dict[str, str] = {}
    for task_id, has_plugin, has_job, holder in rows:
        task = wanted[task_id]
        if not has_plugin:
            raise UnknownPlugin(task.plugin)
        if not has_job:
            raise UnknownJob(task.plugin, task.job, [row[0] for row in transaction.run("declared", plugin=task.plugin)])
        if holder is not None:
            holders[task_id] = holder
    return holders


def _lose(transaction: Transaction, judge: Callable[[Attempt], Ending], now: int) -> list[Ending]:
    endings = [judge(_attempt(row)) for row in transaction.run("lost", now=now)]
    _end(transaction, endings, alive=ANY_LEASE)
    return endings


def _end(transaction: Transaction, endings: Sequence[Ending], *, alive: int) -> set[tuple[str, int]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for ending in endings:
        name = "requeue" if ending.state == "queued" else "drop" if ending.keep_until is None else "finish"
        groups.setdefault(name, []).append(dict(zip(_ENDING, _ending_values(ending), strict=True)))
    taken: set[Any] = set()
    for name, group in groups.items():
        taken.update(transaction.over(name, "endings", group, alive=alive))
    return taken


def _retry(transaction: Transaction, ids: str, plugin: str, now: int) -> dict[str, bool]:
    if not transaction.run("lock_plugin", plugin=plugin):
        return {}
    dead = [row[0] for row in transaction.run("lock_dead", plugin=plugin, ids=ids)]
    revived = [row[0] for row in transaction.run("revive", plugin=plugin, ids=ids, now=now)]
    transaction.run("drop_dead", plugin=plugin, ids=ids, revived=json.dumps(revived))
    again = set(revived)
    return {task_id: task_id in again for task_id in dead}


def _wire(tasks: Sequence[NewTask]) -> str:
    return json.dumps([_values(task) for task in tasks])


def _values(task: NewTask) -> dict[str, Any]:
    return {**dict(zip(_NEW, _new_values(task), strict=True)), "payload_bytes": len((task.payload or "").encode())}


def _attempt(row: Row) -> Attempt:
    values: dict[str, Any] = dict(zip(_ATTEMPT, row, strict=False))
    if values["source"] == "schedule":
        values["enqueued_at"] = None
    return Attempt(**values)


def _task(row: Row) -> Task:
    return Task(**dict(zip(_TASK, row, strict=True)))


def _past(row: Row) -> PastAttempt:
    return PastAttempt(**dict(zip(_PAST, row, strict=True)))


def _place_in_page(task: Task) -> tuple[int, str]:
    return (task.run_at if task.finished_at is None else task.finished_at, task.id)
