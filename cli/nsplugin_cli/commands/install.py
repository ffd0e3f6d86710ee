"""``nsplugin install``: a plugin into a core."""

from __future__ import annotations

from pathlib import Path

import click

from nsplugin_cli.commands.core_options import DATABASE, FORMAT
from nsplugin_cli.commands.installing import CODE, IDENTITY, TIMEOUT, taken
from nsplugin_cli.commands.options import COLOR, shared
from nsplugin_cli.terminal import Color


@click.command("install", short_help="Take a plugin into a core.")
@click.argument("path", metavar="DIR|MANIFEST")
@click.option("--timezone", metavar="TZ", help="The site's time zone, such as Europe/Berlin; default: the project file's.")
@shared(CODE, IDENTITY, TIMEOUT, DATABASE, FORMAT, COLOR)
def command(
    path: str,
    timezone: str | None,
    code: Path | None,
    internal_system: bool | None,
    timeout: float,
    database: str,
    form: str,
    color: Color,
) -> int:
    """Build and check a plugin, and install it with where its code lies; what check refuses is refused.

    DIR is a plugin's folder; MANIFEST what build wrote, whose code lies beside it or up to three folders above, unless --code
    says where. A plugin that is installed already is upgraded: its queued tasks stay, unchanged schedules keep their place.
    """
    return taken("install", path, timezone, code, internal_system, seconds=timeout, database=database, form=form, color=color)
