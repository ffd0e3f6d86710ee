"""``nsplugin enable``."""

from __future__ import annotations

import click

from nsplugin_cli.commands.core_options import DATABASE, FORMAT, core, show_json
from nsplugin_cli.commands.options import shared


@click.command("enable", short_help="Go on with a plugin's tasks and schedules.")
@click.argument("plugin", metavar="PLUGIN")
@shared(DATABASE, FORMAT)
def command(plugin: str, database: str, form: str) -> int:
    """Go on with a plugin's tasks; its schedules fire from now on.

    Fires of the time when it was disabled are not made up.
    """
    with core(database) as operations:
        changed = operations.enable(plugin)
        if form == "json":
            show_json("enable", changed=changed, plugin=operations.plugin(plugin))
        else:
            click.echo(f"{plugin} is enabled{'' if changed else ' already'}.")
    return 0
