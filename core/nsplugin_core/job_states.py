"""``docs/job_states.md``, drawn from the table of transitions and the platforms' own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from nsplugin.platforms import Platform, every
from nsplugin.retries import wait_range_ms
from nsplugin_core.tasks import TABLE, Transition

_INTRO: Final = """\
<!-- Generated from core/nsplugin_core/tasks.py and the platform files by `make update`. Do not edit. -->
# The states of a task

A task is what a job's `enqueue`, or a schedule's fire, leaves in the queue. "Delayed" and "waiting for a retry" are `queued`
with a time in the future. `gone` is no state: the task is not stored any more. Uninstalling a plugin removes its tasks in every
state.
"""
_EVENTS: Final[dict[str, str]] = {
    "claim": "a core claims it for a host with a free slot, once it is due",
    "success": "the handler returned",
    "failure": "the handler raised",
    "retryable": "the handler raised `RetryableError`",
    "timeout": "the attempt's time was over",
    "deferred": "the host exited, or the core stopped in order",
    "lost": "its lease ran out: the core that ran it is gone",
    "retry": "retried by hand, or by a command",
    "delete": "deleted by hand, or by a command",
    "expire": "kept as long as the platform keeps it",
}
_WHEN: Final[dict[str, str]] = {
    "always": "",
    "retried": "the platform retries this, and attempts are left",
    "attempts left": "attempts are left",
    "key free": "no unfinished task has its key",
    "otherwise": "otherwise",
}
_ATTEMPT: Final[dict[str, str]] = {"same": "", "+1": "counted", "-1": "given back", "0": "from 0 again"}
_RUN_AT: Final[dict[str, str]] = {"same": "", "now": "now", "now + wait": "after the platform's wait"}


def document() -> str:
    """The page as Markdown."""
    return "\n".join([_INTRO, *_diagram(), "", *_table(), "", "## On each platform", "", *_platforms(), *_waits()])


def _diagram() -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield "  [*] --> queued: enqueue, or a fire"
    edges: dict[tuple[str, str], list[str]] = {}
    for row in _rows():
        edges.setdefault((row.state, row.target), []).append(row.event)
    for (state, target), events in edges.items():
        yield f"  {state} --> {'[*]' if target == 'gone' else target}: {', '.join(dict.fromkeys(events))}"
    yield "```"


def _table() -> Iterator[str]:
    yield "| in | when | if | becomes | attempt | due again | `last_error` | required by |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in _rows():
        error = "set" if row.error == "set" else ""
        cells = (_EVENTS[row.event], _WHEN[row.when], row.target, _ATTEMPT[row.attempt], _RUN_AT[row.run_at], error, row.source)
        yield f"| {row.state} | {' | '.join(cells)} |"


def _rows() -> list[Transition]:
    return [row for row in TABLE if row.event != "uninstall"]


def _platforms() -> Iterator[str]:
    yield "| | " + " | ".join(platform.title for platform in every()) + " |"
    yield "| --- |" + " --- |" * len(every())
    for title, cell in _FACTS.items():
        yield f"| {title} | {' | '.join(cell(platform) for platform in every())} |"


def _kept(days: int) -> str:
    return f"{days} days" if days else "dropped when done"


_FACTS: Final[dict[str, Callable[[Platform], str]]] = {
    "a task is called": lambda p: p.words.task,
    "queued": lambda p: f"`{p.words.queued}`",
    "running": lambda p: f"`{p.words.running}`",
    "succeeded": lambda p: f"`{p.words.succeeded}`, {_kept(p.retention.succeeded_days)}",
    "dead": lambda p: f"`{p.words.dead}`, {_kept(p.retention.dead_days)}",
    "retried": lambda p: {"every-failure": "every failure", "retryable-only": "`RetryableError` and time-outs"}[p.retry.policy],
    "attempts": lambda p: f"{p.max_attempts.default} unless the job says otherwise, at most {p.max_attempts.max}",
    "a key is taken": lambda p: {"unfinished": "while its task is unfinished", "stored": "while its task is stored"}[
        p.enqueue.key_scope
    ],
    "missed fires": lambda p: {"once": "made up once", "none": "not made up"}[p.cron.catch_up],
    "a fire over an unfinished task": lambda p: {"skip": "is skipped", "allow": "makes another one"}[p.cron.overlap],
}  # fmt: skip


def _waits() -> Iterator[str]:
    yield ""
    yield "Waits after a failed attempt, from the shortest to the longest that chance can give:"
    yield ""
    yield "| after attempt | " + " | ".join(platform.title for platform in every()) + " |"
    yield "| --- |" + " --- |" * len(every())
    for attempt in range(1, max(platform.max_attempts.max for platform in every())):
        yield f"| {attempt} | {' | '.join(_wait(platform, attempt) for platform in every())} |"
    yield ""


def _wait(platform: Platform, attempt: int) -> str:
    if attempt >= platform.max_attempts.max:
        return ""
    shortest, longest = wait_range_ms(platform.retry, attempt)
    return f"{shortest / 1000:,g} s – {longest / 1000:,g} s"
