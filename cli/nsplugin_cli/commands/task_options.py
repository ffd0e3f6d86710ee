"""What ``jobs`` and ``dead`` have in common."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from nsplugin_cli import terminal
from nsplugin_cli.commands.core_options import core, show_json

if TYPE_CHECKING:
    from nsplugin_core.tasks import State

PLUGIN: Final = click.option("--plugin", metavar="ID", help="Only this plugin's.")
JOB: Final = click.option("--job", metavar="NAME", help="Only this job's.")
LIMIT: Final = click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many at most.")
AFTER: Final = click.option("--after", metavar="PLACE", help="Go on where the page before ended: its `next`.")
PAYLOAD: Final = click.option("--payload", is_flag=True, help="Show the payload too.")


def listed(
    command: str,
    words: Sequence[str],
    plugin: str | None,
    job: str | None,
    limit: int,
    after: str | None,
    *,
    database: str,
    form: str,
) -> int:
    """Print a page of tasks in the named states (all, if none is named)."""
    from nsplugin_cli.report import records
    from nsplugin_core.operations import STATES, TaskQuery, state_named
    from nsplugin_core.views import plain

    with core(database) as operations:
        named = {state_named(word) for word in words}
        states: list[State] = [state for state in STATES if state in named or not named]
        page = operations.tasks(TaskQuery(states=states, plugin=plugin, job=job, after=after, limit=limit))
    if form == "json":
        show_json(command, tasks=page.items, next=page.next)
        return 0
    render = records.dead if states == ["dead"] else records.tasks
    sys.stdout.write(render(plain(page.items)) if page.items else "There are none.\n")
    if page.next:
        terminal.say(f"There are more: add --after {page.next}")
    return 0


def shown(command: str, task: str, payload: bool, *, database: str, form: str) -> int:
    """Print one task."""
    from nsplugin_cli.report import records
    from nsplugin_core.views import plain

    with core(database) as operations:
        detail = operations.task(task, payload=payload)
    if form == "json":
        show_json(command, **plain(detail))
    else:
        sys.stdout.write(records.task_detail(plain(detail)))
    return 0
