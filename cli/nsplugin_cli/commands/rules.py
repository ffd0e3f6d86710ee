"""``nsplugin rules``: all rules."""

from __future__ import annotations

import sys
from typing import Any

import click

from nsplugin_cli import terminal
from nsplugin_cli.commands.options import COLOR, shared


@click.command("rules", short_help="List all rules.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@shared(COLOR)
def command(form: str, color: Any) -> int:
    """List all rules: code, name, severity and what each finds."""
    from nsplugin_cli import catalogue
    from nsplugin_cli.report.rules import LISTINGS

    sys.stdout.write(LISTINGS[form](catalogue.rules(), color=terminal.colored(color, sys.stdout)))
    return 0
