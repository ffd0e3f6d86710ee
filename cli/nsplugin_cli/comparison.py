"""What ``diff`` does: two manifests, both judged, and what the step from one to the other means for a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from nsplugin.record import record
from nsplugin_cli.diagnostic import Diagnostic, Report, WrongCall, ordered

if TYPE_CHECKING:
    from nsplugin.platforms import Platform
    from nsplugin.upgrade import Change, Level

LEVELS: Final[tuple[Level, ...]] = ("breaking", "notable", "harmless")


@record
class Side:
    """One of the two manifests."""

    path: str
    id: str
    version: str | None
    digest: str


@record
class Rhythm:
    """A schedule before or after: ``next_fire`` as ``(local, utc)``, ``None`` when there is none."""

    expression: str
    timezone: str
    next_fire: tuple[str, str] | None


@record
class Step:
    """A change, with the schedules it is about and when they fire next."""

    change: Change
    before: Rhythm | None = None
    after: Rhythm | None = None


@record
class Comparison:
    """All that changed, breaking changes first. With ``faults``, a manifest is no good and nothing was compared."""

    old: Side | None = None
    new: Side | None = None
    platform: Platform | None = None
    steps: tuple[Step, ...] = ()
    faults: Report | None = None

    def count(self, level: Level) -> int:
        """How many changes are of that level."""
        return sum(step.change.level == level for step in self.steps)

    def exit_code(self, *, strict: bool) -> int:
        """1 for a manifest with errors and, with ``strict``, for breaking changes."""
        return int(self.faults is not None or (strict and self.count("breaking") > 0))


def compare(old: str, new: str, *, timezone: str, now: datetime) -> Comparison:
    """Judge and compare two manifest files for a site's time zone. Raises :class:`WrongCall` for a call that is wrong."""
    from nsplugin.cron import ZoneError, zone
    from nsplugin.preinstall import check_manifest
    from nsplugin_cli.pipeline import read_manifest

    if old == new == "-":
        raise WrongCall("standard input can be one of the two manifests, not both")
    try:
        zone(timezone)
    except ZoneError as error:
        raise WrongCall(f"--timezone: {error}") from error
    given = {name: read_manifest(name) for name in (old, new)}
    verdicts = {name: check_manifest(data, timezone=timezone, now=now) for name, data in given.items()}
    faults = [
        Diagnostic.of(problem, _shown(name))
        for name, verdict in verdicts.items()
        for problem in verdict.problems
        if problem.severity == "error"
    ]
    if faults:
        texts = {_shown(name): data.decode("utf-8", "replace") for name, data in given.items()}
        return Comparison(faults=Report(command="diff", files=len(given), diagnostics=ordered(faults), sources=texts))
    return _compared(_manifest(old, given[old]), _manifest(new, given[new]), timezone, now)


def _shown(name: str) -> str:
    return "<stdin>" if name == "-" else name


def _manifest(name: str, data: bytes) -> tuple[Side, Platform, Mapping[str, Any]]:
    from nsplugin import platforms
    from nsplugin.manifest import Manifest
    from nsplugin.reading import read

    raw = read(data).value
    manifest = Manifest.of(raw, platforms.load(raw["platform"]))
    side = Side(path=_shown(name), id=manifest.id, version=manifest.version, digest=manifest.digest)
    return side, manifest.platform, manifest.value


def _compared(
    old: tuple[Side, Platform, Mapping[str, Any]], new: tuple[Side, Platform, Mapping[str, Any]], timezone: str, now: datetime
) -> Comparison:
    from nsplugin.upgrade import Change, changes

    (before, was, old_value), (after, platform, new_value) = old, new
    found: Sequence[Change]
    if was is not platform:
        message = f"the plugin went from {was.title} to {platform.title}: to a host it is another plugin"
        found = [Change(kind="platform-changed", level="breaking", pointer="/platform", message=message)]
    else:
        found = changes(old_value, new_value, platform)
    steps = tuple(_step(change, platform, timezone, now) for change in found)
    return Comparison(old=before, new=after, platform=platform, steps=steps)


def _step(change: Change, platform: Platform, timezone: str, now: datetime) -> Step:
    return Step(
        change=change,
        before=_rhythm(change.schedule_before, platform, timezone, now),
        after=_rhythm(change.schedule_after, platform, timezone, now),
    )


def _rhythm(schedule: tuple[str, str | None] | None, platform: Platform, timezone: str, now: datetime) -> Rhythm | None:
    if schedule is None:
        return None
    from nsplugin import cron

    expression, own = schedule
    zone = cron.zone(own or timezone, offsets=platform.cron.fixed_offsets)
    minute = cron.Calendar(cron.parse(expression), zone, platform.cron.clock_change).next(cron.to_minute(now))
    fire = None
    if minute is not None:
        wall, name = cron.local(minute, zone)
        fire = (f"{wall.isoformat(' ', 'minutes')} {name}", cron.isoformat(minute).replace("Z", ":00Z"))
    return Rhythm(expression=expression, timezone=zone.name, next_fire=fire)
