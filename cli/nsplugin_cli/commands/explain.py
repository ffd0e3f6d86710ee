"""``nsplugin explain``: the documentation of one rule."""

from __future__ import annotations

import sys
from typing import Any

import click

from nsplugin_cli import terminal
from nsplugin_cli.commands.options import COLOR, shared


@click.command("explain", short_help="Explain a rule.")
@click.argument("code", metavar="CODE")
@shared(COLOR)
def command(code: str, color: Any) -> int:
    """What a rule finds, why it matters, a bad and a good example. CODE is a code (NSP207) or a name (cron-never-fires)."""
    from nsplugin_cli import catalogue
    from nsplugin_cli.report.rules import explanation

    sys.stdout.write(explanation(catalogue.rule(code), color=terminal.colored(color, sys.stdout)))
    return 0
