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


@click.command("dev", short_help="Run a plugin with its routes, schedules and administration page here.")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8787, show_default=True, help="Where to listen; 0: any free port."
)
@click.option("--timezone", metavar="TZ", help="The site's time zone; default: the project file's, else UTC.")
@click.option("--user", default="dev", show_default=True, metavar="NAME", help="Who calls routes with auth user: a stand-in.")
@click.option("--providers", metavar="MODULE:NAME", help=PROVIDERS_HELP)
@click.option("--allow-internal-system/--deny-internal-system", "internal_system", default=None, help=SYSTEM_HELP)
@click.option("--reset", is_flag=True, help="Forget queued tasks, dead letters and values of the last time.")
@click.option("--log-format", type=click.Choice(["console", "json"]), default="console", show_default=True)
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="debug", show_default=True)
@shared(COLOR)
def command(folder: Path, port: int, timezone: str | None, user: str, color: Color, **rest: Any) -> int:
    """Run the plugin in DIR until Ctrl-C, and load it anew whenever its code changes; queued tasks are kept.

    Its routes are served on this machine only. State is kept in DIR/.nsplugin.
    """
    from nsplugin_cli.commands import developing

    with refusals():
        from nsplugin_core.admin.access import AccessRefused
        from nsplugin_core.development import Development, FolderTaken, develop

        place = developing.place(folder)
        asked = Development(
            folders=(place,),
            state=place / STATE,
            timezone=developing.timezone(place, timezone),
            port=port,
            user=user,
            providers=developing.standins(rest["providers"]),
            internal_system=rest["internal_system"],
            reset=rest["reset"],
            form=rest["log_format"],
            level=rest["log_level"],
        )
        try:
            return develop(asked, developing.builder(folder, color, sys.stderr))
        except AccessRefused as error:
            raise WrongCall(f"--port: {error}") from error
        except (FolderTaken, OSError) as error:
            raise WrongCall(str(error)) from error
