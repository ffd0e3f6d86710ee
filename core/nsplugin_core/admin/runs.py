"""Recent runs: a plugin's latest attempts, together by the task that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nsplugin_core.operations import NotFound, Operations
from nsplugin_core.views import AttemptView, StateWords

ATTEMPTS: Final = 80
RUNS: Final = 20
GONE: Final = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A task that was attempted lately. ``attempts``: the latest ones, oldest first. ``stored``: there is more to see of it.

    ``state`` is the engine's or ``gone``, ``status`` the platform's word for it.
    """

    task: str
    job: str
    state: str
    status: str
    stored: bool
    attempts: Sequence[AttemptView]

    @property
    def last(self) -> AttemptView:
        """The attempt that ended last."""
        return self.attempts[-1]


def recent_runs(operations: Operations, plugin: str, words: StateWords, *, keeps_succeeded: bool) -> list[Run]:
    """The runs whose attempts ended last, latest first."""
    by_task: dict[str, list[AttemptView]] = {}
    for attempt in operations.recent(plugin, limit=ATTEMPTS):
        by_task.setdefault(attempt.task, []).insert(0, attempt)
    shown = list(by_task.values())[:RUNS]
    return [_run(operations, plugin, attempts, words, keeps_succeeded) for attempts in shown]


def _run(operations: Operations, plugin: str, attempts: Sequence[AttemptView], words: StateWords, keeps_succeeded: bool) -> Run:
    last = attempts[-1]
    if last.outcome == "success":
        state, status, stored = "succeeded", words.succeeded, keeps_succeeded
    else:
        state, status = _now(operations, plugin, last.task)
        stored = state != "gone"
    return Run(task=last.task, job=last.job, state=state, status=status, stored=stored, attempts=attempts)


def _now(operations: Operations, plugin: str, task: str) -> tuple[str, str]:
    try:
        view = operations.task(task, plugin=plugin).task
    except NotFound:
        return "gone", GONE
    return view.state, view.status
