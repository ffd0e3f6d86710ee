"""``nsplugin serve``: a core for real."""

from __future__ import annotations

import sys
from typing import Any

import click

from nsplugin_cli.commands.admin_options import ADMIN, admin_access
from nsplugin_cli.commands.core_options import DATABASE, prepare, refusals
from nsplugin_cli.commands.options import Seconds, shared
from nsplugin_cli.commands.serve_options import ADDRESS, provided
from nsplugin_cli.diagnostic import WrongCall


@click.command("serve", short_help="Run a core: many plugins on one database.")
@click.option(
    "--workers",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    metavar="N",
    help="Attempts of one plugin that run at once.",
)
@click.option(
    "--grace",
    type=Seconds(0, 86_400),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long running attempts may go on after a stop signal; then they are given back.",
)
@click.option("--metrics", type=ADDRESS, metavar="HOST:PORT", help="Show /metrics, /live and /ready there (port 0: any).")
@click.option("--providers", metavar="MODULE:NAME", help="What answers for records, messages and the like (docs/providers.md).")
@click.option("--log-format", type=click.Choice(["auto", "json", "console"]), default="auto", show_default=True)
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info", show_default=True)
@shared(*ADMIN, DATABASE)
def command(
    workers: int,
    grace: float,
    metrics: Any,
    providers: str | None,
    log_format: Any,
    log_level: str,
    database: str,
    **admin: Any,
) -> int:
    """Run the plugins that are installed in a database, each in a process of its own, until SIGTERM or SIGINT.

    Any number of these may run on one database. The first signal lets running attempts finish for the grace, a second
    gives them back at once; either way, nothing is lost. Logs go to standard error.
    """
    with refusals():
        access = admin_access(admin)
        from nsplugin_core.admin.access import AccessRefused
        from nsplugin_core.journal import Form
        from nsplugin_core.monitoring import AddressRefused
        from nsplugin_core.service import ServiceSettings
        from nsplugin_core.serving import Serving, serve

        prepare(database, create=True)
        settings = ServiceSettings(workers=workers, providers=provided(providers))
        form: Form = log_format
        if log_format == "auto":
            form = "console" if sys.stderr.isatty() else "json"
        asked = Serving(
            database=database, settings=settings, grace_s=grace, monitor=metrics, admin=access, form=form, level=log_level
        )
        try:
            return serve(asked)
        except AddressRefused as error:
            raise WrongCall(f"--metrics: {error}") from error
        except AccessRefused as error:
            raise WrongCall(f"--admin: {error}") from error
