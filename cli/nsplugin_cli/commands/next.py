"""``nsplugin next``: a schedule in words, and when it fires."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from nsplugin.platforms import NAMES
from nsplugin_cli.commands.options import COLOR, FORMAT, instant, shared
from nsplugin_cli.showing import show


@click.command("next", short_help="Say a schedule in words and list its next fire times.")
@click.argument("expressions", metavar="EXPR", nargs=-1)
@click.option("--timezone", metavar="TZ", help="The schedule's time zone; default: the project file's.")
@click.option("--platform", type=click.Choice(NAMES), help="Whose rules for clock changes; default: the project file's.")
@click.option("--count", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many fire times.")
@click.option("--after", "--now", "after", type=instant, metavar="TIME", help="Later than this time instead of now.")
@click.option("--jsonl", type=click.File("rb"), metavar="FILE", help="Answer one JSON object a line; - is standard input.")
@shared(FORMAT, COLOR)
def command(
    expressions: tuple[str, ...],
    timezone: str | None,
    platform: str | None,
    count: int,
    after: datetime | None,
    jsonl: Any,
    form: str,
    color: Any,
) -> int:
    """Say the schedule EXPR in words and list its next fire times, marking what clock changes do to them.

    With --jsonl each line is {"expression", "timezone", "after", "platform", "count"}; options fill in what it leaves out.
    A line may ask for up to 10,000 fire times.
    """
    from nsplugin_cli import forecast

    if len(expressions) > 1:
        raise click.UsageError("Put the expression in quotes, as one argument: '0 3 * * *'. The shell took it apart.")
    if bool(expressions) == (jsonl is not None):
        raise click.UsageError("Give an expression (in quotes: '0 3 * * *') or --jsonl FILE, one of them.")
    asked = forecast.asked(Path.cwd(), timezone=timezone, platform=platform, count=count, after=after)
    if not expressions:
        return forecast.answer_lines(jsonl, asked)
    report = forecast.report(expressions[0], asked)
    show(report, form, color)
    return report.exit_code()
