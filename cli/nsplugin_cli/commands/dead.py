"""``nsplugin dead``: dead letters of a core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from nsplugin_cli import terminal
from nsplugin_cli.commands.core_options import DATABASE, FORMAT, YES, SpellingGroup, confirm, core, show_json
from nsplugin_cli.commands.options import shared
from nsplugin_cli.commands.task_options import AFTER, JOB, LIMIT, PAYLOAD, PLUGIN, listed, shown
from nsplugin_cli.diagnostic import WrongCall

if TYPE_CHECKING:
    from nsplugin_core.operations import Operations

IDS: Final = click.argument("ids", metavar="[ID]...", nargs=-1)
ALL: Final = click.option("--all", "every", is_flag=True, help="All of a plugin's (name it with --plugin), or of its --job.")


@click.group("dead", cls=SpellingGroup, short_help="List, show, retry and delete dead letters.")
def command() -> None:
    """List, show, retry and delete dead letters: tasks that failed for good."""


@command.command("list", short_help="List dead letters.")
@shared(PLUGIN, JOB, LIMIT, AFTER, DATABASE, FORMAT)
def list_dead(plugin: str | None, job: str | None, limit: int, after: str | None, database: str, form: str) -> int:
    """List dead letters without their payloads, latest first."""
    return listed("dead list", ["dead"], plugin, job, limit, after, database=database, form=form)


@command.command("show", short_help="Show one dead letter and its attempts.")
@click.argument("task", metavar="ID")
@shared(PAYLOAD, DATABASE, FORMAT)
def show_dead(task: str, payload: bool, database: str, form: str) -> int:
    """Show everything about one dead letter and its attempts; its payload only with --payload."""
    return shown("dead show", task, payload, database=database, form=form)


@command.command("retry", short_help="Queue dead letters again.")
@IDS
@shared(ALL, PLUGIN, JOB, DATABASE, FORMAT)
def retry(ids: tuple[str, ...], every: bool, plugin: str | None, job: str | None, database: str, form: str) -> int:
    """Queue dead letters again, from 0 attempts. One whose key an unfinished task has is dropped."""
    owner = _selection(ids, every, plugin, job)
    with core(database) as operations:
        done = operations.retry_all(owner, job=job) if owner else operations.retry(ids, plugin=plugin)
        missing = _why_missing(operations, done.missing)
    if form == "json":
        show_json("dead retry", queued=done.queued, dropped=done.dropped, missing=done.missing)
    else:
        click.echo(f"{len(done.queued):,} queued again{_dropped(len(done.dropped))}.")
    return _told(missing)


@command.command("delete", short_help="Delete dead letters.")
@IDS
@shared(ALL, PLUGIN, JOB, YES, DATABASE, FORMAT)
def delete(ids: tuple[str, ...], every: bool, plugin: str | None, job: str | None, yes: bool, database: str, form: str) -> int:
    """Delete dead letters for good. With --all it asks first; in a script, --yes says that it is meant."""
    owner = _selection(ids, every, plugin, job)
    with core(database) as operations:
        if owner and not yes:
            confirm(f"this deletes all dead letters of {owner}{f', job {job},' if job else ''} for good")
        done = operations.delete_all(owner, job=job) if owner else operations.delete(ids, plugin=plugin)
        missing = _why_missing(operations, done.missing)
    if form == "json":
        show_json("dead delete", deleted=done.deleted, missing=done.missing)
    else:
        click.echo(f"{len(done.deleted):,} deleted.")
    return _told(missing)


def _selection(ids: Sequence[str], every: bool, plugin: str | None, job: str | None) -> str | None:
    """The plugin whose dead letters are all meant; ``None`` when ids are."""
    if every == bool(ids):
        raise WrongCall("name dead letters by their ids (`nsplugin dead list`), or all of a plugin: --all --plugin ID")
    if job is not None and not every:
        raise WrongCall("--job goes with --all: the ids say already which ones are meant")
    if every and plugin is None:
        raise WrongCall("--all needs --plugin ID: nobody means the dead letters of all plugins at once")
    return plugin if every else None


def _dropped(count: int) -> str:
    return f", {count:,} dropped (an unfinished task has the key)" if count else ""


def _why_missing(operations: Operations, missing: Sequence[str]) -> list[str]:
    from nsplugin_core.operations import NotFound

    told = []
    for task_id in missing:
        try:
            task = operations.task(task_id).task
            told.append(f"{task_id} of {task.plugin} is no dead letter here: it is {task.status}")
        except NotFound as error:
            told.append(str(error))
    return told


def _told(missing: Sequence[str]) -> int:
    """What was named and is not there makes it a wrong call; the others are done all the same."""
    for line in missing:
        terminal.say(f"Error: {line}")
    return 2 if missing else 0
