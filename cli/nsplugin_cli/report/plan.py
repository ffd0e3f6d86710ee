"""What ``plan`` prints: a table for a person, one JSON object for a program. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from nsplugin import cron
from nsplugin.durations import spoken
from nsplugin.retries import RETRIED
from nsplugin_cli.report.frame import Fragment, visible
from nsplugin_cli.report.text import count, paint

if TYPE_CHECKING:
    from nsplugin.planning import Meeting, Plan, Range, SchedulePlan, Step

_HEADS: Final = ("attempt", "waits", "starts after", "ends after")
_OVERLAP: Final[Mapping[str, str]] = {
    "skip": "a fire that meets an unfinished task is skipped",
    "allow": "a fire makes a task of its own, so both run side by side: guard the job with a lock",
}


def render_text(plan: Plan, *, color: bool = False) -> str:
    """The attempts as a table, the whole span, and what the next fires of each schedule meet."""
    return paint(_fragments(plan), color=color)


def _fragments(plan: Plan) -> Iterator[Fragment]:
    job = plan.job
    yield "path", visible(f"{plan.plugin}: {job.name}")
    yield "", f" ({plan.platform.title}): {count(job.max_attempts, 'attempt')} of at most {spoken(job.timeout_ms)} each\n"
    yield "dim", f"  {_retried(plan)}\n\n"
    yield from _table(plan.steps)
    low, high = plan.span
    yield "", f"\nGiven up {_over(low)} after the first attempt starts if each fails at once,\n"
    yield "", f"{spoken(high)} after it if each takes all its time.\n"
    for schedule in plan.schedules:
        yield "", "\n"
        yield from _schedule(schedule, plan)


def _over(low: int) -> str:
    return spoken(low) if low else "right"


def _retried(plan: Plan) -> str:
    if "failure" in RETRIED[plan.platform.retry.policy]:
        return "every failure and time-out is retried"
    return "RetryableError and time-outs are retried; any other error ends it at once"


def _table(steps: tuple[Step, ...]) -> Iterator[Fragment]:
    rows = [(str(step.attempt), _range(step.wait), _range(step.starts), _range(step.ends)) for step in steps]
    widths = [max(len(row[column]) for row in (_HEADS, *rows)) for column in range(len(_HEADS))]
    yield "dim", _row(_HEADS, widths)
    for row in rows:
        yield "", _row(row, widths)


def _row(row: tuple[str, ...], widths: list[int]) -> str:
    first, *others = zip(row, widths, strict=True)
    cells = [first[0].rjust(first[1]), *(text.ljust(width) for text, width in others)]
    return f"  {'   '.join(cells)}".rstrip() + "\n"


def _range(between: Range | None) -> str:
    if between is None:
        return "—"
    low, high = between
    return spoken(low) if low == high else f"{spoken(low)} – {spoken(high)}"


def _schedule(schedule: SchedulePlan, plan: Plan) -> Iterator[Fragment]:
    words = cron.describe(cron.parse(schedule.expression))
    yield "path", visible(schedule.expression)
    yield "", f"  {words} ({schedule.timezone})\n"
    if schedule.first is None:
        yield "", "  never fires again\n"
        return
    yield "", f"  {_local(schedule.first, schedule)}  starts a task. If it keeps failing:\n"
    for meeting in schedule.meetings:
        yield "", f"  {_local(meeting.minute, schedule)}  "
        yield from _met(meeting)
    if any(meeting.running or meeting.awaited for meeting in schedule.meetings):
        yield "note", "  ! "
        yield "", f"{_OVERLAP[plan.overlap]}\n"


def _local(minute: int, schedule: SchedulePlan) -> str:
    wall, label = cron.local(minute, cron.zone(schedule.timezone, offsets=True))
    return f"{wall:%Y-%m-%d %H:%M} {label}"


def _met(meeting: Meeting) -> Iterator[Fragment]:
    """``attempt 4 overlaps the next fire``, in the words that the ranges allow."""
    if meeting.running is None and meeting.awaited is None:
        yield "good", "meets nothing"
        yield "", ": all attempts are over by then\n"
        return
    verb = "overlaps this fire" if meeting.certain else "can overlap this fire"
    between = meeting.running or meeting.awaited
    assert between is not None
    first, last = between
    text = f"attempt {first} {verb}" if first == last else f"one of attempts {first} to {last} {verb}"
    yield "note", text
    yield "", f", {spoken(meeting.after_ms)} later{'' if meeting.certain else ', if attempts take their time'}\n"


def render_json(plan: Plan) -> str:
    """One object; times in milliseconds after the first attempt starts."""
    return json.dumps(_plain(plan), indent=2, ensure_ascii=False) + "\n"


def _plain(plan: Plan) -> dict[str, Any]:
    return {
        "version": 1,
        "command": "plan",
        "plugin": plan.plugin,
        "platform": plan.platform.name,
        "job": plan.job.name,
        "maxAttempts": plan.job.max_attempts,
        "timeoutMs": plan.job.timeout_ms,
        "attempts": [
            {"attempt": step.attempt, "waitMs": step.wait, "startsMs": step.starts, "endsMs": step.ends} for step in plan.steps
        ],
        "spanMs": plan.span,
        "schedules": [_plain_schedule(schedule) for schedule in plan.schedules],
    }


def _plain_schedule(schedule: SchedulePlan) -> dict[str, Any]:
    return {
        "pointer": schedule.pointer,
        "expression": schedule.expression,
        "timezone": schedule.timezone,
        "firstFire": None if schedule.first is None else _instant(schedule.first),
        "nextFires": [
            {
                "at": _instant(meeting.minute),
                "afterMs": meeting.after_ms,
                "running": meeting.running,
                "awaited": meeting.awaited,
                "certain": meeting.certain,
            }
            for meeting in schedule.meetings
        ],
    }


def _instant(minute: int) -> str:
    return cron.isoformat(minute).replace("Z", ":00Z")
