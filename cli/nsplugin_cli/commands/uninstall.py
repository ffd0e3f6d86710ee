"""``nsplugin uninstall``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nsplugin_cli.commands.core_options import DATABASE, FORMAT, YES, confirm, core, show_json
from nsplugin_cli.commands.options import shared
from nsplugin_cli.report.text import count

if TYPE_CHECKING:
    from nsplugin_core.views import Counts


@click.command("uninstall", short_help="Remove a plugin with its tasks and data.")
@click.argument("plugin", metavar="PLUGIN")
@shared(YES, DATABASE, FORMAT)
def command(plugin: str, yes: bool, database: str, form: str) -> int:
    """Remove a plugin from a core, with its tasks, dead letters, schedules and stored data. Its code stays where it is."""
    with core(database) as operations:
        counts = operations.plugin(plugin).counts
        if not yes:
            confirm(f"this removes {plugin} with {_amount(counts)}, and all data it stored")
        counts = operations.uninstall(plugin)
        if form == "json":
            show_json("uninstall", id=plugin, removed=counts)
        else:
            click.echo(f"{plugin} is uninstalled; {_amount(counts)} are gone.")
    return 0


def _amount(counts: Counts) -> str:
    unfinished, dead = count(counts.queued + counts.running, "unfinished task"), count(counts.dead, "dead letter")
    return f"{unfinished} and {dead}"
