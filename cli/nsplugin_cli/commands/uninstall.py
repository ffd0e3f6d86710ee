"""``nsplugin uninstall``."""

from __future__ import annotations

import sys

import click

from nsplugin_cli.commands.core_options import DATABASE, FORMAT, core, show_json
from nsplugin_cli.commands.options import shared
from nsplugin_cli.diagnostic import WrongCall


@click.command("uninstall", short_help="Remove a plugin with its tasks and data.")
@click.argument("plugin", metavar="PLUGIN")
@click.option("--yes", is_flag=True, help="Don't ask.")
@shared(DATABASE, FORMAT)
def command(plugin: str, yes: bool, database: str, form: str) -> int:
    """Remove a plugin from a core, with its tasks, dead letters, schedules and stored data. Its code stays where it is."""
    with core(database) as operations:
        counts = operations.plugin(plugin).counts
        unfinished = counts.queued + counts.running
        if not yes:
            _ask(plugin, unfinished, counts.dead)
        counts = operations.uninstall(plugin)
        if form == "json":
            show_json("uninstall", id=plugin, removed=counts)
        else:
            click.echo(f"{plugin} is uninstalled; {unfinished:,} unfinished tasks and {counts.dead:,} dead letters are gone.")
    return 0


def _ask(plugin: str, unfinished: int, dead: int) -> None:
    """A script must not stop at a prompt: without a terminal, --yes is needed."""
    if not sys.stdin.isatty():
        raise WrongCall(f"this removes {plugin} with {unfinished:,} unfinished tasks and {dead:,} dead letters: add --yes")
    text = f"Remove {plugin} with {unfinished:,} unfinished tasks and {dead:,} dead letters, and all data it stored?"
    click.confirm(text, abort=True, err=True)
