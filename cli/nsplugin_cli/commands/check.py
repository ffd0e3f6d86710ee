"""``nsplugin check``: the pre-install hook with a face."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from nsplugin_cli.commands.options import COLOR, FORMAT, STRICT, instant, shared
from nsplugin_cli.showing import show


@click.command("check", short_help="Judge manifests before installation.")
@click.argument("manifests", metavar="MANIFEST...", nargs=-1, required=True)
@click.option("--timezone", required=True, metavar="TZ", help="The site's time zone, such as Europe/Berlin.")
@click.option("--now", type=instant, metavar="TIME", help="Count from this time (ISO 8601) instead of the clock's.")
@click.option("--digest", metavar="SHA256", help="Also compare the one manifest with this digest.")
@click.option("--count", type=click.IntRange(0, 1000), default=3, show_default=True, help="Fire times a schedule.")
@shared(STRICT, FORMAT, COLOR)
def command(
    manifests: tuple[str, ...],
    timezone: str,
    now: datetime | None,
    digest: str | None,
    count: int,
    strict: bool,
    form: str,
    color: Any,
) -> int:
    """Judge manifests without running or opening anything they name, and show when their schedules fire.

    MANIFEST is a file; - is standard input. The exit code is 0 when a host may install all of them.
    """
    from nsplugin_cli import pipeline

    report = pipeline.check(manifests, timezone=timezone, now=now, count=count, digest=digest)
    show(report, form, color)
    return report.exit_code(strict=strict)
