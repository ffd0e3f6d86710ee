"""What the commands of a core print: tables and details for a person, one JSON object for a program. Pure.

Records come as plain JSON data: ``nsplugin_core.views.plain``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from nsplugin_cli.report.frame import cells, visible
from nsplugin_cli.report.text import count

VERSION: Final = 1
ERROR_WIDTH: Final = 72
Record = Mapping[str, Any]


def render_json(command: str, value: Record) -> str:
    """One object, two-space indent, one line feed at the end."""
    return json.dumps({"version": VERSION, "command": command, **value}, indent=2, ensure_ascii=False) + "\n"


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text, each as wide as its widest cell; what is ``None`` is a dash."""
    lines = [list(headings), *([_cell(cell) for cell in row] for row in rows)]
    widths = [max(cells(line[column]) for line in lines) for column in range(len(headings))]
    return "".join(_padded(line, widths) for line in lines)


def _cell(value: object) -> str:
    return "-" if value in (None, "") else visible(str(value))


def _padded(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text + " " * (width - cells(text)) for text, width in zip(line, widths, strict=True)).rstrip() + "\n"


def pairs(values: Mapping[str, object]) -> str:
    """Names and values, one a line; what is ``None`` is left out."""
    shown = {name: _cell(value) for name, value in values.items() if value is not None}
    width = max(map(len, shown), default=0)
    return "".join(f"{name:{width}}  {value}\n" for name, value in shown.items())


def tasks(found: Sequence[Record]) -> str:
    """A table of tasks."""
    headings = ("ID", "PLUGIN", "JOB", "STATE", "ATTEMPT", "WHEN", "PAYLOAD", "KEY")
    return table(headings, [_task(task) for task in found])


def _task(task: Record) -> tuple[object, ...]:
    attempt = f"{task['attempt']}/{task['maxAttempts']}"
    size = f"{task['payloadBytes']:,} B"
    return task["id"], task["plugin"], task["job"], task["status"], attempt, _when(task), size, task["key"]


def _when(task: Record) -> str:
    if task["finishedAt"]:
        return f"ended {task['finishedAt']}"
    if task["state"] == "running":
        return f"since {task['claimedAt']}"
    return f"{'again' if task['attempt'] else 'due'} {task['runAt']}"


def dead(found: Sequence[Record]) -> str:
    """A table of dead letters."""
    headings = ("ID", "PLUGIN", "JOB", "ATTEMPTS", "ENDED", "KEPT UNTIL", "ERROR")
    return table(headings, [_letter(task) for task in found])


def _letter(task: Record) -> tuple[object, ...]:
    error = task["lastError"] or ""
    short = error if len(error) <= ERROR_WIDTH else error[: ERROR_WIDTH - 1] + "…"
    return task["id"], task["plugin"], task["job"], task["attempt"], task["finishedAt"], task["keepUntil"], short


def task_detail(detail: Record) -> str:
    """Everything about one task, its attempts last."""
    task = detail["task"]
    names = {
        "id": task["id"],
        "plugin": task["plugin"],
        "job": task["job"],
        "state": task["status"],
        "attempts": f"{task['attempt']} of {task['maxAttempts']}",
        "time-out": f"{detail['timeoutMs']} ms",
        "source": task["source"],
        "enqueued by": task["enqueuedBy"],
        "identity": detail["identity"],
        "key": task["key"],
        "created": task["createdAt"],
        "due": task["dueAt"],
        "next run": task["runAt"] if task["state"] == "queued" else None,
        "running at": detail["claimer"] if task["state"] == "running" else None,
        "ended": task["finishedAt"],
        "kept until": task["keepUntil"],
        "error": task["lastError"],
        "error code": task["lastErrorCode"],
        "payload": detail["payload"] or f"{task['payloadBytes']:,} bytes; --payload shows it",
    }
    return pairs(names) + "".join(_attempts(detail["attempts"]))


def _attempts(attempts: Sequence[Record]) -> Iterator[str]:
    if attempts:
        rows = [(each["number"], each["outcome"], each["startedAt"], each["endedAt"], each["error"]) for each in attempts]
        yield "\n" + table(("ATTEMPT", "OUTCOME", "STARTED", "ENDED", "ERROR"), rows)


def schedules(found: Sequence[Record]) -> str:
    """A paragraph a schedule: what it says, when it fires next, how it went so far."""
    return "\n".join(map(_schedule, found))


def _schedule(row: Record) -> str:
    head = f"{row['plugin']} {row['pointer']}  {row['expression']}  {row['words']} ({row['timezone']}) → {row['job']}"
    if not row["active"]:
        fires = ["its plugin is disabled"]
    else:
        fires = [f"{fire['local']}  {fire['at']}" for fire in row["nextFires"]] or ["it never fires again"]
    made = f"made {count(row['fires'], 'task')}, skipped {count(row['skipped'], 'fire')}, made up {row['caughtUp']:,}"
    return "".join(f"{line}\n" for line in (visible(head), *(f"    {each}" for each in fires), f"  {made}"))


def installed(plugin: Record, zones: Sequence[str], *, verb: str, changes: Sequence[Record], kept: int) -> str:
    """That a plugin was installed or upgraded, and what that means. ``zones``: on whose clocks its schedules fire."""
    name = visible(" ".join(filter(None, (plugin["id"], plugin["version"]))))
    what = ", ".join([count(plugin["jobs"], "job"), count(plugin["schedules"], "schedule"), *map(visible, zones)])
    place = plugin["folder"] or "no code: nothing runs until it is installed with --code FOLDER"
    state = "" if plugin["enabled"] else " It is disabled: `nsplugin enable` starts it."
    lines = [f"{verb} {name} ({plugin['platformTitle']}): {what}.", f"  code: {visible(place)}"]
    lines += [line for change in changes for line in _change(change)]
    lines += [f"  {count(kept, 'unfinished task')} kept."] if kept else []
    return "\n".join([*lines, *([state.strip()] if state else [])]) + "\n"


def _change(change: Record) -> Iterator[str]:
    yield f"  {change['level']} {change['kind']} {visible(change['pointer'])}: {visible(change['message'])}"
    if change["hint"]:
        yield f"    hint: {visible(change['hint'])}"
