"""``nsplugin upgrade``: another version of an installed plugin."""

from __future__ import annotations

from pathlib import Path

import click

from nsplugin_cli.commands.core_options import DATABASE, FORMAT
from nsplugin_cli.commands.installing import CODE, IDENTITY, TIMEOUT, taken
from nsplugin_cli.commands.options import COLOR, shared
from nsplugin_cli.terminal import Color


@click.command("upgrade", short_help="Move an installed plugin to another version.")
@click.argument("path", metavar="DIR|MANIFEST")
@click.option("--timezone", metavar="TZ", help="Move the site to this time zone too.")
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
    """Install another version of a plugin that is installed, and say what changed, breaking changes first.

    Queued tasks stay and run with the new code; schedules that did not change keep their place.
    """
    return taken("upgrade", path, timezone, code, internal_system, seconds=timeout, database=database, form=form, color=color)
