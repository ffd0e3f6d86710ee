"""``nsplugin jobs``: tasks and schedules of a core."""

from __future__ import annotations

import sys

import click

from nsplugin_cli.commands import enqueue_options as enqueueing
from nsplugin_cli.commands.core_options import DATABASE, FORMAT, SpellingGroup, core, show_json
from nsplugin_cli.commands.options import shared
from nsplugin_cli.commands.task_options import AFTER, JOB, LIMIT, PAYLOAD, PLUGIN, listed, shown


@click.group("jobs", cls=SpellingGroup, short_help="List, show and enqueue tasks; list schedules.")
def command() -> None:
    """List, show and enqueue tasks; list schedules."""


@command.command("list", short_help="List tasks.")
@click.option("--state", "states", multiple=True, metavar="STATE", help="Only in this state, in anybody's words (repeatable).")
@shared(PLUGIN, JOB, LIMIT, AFTER, DATABASE, FORMAT)
def list_tasks(
    states: tuple[str, ...], plugin: str | None, job: str | None, limit: int, after: str | None, database: str, form: str
) -> int:
    """List tasks without their payloads: running ones, queued ones by their time, then ended ones, latest first."""
    return listed("jobs list", states, plugin, job, limit, after, database=database, form=form)


@command.command("show", short_help="Show one task and its attempts.")
@click.argument("task", metavar="ID")
@shared(PAYLOAD, DATABASE, FORMAT)
def show_task(task: str, payload: bool, database: str, form: str) -> int:
    """Show everything about one task and its attempts; its payload only with --payload."""
    return shown("jobs show", task, payload, database=database, form=form)


@command.command("enqueue", short_help="Enqueue a task.")
@click.argument("plugin", metavar="PLUGIN")
@click.argument("job", metavar="JOB")
@shared(*enqueueing.OPTIONS, DATABASE, FORMAT)
def enqueue(plugin: str, job: str, database: str, form: str, **given: str | int | None) -> int:
    """Enqueue a task on behalf of an administrator, under the rules of the plugin's platform."""
    with core(database) as operations:
        found = operations.plugin(plugin)
        asked = enqueueing.asked(found.platform, given)
        made = operations.enqueue(plugin, job, asked.payload, asked.options, user=asked.user)
        if form == "json":
            show_json("jobs enqueue", id=made.task_id, duplicate=made.duplicate)
        else:
            click.echo(f"{made.task_id}{enqueueing.remark(found, duplicate=made.duplicate)}")
    return 0


@command.command("schedules", short_help="List schedules with their next fires.")
@click.option("--count", type=click.IntRange(0, 100), default=3, show_default=True, help="Fire times a schedule.")
@shared(PLUGIN, DATABASE, FORMAT)
def schedules(count: int, plugin: str | None, database: str, form: str) -> int:
    """List schedules with their next fires, and how many tasks they made."""
    from nsplugin_cli.report import records
    from nsplugin_core.views import plain

    with core(database) as operations:
        rows = operations.schedules(plugin, fires=count)
    if form == "json":
        show_json("jobs schedules", schedules=rows)
    else:
        sys.stdout.write(records.schedules(plain(rows)) or "There are no schedules.\n")
    return 0
