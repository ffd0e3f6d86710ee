"""What ``install`` and ``upgrade`` have in common."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from nsplugin_cli import terminal
from nsplugin_cli.commands.core_options import core, show_json
from nsplugin_cli.commands.options import Seconds
from nsplugin_cli.diagnostic import Report, WrongCall
from nsplugin_cli.showing import show

if TYPE_CHECKING:
    from nsplugin_cli.candidates import Candidate
    from nsplugin_core.installing import Installation
    from nsplugin_core.operations import Operations
    from nsplugin_core.views import PluginView

CODE: Final = click.option(
    "--code", type=click.Path(path_type=Path), metavar="FOLDER", help="Where the code lies, below which the entry is found."
)
IDENTITY: Final = click.option(
    "--allow-internal-system/--deny-internal-system",
    "internal_system",
    default=None,
    help="Whether runs without a user may use data (the project's identity policy); later on it is kept.",
)
TIMEOUT: Final = click.option(
    "--timeout",
    type=Seconds(0, 3600, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for importing the plugin.",
)
Verb = Literal["install", "upgrade"]


def taken(
    verb: Verb,
    path: str,
    timezone: str | None,
    code: Path | None,
    internal_system: bool | None,
    *,
    seconds: float,
    database: str,
    form: str,
    color: terminal.Color,
) -> int:
    """Install or upgrade; returns the exit code: 1 for what check refuses."""
    from nsplugin_cli import candidates

    found = candidates.candidate(path, code, verb, seconds)
    if isinstance(found, Report):
        show(found, form, color)
        return found.exit_code()
    with core(database, create=verb == "install") as operations:
        site = _site(operations, found, timezone, verb)
        report = candidates.judged(found, site)
        if report.errors:
            show(report, form, color)
            return report.exit_code()
        done = _stored(operations, found, site, internal_system)
        _shown(verb, operations, done, report, form, color)
    return 0


def _site(operations: Operations, found: Candidate, timezone: str | None, verb: Verb) -> str:
    """The time zone to judge it in: as wanted, as kept, or the project file's. For ``upgrade`` the plugin must be there."""
    from nsplugin_core.installing import installed_as, plugin_id, site_timezone
    from nsplugin_core.registry import NoTimezone

    fresh = installed_as(operations.store, found.manifest) is None
    if fresh and verb == "upgrade":
        raise WrongCall(f"plugin {plugin_id(found.manifest)!r} is not installed here: `nsplugin install` installs it")
    try:
        return site_timezone(operations.store, found.manifest, timezone or (found.timezone if fresh else None))
    except NoTimezone as error:
        advice = "name the site's time zone, such as --timezone Europe/Berlin, or `timezone` in the project file"
        raise WrongCall(f"--timezone is missing: {advice}") from error


def _stored(operations: Operations, found: Candidate, site: str, internal_system: bool | None) -> Installation:
    from nsplugin_core.installing import install

    return install(
        operations.store,
        operations.clock,
        found.manifest,
        timezone=site,
        folder=found.folder,
        internal_system=internal_system,
    )


def _shown(verb: Verb, operations: Operations, done: Installation, report: Report, form: str, color: terminal.Color) -> None:
    plugin = operations.plugin(done.plugin.id)
    changes = [_named(change, _CHANGE) for change in done.changes]
    created = done.before is None
    if form == "json":
        diagnostics = [_named(each, _DIAGNOSTIC) for each in report.diagnostics]
        show_json(verb, created=created, plugin=plugin, changes=changes, kept=done.kept, diagnostics=diagnostics)
        return
    from nsplugin_cli.report import records
    from nsplugin_core.views import plain

    show(report, form, color)
    told = "Installed" if created else "Upgraded" if changes else "Refreshed"
    sys.stdout.write(records.installed(plain(plugin), _zones(operations, plugin), verb=told, changes=changes, kept=done.kept))


def _zones(operations: Operations, plugin: PluginView) -> Sequence[str]:
    """The site's time zone, whether there are schedules or not, or those that schedules name themselves."""
    from nsplugin.platforms import load

    if load(plugin.platform).cron.time_zone == "site":
        return [plugin.timezone]
    return sorted({schedule.timezone for schedule in operations.schedules(plugin.id, fires=0)})


_CHANGE: Final = ("kind", "level", "pointer", "message", "hint")
_DIAGNOSTIC: Final = ("code", "name", "severity", "message", "hint", "path", "pointer", "line", "column")


def _named(it: Any, fields: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(it, name) for name in fields}
