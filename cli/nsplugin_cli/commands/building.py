"""The plugins that a command runs: built from their folders, in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nsplugin.record import record

if TYPE_CHECKING:
    from nsplugin.manifest import Manifest
    from nsplugin_cli.diagnostic import Report

IMPORT_S = 10.0
"""Time limit for importing one plugin."""


@record
class Built:
    """A plugin's manifest, the folder that its entry is found in, and the time zone of its project file."""

    manifest: Manifest
    folder: Path
    timezone: str | None


class Unfit(Exception):
    """A plugin has errors; ``report`` says which."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self.report = report


def built(paths: Sequence[Path]) -> list[Built]:
    """Build the plugins at the paths. Raises :class:`Unfit` when one has errors, or there is none."""
    from nsplugin.frozen import freeze
    from nsplugin.manifest import Manifest
    from nsplugin_cli import pipeline
    from nsplugin_cli.source.discover import discover

    found = []
    for target in discover(paths):
        report = pipeline.build([Path(target.place)], mode="stdout", out=None, seconds=IMPORT_S)
        if report.errors:
            raise Unfit(report)
        (plugin,) = report.plugins
        manifest = Manifest(value=freeze(json.loads(plugin.content or "")), platform=plugin.platform)
        found.append(Built(manifest=manifest, folder=Path(target.project.folder), timezone=target.project.get("timezone")))
    return found


def site_zone(plugins: Sequence[Built], wanted: str | None, default: str = "UTC") -> str:
    """The site's time zone: as wanted, else the first project file's, else the default. Raises ``WrongCall``."""
    from nsplugin.cron import ZoneError, zone
    from nsplugin_cli.diagnostic import WrongCall

    name = wanted or next((plugin.timezone for plugin in plugins if plugin.timezone), default)
    try:
        return zone(name).name
    except ZoneError as error:
        raise WrongCall(f"--timezone: {error}") from error


def with_job(plugins: Sequence[Built], job: str) -> Built:
    """The plugin that declares a job. Raises ``WrongCall`` when none does."""
    from nsplugin.nearest import closest
    from nsplugin_cli.diagnostic import WrongCall

    for plugin in plugins:
        if job in {each.name for each in plugin.manifest.jobs}:
            return plugin
    names = [each.name for plugin in plugins for each in plugin.manifest.jobs]
    meant = closest(job, names)
    hint = f"did you mean {meant!r}?" if meant else f"the jobs are {', '.join(names)}" if names else "there are no jobs"
    raise WrongCall(f"no job {job!r} here; {hint}")
