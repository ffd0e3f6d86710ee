"""``nsplugin plan``: when a job's attempts are made, and what its schedule's fires meet."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from nsplugin_cli.commands.options import COLOR, instant, shared
from nsplugin_cli.showing import show
from nsplugin_cli.terminal import Color


@click.command("plan", short_help="Show when a job's attempts are made if they fail.")
@click.argument("job", metavar="JOB")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(exists=True, path_type=Path))
@click.option("--timezone", metavar="TZ", help="The site's time zone; default: the project file's, else UTC.")
@click.option("--after", "--now", "after", type=instant, metavar="TIME", help="Fires later than this time instead of now.")
@click.option(
    "--count", type=click.IntRange(0, 100), default=3, show_default=True, help="How many fires a schedule's first meets."
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print it."
)
@shared(COLOR)
def command(job: str, folder: Path, timezone: str | None, after: datetime | None, count: int, form: str, color: Color) -> int:
    """Show the retry plan of JOB of the plugin in DIR: when each attempt is made at the earliest and at the latest, when the
    task is given up, and which attempts the next fires of its schedules meet.
    """
    from nsplugin import cron, planning
    from nsplugin_cli import terminal
    from nsplugin_cli.commands import building
    from nsplugin_cli.report import plan as report

    try:
        plugins = building.built([folder])
    except building.Unfit as unfit:
        show(unfit.report, "text", color, to_stderr=True)
        return unfit.report.exit_code()
    found = building.with_job(plugins, job)
    zone = building.site_zone(plugins, timezone)
    minute = cron.to_minute(after or datetime.now(UTC))
    plan = planning.plan(found.manifest, job, timezone=zone, after=minute, count=count)
    if form == "json":
        terminal.write_bytes(report.render_json(plan))
    else:
        sys.stdout.write(report.render_text(plan, color=terminal.colored(color, sys.stdout)))
    return 0
