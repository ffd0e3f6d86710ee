"""What the stores hold and hand over: plain frozen records. Times are UTC milliseconds, JSON stays text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Literal

from nsplugin.record import record
from nsplugin_core.attempts import OutcomeKind, Source
from nsplugin_core.tasks import State


@record
class NewTask:
    """A task to accept. ``key_scope`` and ``max_unfinished`` (0: no limit) are the platform's; see ``EnqueuePolicy``.

    ``due_at``: when the task was meant to run; it is due then, or at ``created_at`` if that is later. ``schedule_id`` and
    ``fire_at`` are set when a schedule made it: no two tasks are made for one of its fires.
    """

    id: str
    plugin: str
    job: str
    payload: str | None
    due_at: int
    created_at: int
    source: Source
    key: str | None = None
    key_scope: Literal["unfinished", "stored"] = "unfinished"
    max_unfinished: int = 0
    enqueued_by: str | None = None
    identity: str | None = None
    budget: int | None = None
    schedule_id: str | None = None
    fire_at: int | None = None


@record
class Enqueued:
    """The task that now stands for a request: the new one, or with ``duplicate`` the one that holds its key."""

    task_id: str
    duplicate: bool


@record
class Task:
    """A stored task. ``payload`` is ``None`` in listings, which never show it; ``payload_bytes`` is its size in UTF-8.

    ``due_at`` is when it was meant to run first, ``run_at`` when it is due next. ``claimed_at`` and ``lease_until`` belong
    to the last attempt. ``finished_at`` and ``keep_until`` are set once it has ended.
    """

    id: str
    plugin: str
    job: str
    state: State
    payload: str | None
    payload_bytes: int
    attempt: int
    max_attempts: int
    timeout_ms: int
    due_at: int
    run_at: int
    created_at: int
    source: Source
    enqueued_by: str | None
    identity: str | None
    budget: int | None
    key: str | None
    schedule_id: str | None
    fire_at: int | None
    claim: int
    claimer: str | None
    claimed_at: int | None
    lease_until: int | None
    last_error: str | None
    last_error_code: str | None
    finished_at: int | None
    keep_until: int | None


@record
class Ending:
    """An ended attempt and what becomes of its task: ``state`` "queued" (again), "succeeded" or "dead".

    ``number`` is the attempt that ended, ``attempt`` the count after it. ``keep_until``: how long a finished task stays
    stored (``None``: dropped); ``log_until``: how long the record of this attempt does.
    """

    task_id: str
    claim: int
    plugin: str
    job: str
    number: int
    outcome: OutcomeKind | Literal["lost"]
    state: Literal["queued", "succeeded", "dead"]
    attempt: int
    run_at: int
    sets_error: bool
    error: str | None
    error_code: str | None
    ended_at: int
    keep_until: int | None
    log_until: int


@record
class Horizon:
    """What is next: for each enabled plugin with queued tasks the time of the first, and when the first lease runs out.

    ``first`` is the earliest of all these, tasks of disabled plugins included. ``plugins``: all that are enabled.
    """

    due: Mapping[str, int]
    lease: int | None
    first: int | None
    plugins: Set[str]


@record
class PastAttempt:
    """The record of an ended attempt. ``error`` and ``error_code`` are what it ended with."""

    task_id: str
    claim: int
    plugin: str
    job: str
    number: int
    started_at: int
    ended_at: int
    outcome: OutcomeKind | Literal["lost"]
    error: str | None
    error_code: str | None


@record
class TaskFilter:
    """Which tasks a page lists. Unfinished states come in order of their time, finished ones latest first.

    ``after`` is the last task of the page before (its ``run_at`` or ``finished_at``, and its id).
    """

    state: State
    plugin: str | None = None
    job: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 50


@record
class Depth:
    """How many tasks of a job are in a state."""

    plugin: str
    job: str
    state: State
    tasks: int


@record
class Swept:
    """How many rows a sweep removed; ``removed``: those of uninstalled plugins."""

    finished: int = 0
    attempts: int = 0
    entries: int = 0
    locks: int = 0
    removed: int = 0

    @property
    def total(self) -> int:
        """All rows together."""
        return self.finished + self.attempts + self.entries + self.locks + self.removed


@record
class JobLimits:
    """A declared job: what a new task of it is given."""

    name: str
    max_attempts: int
    timeout_ms: int


@record
class Schedule:
    """A cron row. ``payload`` is what each of its tasks gets; ``next_fire`` is ``None`` when it never fires again.

    ``fires`` counts tasks made, ``skipped`` fires that met an unfinished predecessor, ``caught_up`` those made up late.
    """

    id: str
    plugin: str
    position: int
    pointer: str
    expression: str
    timezone: str
    job: str
    payload: str | None
    next_fire: int | None
    last_fire: int | None = None
    last_task: str | None = None
    fires: int = 0
    skipped: int = 0
    caught_up: int = 0


@record
class PluginRecord:
    """An installed plugin. ``manifest`` is its JSON text, ``timezone`` the site's zone for it.

    ``folder`` is where its code lies (its entry is found below), ``None`` when nobody said. ``internal_system`` is the
    approved identity policy of spec/cogover.md X1.
    """

    id: str
    platform: str
    version: str | None
    manifest: str
    digest: str
    enabled: bool
    timezone: str
    installed_at: int
    updated_at: int
    folder: str | None = None
    internal_system: bool = False


@record
class Installed:
    """A plugin with its jobs and cron rows, changed together. ``max_unfinished`` as in :class:`NewTask`."""

    plugin: PluginRecord
    jobs: Sequence[JobLimits] = ()
    schedules: Sequence[Schedule] = ()
    max_unfinished: int = 0


@record
class DueSchedule:
    """A due cron row, locked, as the scheduler decides on it. ``unfinished``: its last task is not done yet."""

    schedule: Schedule
    platform: str
    unfinished: bool


@record
class Fired:
    """What becomes of a due cron row: the tasks it makes, its next fire, and what to add to its counters."""

    schedule: Schedule
    tasks: Sequence[NewTask]
    next_fire: int | None
    skipped: int
    caught_up: int


@record
class Entry:
    """A stored value of a plugin. ``version`` grows with each write of any entry and is never used twice."""

    namespace: str
    key: str
    value: str
    version: int
    expires_at: int | None


@record
class LockLease:
    """A held lock. ``token`` is its fencing token: greater than that of every lease granted before."""

    name: str
    owner: str
    token: int
    expires_at: int
