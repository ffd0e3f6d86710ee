"""``nsplugin simulate``: days of a core in seconds, with faults to order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from nsplugin_cli.commands.developing import PROVIDERS_HELP, SYSTEM_HELP
from nsplugin_cli.commands.options import COLOR, CommandT, shared
from nsplugin_cli.terminal import Color


def _several(*names: str, **rest: Any) -> Callable[[CommandT], CommandT]:
    return click.option(*names, multiple=True, **rest)


@click.command("simulate", short_help="Run a plugin's jobs and schedules for days, in seconds.")
@click.argument("paths", metavar="[DIR]...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--from", "start", metavar="TIME", help="When it begins; default: now. On the site's clock unless it has an offset."
)
@click.option("--to", "end", metavar="TIME", help="When it ends, or for how long: +30d; default: a day later.")
@click.option("--timezone", metavar="TZ", help="The site's time zone; default: the project file's, else UTC.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same simulation.")
@click.option("--handlers/--no-handlers", default=True, help="Run the plugin's own code, or take it that attempts succeed.")
@_several("--enqueue", metavar="JOB[@TIME][=JSON]", help="Enqueue a task, at the beginning or at a time.")
@_several("--fail", metavar="JOB=N|P%", help="The first N attempts of each task fail, or each with a chance of P %.")
@_several("--timeout", metavar="JOB=N|P%", help="The same, and they run into their time-outs.")
@_several("--takes", metavar="JOB=30s", help="How long an attempt takes that runs no handler.")
@_several("--down", metavar="FROM-TO", help="The core is down: 02:00-05:00 every day, or between two times.")
@_several("--host-exit", metavar="[JOB=]N|TIME", help="The host exits in the first N starts of each task, or at a time.")
@_several("--zone-change", metavar="TIME=TZ", help="The site moves to another time zone.")
@_several("--assert", "assertions", metavar="dead=0", help="Exit with 1 unless this holds of the summary.")
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Also write the timeline as a page."
)
@click.option("--providers", metavar="MODULE:NAME", help=PROVIDERS_HELP)
@click.option("--allow-internal-system", "internal_system", is_flag=True, help=SYSTEM_HELP)
@click.option("--logs", is_flag=True, help="Also print what the plugin logs and prints, to standard error.")
@click.option("--all", "whole", is_flag=True, help="List what went well too, however much it is.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print it."
)
@shared(COLOR)
def command(paths: tuple[Path, ...], form: str, color: Color, whole: bool, html: Path | None, **orders: Any) -> int:
    """Run the jobs and schedules of the plugin in DIR on a virtual clock: the core's own engine, and the plugin's own code.

    Handlers run for real, so what they do outside of nsplugin (requests, files) happens; ctx.sleep takes virtual time only.
    """
    from nsplugin_cli import terminal
    from nsplugin_cli.commands import simulating

    simulation, wrong = simulating.simulated(paths or (Path(),), color, **orders)
    if simulation is None:
        return wrong
    from nsplugin_core import timeline

    if html is not None:
        simulating.write(html, timeline.render_html(simulation))
    if form == "json":
        terminal.write_bytes(timeline.render_json(simulation))
    else:
        from nsplugin_cli.report.text import paint

        sys.stdout.write(paint(timeline.fragments(simulation, whole=whole), color=terminal.colored(color, sys.stdout)))
    return simulating.judged(simulation, orders["assertions"])
