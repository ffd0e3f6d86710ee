"""Installing, upgrading and switching plugins: what becomes of their jobs and cron rows (spec/core.md K3)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nsplugin.frozen import freeze
from nsplugin.manifest import Manifest, ScheduleSpec
from nsplugin.platforms import Platform, load
from nsplugin.record import replace
from nsplugin_core import policy
from nsplugin_core.clock import Clock
from nsplugin_core.ids import new_id
from nsplugin_core.store.errors import StoreError, UnknownPlugin
from nsplugin_core.store.protocol import Store
from nsplugin_core.store.records import Installed, JobLimits, PluginRecord, Schedule

ROW_PREFIX: Final = "CRN"
ROW_LENGTH: Final = 15


class OtherPlatform(StoreError):
    """A plugin of that id is installed for another platform."""

    def __init__(self, plugin: str, platform: str) -> None:
        super().__init__(f"plugin {plugin!r} is installed for the platform {platform}; uninstall it first, or use another id")


class NoTimezone(StoreError):
    """A first installation has to say in which time zone the site is."""

    def __init__(self, plugin: str) -> None:
        super().__init__(f"plugin {plugin!r} is not installed yet: name the site's time zone, such as Europe/Paris")
        self.plugin = plugin


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Changes installed plugins. Each call is one transaction; running schedulers and dispatchers follow by themselves."""

    store: Store
    clock: Clock
    source: random.Random = field(default_factory=random.SystemRandom)

    def install(
        self,
        manifest: Manifest,
        *,
        timezone: str | None = None,
        folder: str | None = None,
        internal_system: bool | None = None,
    ) -> Installed:
        """Install a manifest, or upgrade to it. What is ``None`` stays as it is.

        ``timezone`` is the site's, ``folder`` where the code lies, ``internal_system`` whether the project's identity
        policy lets runs without a user use data (spec/cogover.md X1).
        An upgrade keeps whether the plugin is enabled, its tasks, and the place of every unchanged schedule.
        Raises :class:`OtherPlatform` and :class:`NoTimezone`.
        """
        now = self.clock.now_ms()

        def plan(before: Installed | None) -> Installed:
            after = self._upgraded(before, manifest, timezone, now)
            was = before.plugin if before else after.plugin
            own = was.internal_system if internal_system is None else internal_system
            return replace(after, plugin=replace(after.plugin, folder=folder or was.folder, internal_system=own))

        return self._change(manifest.id, plan, now)

    def set_timezone(self, plugin: str, timezone: str) -> Installed:
        """Move the site: schedules in its zone get a new next fire (spec/nextskin.md C4). Raises ``UnknownPlugin``."""
        now = self.clock.now_ms()
        return self._existing(plugin, lambda before: self._moved(before, timezone, now), now)

    def enable(self, plugin: str) -> Installed:
        """Go on with the plugin's tasks; its schedules fire from now on. Raises ``UnknownPlugin``."""
        now = self.clock.now_ms()
        return self._existing(plugin, lambda before: before if before.plugin.enabled else self._enabled(before, now), now)

    def disable(self, plugin: str) -> Installed:
        """Keep the plugin's tasks, start no more of them, stop its schedules (spec/nextskin.md A4). Or ``UnknownPlugin``."""
        return self._existing(plugin, _disabled, self.clock.now_ms())

    def uninstall(self, plugin: str) -> None:
        """Remove the plugin with its tasks, dead letters, schedules and data. Raises ``UnknownPlugin``."""

        def plan(before: Installed | None) -> None:
            if before is None:
                raise UnknownPlugin(plugin)

        self.store.registry.change(plugin, plan, now=self.clock.now_ms())

    def _existing(self, plugin: str, plan: Callable[[Installed], Installed], now: int) -> Installed:
        def checked(before: Installed | None) -> Installed:
            if before is None:
                raise UnknownPlugin(plugin)
            return plan(before)

        return self._change(plugin, checked, now)

    def _change(self, plugin: str, plan: Callable[[Installed | None], Installed], now: int) -> Installed:
        after = self.store.registry.change(plugin, plan, now=now)
        assert after is not None, "a plan that keeps the plugin returns it"
        return after

    def _upgraded(self, before: Installed | None, manifest: Manifest, timezone: str | None, now: int) -> Installed:
        platform = manifest.platform
        if before is not None and before.plugin.platform != platform.name:
            raise OtherPlatform(before.plugin.id, before.plugin.platform)
        zone = timezone or (before.plugin.timezone if before else None)
        if zone is None:
            raise NoTimezone(manifest.id)
        record = PluginRecord(
            id=manifest.id,
            platform=platform.name,
            version=manifest.version,
            manifest=manifest.to_bytes().decode(),
            digest=manifest.digest,
            enabled=before is None or before.plugin.enabled,
            timezone=zone,
            installed_at=now,
            updated_at=now,
        )
        return self._filled(record, manifest, before.schedules if before else (), now)

    def _filled(self, record: PluginRecord, manifest: Manifest, old: Sequence[Schedule], now: int) -> Installed:
        platform = manifest.platform
        keeps = record.enabled or policy.schedules_stay(platform.retention)
        wanted = [self._row(record, platform, spec) for spec in manifest.schedules] if keeps else []
        return Installed(
            plugin=record,
            jobs=[JobLimits(name=job.name, max_attempts=job.max_attempts, timeout_ms=job.timeout_ms) for job in manifest.jobs],
            schedules=list(reconciled(old, wanted, platform, now)),
            max_unfinished=platform.enqueue.max_unfinished,
        )

    def _row(self, record: PluginRecord, platform: Platform, spec: ScheduleSpec) -> Schedule:
        return Schedule(
            id=new_id(ROW_PREFIX, ROW_LENGTH, self.source),
            plugin=record.id,
            position=spec.index,
            pointer=spec.pointer,
            expression=spec.expression,
            timezone=policy.schedule_zone(platform, spec.timezone, record.timezone),
            job=spec.job,
            payload=_text(platform, spec.payload),
            next_fire=None,
        )

    def _moved(self, before: Installed, timezone: str, now: int) -> Installed:
        return self._again(before, replace(before.plugin, timezone=timezone), before.schedules, now)

    def _enabled(self, before: Installed, now: int) -> Installed:
        """Fires of the time when the plugin was off are not made up: nobody missed them."""
        after = self._again(before, replace(before.plugin, enabled=True), before.schedules, now)
        platform = load(after.plugin.platform)
        return replace(after, schedules=[_planned(row, platform, now) for row in after.schedules])

    def _again(self, before: Installed, record: PluginRecord, old: Sequence[Schedule], now: int) -> Installed:
        manifest = Manifest(value=freeze(json.loads(before.plugin.manifest)), platform=load(record.platform))
        return self._filled(record, manifest, old, now)


def _disabled(before: Installed) -> Installed:
    stay = policy.schedules_stay(load(before.plugin.platform).retention)
    return replace(before, plugin=replace(before.plugin, enabled=False), schedules=before.schedules if stay else [])


def reconciled(old: Sequence[Schedule], wanted: Sequence[Schedule], platform: Platform, now: int) -> Iterator[Schedule]:
    """The rows of a new manifest: each takes over the identity and place of the old row that it continues.

    The same schedule wherever it stands keeps its next fire; one that changed at its place for the same job keeps its
    counters and its last task, and gets a new next fire.
    """
    left = list(old)
    heirs: dict[int, Schedule] = {}
    for continues in (_same, _same_but_payload, _same_place):
        for row in wanted:
            if row.position in heirs:
                continue
            match = next((each for each in left if continues(each, row)), None)
            if match is not None:
                left.remove(match)
                heirs[row.position] = match
    for row in wanted:
        yield _heir(heirs.get(row.position), row, platform, now)


def _heir(before: Schedule | None, row: Schedule, platform: Platform, now: int) -> Schedule:
    if before is None:
        return _planned(row, platform, now)
    after = replace(
        before,
        position=row.position,
        pointer=row.pointer,
        expression=row.expression,
        timezone=row.timezone,
        payload=row.payload,
    )
    return after if _same_but_payload(before, row) else _planned(after, platform, now)


def _planned(row: Schedule, platform: Platform, now: int) -> Schedule:
    times = policy.calendar(row.expression, row.timezone, platform.cron.clock_change)
    return replace(row, next_fire=policy.next_fire(times, now))


def _same(before: Schedule, row: Schedule) -> bool:
    return _same_but_payload(before, row) and before.payload == row.payload


def _same_but_payload(before: Schedule, row: Schedule) -> bool:
    return (before.job, before.expression, before.timezone) == (row.job, row.expression, row.timezone)


def _same_place(before: Schedule, row: Schedule) -> bool:
    return (before.job, before.position) == (row.job, row.position)


def _text(platform: Platform, payload: Any) -> str | None:
    """A schedule's payload as each of its tasks gets it (spec/nextskin.md C9, spec/cogover.md H3)."""
    if payload is None and platform.payload.absent == "null":
        return None
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
