"""What commands and the administration page do with a core: one set of functions, plain data in and out.

Every call is one look at the store or one change of it, and may come from any thread. They raise :class:`NotFound` for what is
not there, :class:`Unacceptable` for what cannot be asked, and the store's errors (``StoreUnavailable``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from nsplugin.cron import describe, local, parse, zone
from nsplugin.frozen import freeze
from nsplugin.manifest import JobSpec, Manifest
from nsplugin.nearest import closest
from nsplugin.payload_schema import mismatches
from nsplugin.platforms import NAMES, load
from nsplugin.runtime.faults import Fault
from nsplugin_core import policy
from nsplugin_core.clock import Clock
from nsplugin_core.enqueueing import Enqueuer, Origin
from nsplugin_core.registry import Registry
from nsplugin_core.store.protocol import Store
from nsplugin_core.store.records import Depth, Enqueued, Installed, JobLimits, PluginRecord, Schedule, Task, TaskFilter
from nsplugin_core.tasks import FINISHED, State
from nsplugin_core.views import (
    AttemptView,
    Counts,
    FireView,
    JobView,
    PluginView,
    ScheduleView,
    TaskDetail,
    TaskPage,
    attempt_view,
    state_words,
    task_view,
)

STATES: Final[tuple[State, ...]] = ("running", "queued", "dead", "succeeded")
"""All states, in the order of a list that holds several."""
MANAGEMENT: Final = "management"
MAX_PAGE: Final = 1_000
MAX_NAME: Final = 255
BATCH: Final = 500


class NotFound(Exception):
    """There is no such plugin, job or task; the message says what there is instead."""


class Unacceptable(Exception):
    """What was asked cannot be done like this; the message says how it can. ``code`` as in :class:`Fault`."""

    def __init__(self, message: str, code: str = "VALIDATION_ERROR") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskQuery:
    """Which tasks to list. ``states`` come one after the other; unfinished ones by their time, finished ones latest first.

    ``after`` is the ``next`` of the page before.
    """

    states: Sequence[State] = STATES
    plugin: str | None = None
    job: str | None = None
    after: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """What became of dead letters: ``queued`` again, ``dropped`` because an unfinished task has their key, or ``missing``.

    Missing: not there any more, or no dead letters (spec/nextskin.md A2).
    """

    queued: Sequence[str] = ()
    dropped: Sequence[str] = ()
    missing: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """The dead letters that were ``deleted``, and the ids that were none (any more)."""

    deleted: Sequence[str] = ()
    missing: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The operations on one store."""

    store: Store
    clock: Clock
    enqueuer: Enqueuer
    registry: Registry

    @staticmethod
    def on(store: Store, clock: Clock, enqueuer: Enqueuer | None = None) -> Operations:
        """The operations on a store; ``enqueuer`` tells of what it accepts, when it is the service's."""
        return Operations(
            store=store,
            clock=clock,
            enqueuer=enqueuer or Enqueuer(store=store, clock=clock),
            registry=Registry(store=store, clock=clock),
        )

    def plugins(self) -> list[PluginView]:
        """All installed plugins by id."""
        counts = _by_plugin(self.store.tasks.depths())
        rows: dict[str, list[Schedule]] = {}
        for row in self.store.registry.schedules():
            rows.setdefault(row.plugin, []).append(row)
        return [
            _plugin_view(record, rows.get(record.id, ()), counts.get(record.id, {})) for record in self.store.registry.plugins()
        ]

    def plugin(self, plugin: str) -> PluginView:
        """One plugin."""
        return self.overview(plugin)[0]

    def jobs(self, plugin: str) -> list[JobView]:
        """A plugin's jobs by name, those that only old tasks name included."""
        return self.overview(plugin)[1]

    def overview(self, plugin: str) -> tuple[PluginView, list[JobView]]:
        """One plugin and its jobs, with one count of its tasks."""
        installed = self._installed(plugin)
        specs = {spec.name: spec for spec in manifest_of(installed.plugin).jobs}
        limits = {job.name: job for job in installed.jobs}
        counts = self._counts(plugin)
        jobs = [_job_view(name, specs.get(name), limits.get(name), counts) for name in sorted({*specs, *counts})]
        return _plugin_view(installed.plugin, installed.schedules, counts), jobs

    def schedules(self, plugin: str | None = None, *, fires: int = 3) -> list[ScheduleView]:
        """The cron rows of a plugin or of all, each with that many next fires."""
        if plugin is not None:
            self._installed(plugin)
        records = {record.id: record for record in self.store.registry.plugins()}
        rows = self.store.registry.schedules(plugin)
        return [_schedule_view(row, records[row.plugin], fires) for row in rows if row.plugin in records]

    def tasks(self, query: TaskQuery) -> TaskPage:
        """A page of tasks."""
        if query.plugin is not None:
            self._known_job(query.plugin, query.job)
        platforms = {record.id: record.platform for record in self.store.registry.plugins()}
        found = list(self._found(query))
        more = len(found) > query.limit
        shown = found[: query.limit]
        items = [task_view(task, load(platforms[task.plugin])) for task in shown if task.plugin in platforms]
        return TaskPage(items=items, next=_cursor(shown[-1]) if more else None)

    def _found(self, query: TaskQuery) -> Iterator[Task]:
        """One task more than the page holds, if there are so many."""
        if not 1 <= query.limit <= MAX_PAGE:
            raise Unacceptable(f"a page of {query.limit} is not possible: ask for 1 to {MAX_PAGE}")
        states, place = _remaining(query)
        left = query.limit + 1
        for state in states:
            if left <= 0:
                return
            wanted = TaskFilter(state=state, plugin=query.plugin, job=query.job, after=place, limit=left)
            tasks = self.store.tasks.page(wanted)
            yield from tasks
            left, place = left - len(tasks), None

    def task(self, task_id: str, *, plugin: str | None = None, payload: bool = False) -> TaskDetail:
        """One task, of that plugin if one is named; its payload only if it is asked for."""
        task = self.store.tasks.task(task_id) if _storable(task_id) else None
        if task is None or plugin not in (None, task.plugin):
            raise NotFound(f"there is no task {task_id!r} (any more); finished ones are kept for some days only, or not at all")
        record = self._installed(task.plugin).plugin
        return TaskDetail(
            task=task_view(task, load(record.platform)),
            timeout_ms=task.timeout_ms,
            identity=task.identity,
            claimer=task.claimer,
            lease_until=task.lease_until,
            payload=task.payload if payload else None,
            attempts=[attempt_view(each) for each in self.store.tasks.attempts(task_id)],
        )

    def recent(self, plugin: str, *, limit: int = 20) -> list[AttemptView]:
        """The attempts of a plugin that ended last, latest first."""
        self._installed(plugin)
        return [attempt_view(each) for each in self.store.tasks.recent(plugin, limit)]

    def enqueue(
        self, plugin: str, job: str, payload: Any = None, options: Mapping[str, Any] | None = None, *, user: str | None = None
    ) -> Enqueued:
        """Accept a task on behalf of an administrator (spec/cogover.md X1, X6); ``options`` in the platform's own names."""
        record = self._installed(plugin).plugin
        spec = self._known_job(plugin, job)
        platform = load(record.platform)
        schema = spec.payload_schema if spec is not None else None
        for found in mismatches(payload, schema, "") if schema is not None else ():
            raise Unacceptable(f"the payload does not fit the job {job!r}{_at(found.pointer)}: {found.message}")
        budget = None if platform.automation is None else platform.automation.max_count
        try:
            return self.enqueuer.enqueue(
                plugin, job, payload, options or {}, Origin(identity=user, by=MANAGEMENT, budget=budget)
            )
        except Fault as fault:
            raise Unacceptable(fault.message, fault.code) from fault

    def retry(self, task_ids: Sequence[str], *, plugin: str | None = None) -> Retried:
        """Queue dead letters again, from 0 attempts; those of ``plugin`` only, if one is named."""
        task_ids = list(dict.fromkeys(task_ids))
        result: dict[str, bool] = {}
        for owner, ids in self._owned(task_ids, plugin).items():
            result |= self.store.tasks.retry(ids, plugin=owner, now=self.clock.now_ms())
        return Retried(
            queued=[each for each in task_ids if result.get(each) is True],
            dropped=[each for each in task_ids if result.get(each) is False],
            missing=[each for each in task_ids if each not in result],
        )

    def delete(self, task_ids: Sequence[str], *, plugin: str | None = None) -> Deleted:
        """Delete dead letters; those of ``plugin`` only, if one is named."""
        task_ids = list(dict.fromkeys(task_ids))
        gone: set[str] = set()
        for owner, ids in self._owned(task_ids, plugin).items():
            gone.update(self.store.tasks.delete(ids, plugin=owner))
        return Deleted(
            deleted=[each for each in task_ids if each in gone], missing=[each for each in task_ids if each not in gone]
        )

    def retry_all(self, plugin: str, *, job: str | None = None) -> Retried:
        """Queue all dead letters of a plugin, or of one of its jobs, that are there now."""
        parts = [self.retry(ids, plugin=plugin) for ids in self._dead(plugin, job)]
        kinds = ("queued", "dropped", "missing")
        return Retried(**{kind: [each for part in parts for each in getattr(part, kind)] for kind in kinds})

    def delete_all(self, plugin: str, *, job: str | None = None) -> Deleted:
        """Delete all dead letters of a plugin, or of one of its jobs, that are there now."""
        parts = [self.delete(ids, plugin=plugin) for ids in self._dead(plugin, job)]
        return Deleted(**{kind: [each for part in parts for each in getattr(part, kind)] for kind in ("deleted", "missing")})

    def enable(self, plugin: str) -> bool:
        """Go on with a plugin's tasks and schedules; whether it was disabled (spec/nextskin.md A4)."""
        was = self._installed(plugin).plugin.enabled
        self.registry.enable(plugin)
        return not was

    def disable(self, plugin: str) -> bool:
        """Start no more of a plugin's tasks, and keep them; whether it was enabled (spec/nextskin.md A4)."""
        was = self._installed(plugin).plugin.enabled
        self.registry.disable(plugin)
        return was

    def uninstall(self, plugin: str) -> Counts:
        """Remove a plugin with all that is its own; returns how many tasks that were (spec/nextskin.md A4)."""
        counts = self.plugin(plugin).counts
        self.registry.uninstall(plugin)
        return counts

    def _installed(self, plugin: str) -> Installed:
        installed = self.store.registry.installed(plugin) if _storable(plugin) else None
        if installed is None:
            raise NotFound(_not_installed(plugin, [record.id for record in self.store.registry.plugins()]))
        return installed

    def _counts(self, plugin: str) -> dict[str, dict[State, int]]:
        """By job and state."""
        return _by_plugin(self.store.tasks.depths(plugin)).get(plugin, {})

    def _known_job(self, plugin: str, job: str | None) -> JobSpec | None:
        """The job's declaration; ``None`` where no job is asked for, or only old tasks name it."""
        declared = {spec.name: spec for spec in manifest_of(self._installed(plugin).plugin).jobs}
        if job is None or job in declared:
            return declared.get(job or "")
        if job not in self._counts(plugin):
            raise NotFound(f"plugin {plugin!r} declares no job {job!r}; {_meant(job, sorted(declared))}")
        return None

    def _owned(self, task_ids: Sequence[str], plugin: str | None) -> dict[str, list[str]]:
        known = [task_id for task_id in task_ids if _storable(task_id)]
        if plugin is not None:
            self._installed(plugin)
            return {plugin: known}
        owners: dict[str, list[str]] = {}
        for task_id in known:
            task = self.store.tasks.task(task_id)
            if task is not None:
                owners.setdefault(task.plugin, []).append(task_id)
        return owners

    def _dead(self, plugin: str, job: str | None) -> Iterator[list[str]]:
        """The ids of the dead letters that are there now, in batches from the latest back: none that comes later is among them.

        The first batch is whole, so that letters of a core whose clock is ahead are not left out.
        """
        self._known_job(plugin, job)
        place: tuple[int, str] | None = None
        while True:
            tasks = self.store.tasks.page(TaskFilter(state="dead", plugin=plugin, job=job, after=place, limit=BATCH))
            if tasks:
                yield [task.id for task in tasks]
            if len(tasks) < BATCH:
                return
            place = (tasks[-1].finished_at or 0, tasks[-1].id)


def state_named(word: str) -> State:
    """The state that a word means: the engine's ("dead") or any platform's ("FAILED"). Raises :class:`Unacceptable`."""
    known: dict[str, State] = {}
    for name in NAMES:
        known |= {getattr(load(name).words, state).casefold(): state for state in STATES}
    known |= {state: state for state in STATES}
    if word.casefold() not in known:
        raise Unacceptable(f"there is no state {word!r}; {_meant(word, list(known))}")
    return known[word.casefold()]


def _meant(word: str, candidates: Sequence[str]) -> str:
    meant = closest(word, candidates)
    return f"did you mean {meant!r}?" if meant else f"there are: {', '.join(candidates) or 'none'}"


def _not_installed(plugin: str, installed: Sequence[str]) -> str:
    if not installed:
        return f"no plugin {plugin!r} is installed here, nor any other; `nsplugin install` installs one"
    return f"no plugin {plugin!r} is installed here; {_meant(plugin, installed)}"


def _storable(name: str) -> bool:
    """Whether a name may stand in a database at all; one that may not is certainly not there."""
    return 0 < len(name) <= MAX_NAME and name.isprintable()


def _at(pointer: str) -> str:
    return f" at {pointer}" if pointer else ""


def _remaining(query: TaskQuery) -> tuple[Sequence[State], tuple[int, str] | None]:
    """The states still to be listed, and where to go on in the first of them."""
    if query.after is None:
        return query.states, None
    state, _, rest = query.after.partition(".")
    moment, _, task_id = rest.partition(".")
    place = next((index for index, each in enumerate(query.states) if each == state), None)
    if place is None or not _storable(task_id) or re.fullmatch(r"-?[0-9]{1,16}", moment) is None:
        raise Unacceptable(f"{query.after!r} is no place in this list: give what `next` says of the page before")
    return query.states[place:], (int(moment), task_id)


def _cursor(task: Task) -> str:
    moment = task.finished_at if task.state in FINISHED else task.run_at
    return f"{task.state}.{moment}.{task.id}"


@lru_cache(maxsize=256)
def _parsed(text: str, platform: str) -> Manifest:
    return Manifest(value=freeze(json.loads(text)), platform=load(platform))


def manifest_of(record: PluginRecord) -> Manifest:
    """The manifest that an installed plugin goes by."""
    return _parsed(record.manifest, record.platform)


def _by_plugin(depths: Sequence[Depth]) -> dict[str, dict[str, dict[State, int]]]:
    counts: dict[str, dict[str, dict[State, int]]] = {}
    for depth in depths:
        counts.setdefault(depth.plugin, {}).setdefault(depth.job, {})[depth.state] = depth.tasks
    return counts


def _sum(counts: Mapping[str, Mapping[State, int]]) -> Counts:
    return Counts(**{state: sum(each.get(state, 0) for each in counts.values()) for state in STATES})


def _plugin_view(record: PluginRecord, rows: Sequence[Schedule], counts: Mapping[str, Mapping[State, int]]) -> PluginView:
    manifest = manifest_of(record)
    fires = [row.next_fire for row in rows if row.next_fire is not None] if record.enabled else []
    return PluginView(
        id=record.id,
        platform=record.platform,
        platform_title=manifest.platform.title,
        version=record.version,
        digest=record.digest,
        enabled=record.enabled,
        timezone=record.timezone,
        entry=manifest.entry,
        folder=record.folder,
        internal_system=record.internal_system,
        capabilities=manifest.capabilities,
        routes=[f"{route.method} {route.path}" for route in manifest.routes],
        jobs=len(manifest.jobs),
        schedules=len(rows),
        next_fire=min(fires, default=None),
        words=state_words(manifest.platform),
        counts=_sum(counts),
        installed_at=record.installed_at,
        updated_at=record.updated_at,
    )


def _job_view(name: str, spec: JobSpec | None, limits: JobLimits | None, counts: Mapping[str, Mapping[State, int]]) -> JobView:
    return JobView(
        name=name,
        title=spec.title if spec else None,
        max_attempts=limits.max_attempts if limits else 0,
        timeout_ms=limits.timeout_ms if limits else 0,
        has_payload_schema=spec is not None and spec.payload_schema is not None,
        declared=spec is not None,
        counts=_sum({name: counts.get(name, {})}),
    )


def _schedule_view(row: Schedule, record: PluginRecord, fires: int) -> ScheduleView:
    return ScheduleView(
        plugin=row.plugin,
        pointer=row.pointer,
        expression=row.expression,
        words=describe(parse(row.expression)),
        timezone=row.timezone,
        job=row.job,
        active=record.enabled,
        next_fire=row.next_fire,
        next_fires=list(_fires(row, record.platform, fires)),
        last_fire=row.last_fire,
        last_task=row.last_task,
        fires=row.fires,
        skipped=row.skipped,
        caught_up=row.caught_up,
    )


def _fires(row: Schedule, platform: str, count: int) -> Iterator[FireView]:
    place = zone(row.timezone, offsets=True)
    times = policy.calendar(row.expression, row.timezone, load(platform).cron.clock_change)
    moment = row.next_fire
    for _ in range(count):
        if moment is None:
            return
        wall, name = local(moment // policy.MINUTE_MS, place)
        yield FireView(at=moment, local=f"{wall.isoformat(' ', 'minutes')} {name}")
        moment = policy.next_fire(times, moment)
