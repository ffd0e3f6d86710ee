"""``nsplugin diff``: what an upgrade changes for a host."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from nsplugin_cli.commands.options import COLOR, instant, shared
from nsplugin_cli.showing import show
from nsplugin_cli.terminal import Color


@click.command("diff", short_help="Say what an upgrade changes for a host.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--timezone", default="UTC", show_default=True, metavar="TZ", help="The site's time zone, for next fires.")
@click.option("--now", type=instant, metavar="TIME", help="Count from this time (ISO 8601) instead of the clock's.")
@click.option("--strict", is_flag=True, help="Exit with 1 when a change is breaking.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print it."
)
@shared(COLOR)
def command(old: str, new: str, timezone: str, now: datetime | None, strict: bool, form: str, color: Color) -> int:
    """Compare two manifests and say what the step from OLD to NEW means for a host with queued work.

    Breaking changes come first: jobs that are gone, limits that were lowered, payloads that no longer pass.
    """
    import sys

    from nsplugin_cli import terminal
    from nsplugin_cli.comparison import compare
    from nsplugin_cli.report import comparison as report

    found = compare(old, new, timezone=timezone, now=now or datetime.now(UTC))
    if found.faults is not None:
        show(found.faults, form, color)
    elif form == "json":
        terminal.write_bytes(report.render_json(found))
    else:
        sys.stdout.write(report.render_text(found, color=terminal.colored(color, sys.stdout)))
    return found.exit_code(strict=strict)
