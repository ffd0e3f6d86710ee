"""Taking a manifest into a core: judged like everywhere, then stored with where its code lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nsplugin.manifest import Manifest
from nsplugin.platforms import NAMES, load
from nsplugin.preinstall import Report, check_manifest
from nsplugin.reading import read
from nsplugin.rules._family import Problem
from nsplugin.upgrade import Change, changes
from nsplugin_core.clock import Clock
from nsplugin_core.operations import manifest_of
from nsplugin_core.registry import NoTimezone, Registry
from nsplugin_core.store.protocol import Store
from nsplugin_core.store.records import Installed, PluginRecord


class Refused(Exception):
    """The manifest may not be installed: ``report`` holds what ``nsplugin check`` says of it."""

    def __init__(self, report: Report) -> None:
        errors = [problem for problem in report.problems if problem.severity == "error"]
        super().__init__("\n".join(map(_line, errors)))
        self.report = report


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A plugin as it is installed now. ``before`` is ``None`` for a new one; ``changes`` say what the step from it means.

    ``kept``: how many unfinished tasks the upgrade found, all of which stay.
    """

    plugin: PluginRecord
    before: PluginRecord | None
    changes: Sequence[Change]
    kept: int
    report: Report


def plugin_id(manifest: bytes) -> str | None:
    """The id that a manifest names."""
    raw = read(manifest).value
    found = raw.get("id") if isinstance(raw, Mapping) else None
    return found if isinstance(found, str) else None


def installed_as(store: Store, manifest: bytes) -> Installed | None:
    """What is installed under the manifest's id."""
    plugin = plugin_id(manifest)
    return store.registry.installed(plugin) if plugin and plugin.isprintable() else None


def site_timezone(store: Store, manifest: bytes, timezone: str | None) -> str:
    """The zone to judge a manifest in: the given one, that of the installed plugin, or that of a platform without a site's.

    Raises :class:`NoTimezone`.
    """
    if timezone is not None:
        return timezone
    installed = installed_as(store, manifest)
    if installed is not None:
        return installed.plugin.timezone
    raw = read(manifest).value
    platform = raw.get("platform") if isinstance(raw, Mapping) else None
    cron = load(platform).cron if platform in NAMES else None
    if cron is not None and cron.time_zone == "schedule":
        return cron.time_zone_default
    raise NoTimezone(plugin_id(manifest) or "?")


def install(
    store: Store,
    clock: Clock,
    manifest: bytes,
    *,
    timezone: str | None = None,
    folder: Path | None = None,
    internal_system: bool | None = None,
) -> Installation:
    """Install a manifest's bytes, or upgrade to it. What is ``None`` stays as it is; ``folder`` is made absolute.

    Raises :class:`Refused` for what ``nsplugin check`` refuses, and the errors of :meth:`Registry.install`.
    """
    site = site_timezone(store, manifest, timezone)
    report = check_manifest(manifest, timezone=site, now=datetime.fromtimestamp(clock.now_ms() / 1000, UTC))
    if not report.ok:
        raise Refused(report)
    raw = read(manifest).value
    after = Manifest.of(raw, load(raw["platform"]))
    installed = store.registry.installed(after.id)
    before = None if installed is None else installed.plugin
    Registry(store=store, clock=clock).install(
        after,
        timezone=site,
        folder=None if folder is None else str(folder.resolve()),
        internal_system=internal_system,
    )
    now = store.registry.installed(after.id)
    assert now is not None, "it was installed just now"
    return Installation(
        plugin=now.plugin,
        before=before,
        changes=changes(manifest_of(before).value, after.value, after.platform) if before is not None else (),
        kept=_unfinished(store, after.id) if before is not None else 0,
        report=report,
    )


def _unfinished(store: Store, plugin: str) -> int:
    return sum(each.tasks for each in store.tasks.depths(plugin) if each.state in ("queued", "running"))


def _line(problem: Problem) -> str:
    place = f" at {problem.pointer}" if problem.pointer else ""
    return f"{problem.code} {problem.message}{place}"
