"""``nsplugin dev``: the whole system on the author's machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from nsplugin_cli.commands.core_options import refusals
from nsplugin_cli.commands.developing import PROVIDERS_HELP, SYSTEM_HELP
from nsplugin_cli.commands.options import COLOR, shared
from nsplugin_cli.diagnostic import WrongCall
from nsplugin_cli.terminal import Color

STATE = ".nsplugin"
PORT = click.IntRange(0, 65535)


@click.command("dev", short_help="Run a plugin with its routes, schedules and administration page here.")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(exists=True, path_type=Path))
@click.option("--port", type=PORT, default=8787, show_default=True, help="Where routes are served; 0: any free port.")
@click.option("--admin-port", type=PORT, help="Where the administration page is; default: the port after --port.")
@click.option("--timezone", metavar="TZ", help="The site's time zone; default: the project file's, else UTC.")
@click.option("--user", default="dev", show_default=True, metavar="NAME", help="Who calls routes with auth user: a stand-in.")
@click.option("--providers", metavar="MODULE:NAME", help=PROVIDERS_HELP)
@click.option("--allow-internal-system/--deny-internal-system", "internal_system", default=None, help=SYSTEM_HELP)
@click.option("--reset", is_flag=True, help="Forget queued tasks, dead letters and values of the last time.")
@click.option("--log-format", type=click.Choice(["console", "json"]), default="console", show_default=True)
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="debug", show_default=True)
@shared(COLOR)
def command(folder: Path, port: int, timezone: str | None, user: str, color: Color, **rest: Any) -> int:
    """Run the plugin in DIR until Ctrl-C, and load it anew whenever its code or project file changes; queued tasks are kept.

    Its routes and the administration page are served on this machine only. State is kept in DIR/.nsplugin.
    """
    from nsplugin_cli.commands import building, developing

    with refusals():
        from nsplugin_core.admin.access import AccessRefused
        from nsplugin_core.development import Development, FolderTaken, develop

        building.site_zone((), timezone)
        place = developing.place(folder)
        asked = Development(
            folders=(place,),
            state=place / STATE,
            port=port,
            admin_port=developing.admin_port(port, rest["admin_port"]),
            user=user,
            providers=developing.standins(rest["providers"]),
            internal_system=rest["internal_system"],
            reset=rest["reset"],
            form=rest["log_format"],
            level=rest["log_level"],
        )
        try:
            return develop(asked, developing.builder(folder, timezone, color, sys.stderr))
        except (AccessRefused, FolderTaken, OSError) as error:
            raise WrongCall(str(error)) from error
