"""``nsplugin disable``."""

from __future__ import annotations

import click

from nsplugin_cli.commands.core_options import DATABASE, FORMAT, core, show_json
from nsplugin_cli.commands.options import shared


@click.command("disable", short_help="Start no more of a plugin's tasks, and keep them.")
@click.argument("plugin", metavar="PLUGIN")
@shared(DATABASE, FORMAT)
def command(plugin: str, database: str, form: str) -> int:
    """Start no more of a plugin's tasks, and fire none of its schedules; attempts that run are finished.

    Its tasks are kept, and go on when it is enabled again.
    """
    with core(database) as operations:
        changed = operations.disable(plugin)
        if form == "json":
            show_json("disable", changed=changed, plugin=operations.plugin(plugin))
        else:
            click.echo(f"{plugin} is disabled{'' if changed else ' already'}.")
    return 0
