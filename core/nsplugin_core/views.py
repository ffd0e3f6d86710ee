"""What people and scripts are shown of a core: plain frozen data, without payloads (spec/cogover.md X7).

Times are UTC milliseconds; :func:`plain` writes them as ISO 8601.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, Final

from nsplugin.platforms import Platform
from nsplugin_core.store.records import PastAttempt, Task
from nsplugin_core.tasks import State

_MOMENTS: Final = frozenset({"at", "next_fire", "last_fire", "lease_until", "keep_until"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many tasks are in each state."""

    queued: int = 0
    running: int = 0
    succeeded: int = 0
    dead: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StateWords:
    """The platform's own words: for a task ("run"), and for each state ("PENDING")."""

    task: str
    queued: str
    running: str
    succeeded: str
    dead: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginView:
    """An installed plugin. ``timezone`` is the site's; ``folder`` is where its code lies, below which ``entry`` is found.

    ``routes`` are such as ``"POST /expire"``. ``words`` are the platform's for tasks and states, ``counts`` of its tasks.
    """

    id: str
    platform: str
    platform_title: str
    version: str | None
    digest: str
    enabled: bool
    timezone: str
    entry: str
    folder: str | None
    internal_system: bool
    capabilities: Sequence[str]
    routes: Sequence[str]
    jobs: int
    schedules: int
    next_fire: int | None
    words: StateWords
    counts: Counts
    installed_at: int
    updated_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A declared job; ``declared`` is ``False`` for one that the installed version dropped, and that still has tasks."""

    name: str
    title: str | None
    max_attempts: int
    timeout_ms: int
    has_payload_schema: bool
    declared: bool
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class FireView:
    """A fire to come: its instant, and what clocks show then in the schedule's zone (``2026-03-08 03:00 EDT``)."""

    at: int
    local: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleView:
    """A cron row. ``words`` say the expression; ``next_fire`` is ``None`` when it never fires again.

    ``fires`` counts the tasks it made, ``skipped`` the fires that met an unfinished one, ``caught_up`` those made up late.
    ``active`` is ``False`` while its plugin is disabled.
    """

    plugin: str
    pointer: str
    expression: str
    words: str
    timezone: str
    job: str
    active: bool
    next_fire: int | None
    next_fires: Sequence[FireView]
    last_fire: int | None
    last_task: str | None
    fires: int
    skipped: int
    caught_up: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """A task without its payload. ``state`` is the engine's, ``status`` the platform's word for it.

    ``attempt`` of ``max_attempts`` were begun. ``due_at`` is when it was meant to run, ``run_at`` when it is due next.
    ``finished_at`` and ``keep_until`` are set once it has ended. ``key`` is its dedupe or idempotency key.
    """

    id: str
    plugin: str
    job: str
    state: State
    status: str
    attempt: int
    max_attempts: int
    payload_bytes: int
    source: str
    enqueued_by: str | None
    key: str | None
    created_at: int
    due_at: int
    run_at: int
    claimed_at: int | None
    finished_at: int | None
    keep_until: int | None
    last_error: str | None
    last_error_code: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptView:
    """An ended attempt: ``success``, ``failure``, ``retryable``, ``timeout``, ``lost`` or ``deferred``."""

    task: str
    job: str
    number: int
    outcome: str
    started_at: int
    ended_at: int
    error: str | None
    error_code: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDetail:
    """One task with its ended attempts, oldest first. ``payload`` is its JSON text when it was asked for and there is one."""

    task: TaskView
    timeout_ms: int
    identity: str | None
    claimer: str | None
    lease_until: int | None
    payload: str | None
    attempts: Sequence[AttemptView]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPage:
    """Some of a list of tasks; ``next`` is where the rest begins (``TaskQuery.after``), ``None`` at its end."""

    items: Sequence[TaskView]
    next: str | None


def state_words(platform: Platform) -> StateWords:
    """The words of a platform's file."""
    words = platform.words
    return StateWords(task=words.task, queued=words.queued, running=words.running, succeeded=words.succeeded, dead=words.dead)


def task_view(task: Task, platform: Platform) -> TaskView:
    """A stored task as it is listed."""
    own = {field.name: getattr(task, field.name) for field in fields(TaskView) if field.name != "status"}
    return TaskView(status=getattr(platform.words, task.state), **own)


def attempt_view(past: PastAttempt) -> AttemptView:
    """A stored attempt as it is listed."""
    own = {field.name: getattr(past, field.name) for field in fields(AttemptView) if field.name != "task"}
    return AttemptView(task=past.task_id, **own)


def isoformat(moment: int) -> str:
    """UTC milliseconds as ``2026-06-01T12:00:00Z``, with milliseconds where there are any."""
    text = datetime.fromtimestamp(moment / 1000, UTC).replace(tzinfo=None, microsecond=0).isoformat()
    return f"{text}.{moment % 1000:03d}Z" if moment % 1000 else f"{text}Z"


def plain(value: Any) -> Any:
    """A view as JSON data: camelCase keys, times in ISO 8601."""
    if is_dataclass(value):
        return {_camel(field.name): _plain_field(field.name, getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _plain_field(name: str, value: Any) -> Any:
    if isinstance(value, int) and (name in _MOMENTS or name.endswith("_at")):
        return isoformat(value)
    return plain(value)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
