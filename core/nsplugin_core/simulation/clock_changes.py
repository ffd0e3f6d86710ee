"""What the clock changes of a simulation's window do to the schedules, as remarks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from nsplugin.manifest import ScheduleSpec
from nsplugin_core import policy
from nsplugin_core.simulation.moments import MINUTE_MS
from nsplugin_core.simulation.scenario import Scenario, SimulatedPlugin
from nsplugin_core.simulation.summary import Remark


def clock_changes(scenario: Scenario) -> Iterator[Remark]:
    """One remark for each schedule and clock change that touches it."""
    for plugin in scenario.plugins:
        for schedule in plugin.manifest.schedules:
            yield from _of(scenario, plugin, schedule)


def _of(scenario: Scenario, plugin: SimulatedPlugin, schedule: ScheduleSpec) -> Iterator[Remark]:
    """A gap's skipped minutes are deferred to one fire, so they count as one; minutes that don't run count each."""
    platform = plugin.manifest.platform
    for start, end, site in _zones(scenario):
        own = policy.schedule_zone(platform, schedule.timezone, site)
        times = policy.calendar(schedule.expression, own, platform.cron.clock_change)
        for effect in times.clock_effects(-(-start // MINUTE_MS), -(-end // MINUTE_MS)):
            yield Remark(
                at=effect.minute * MINUTE_MS,
                kind=effect.kind,
                text=effect.sentence,
                plugin=plugin.manifest.id,
                job=schedule.job,
                fires=1 if effect.kind == "deferred" else len(effect.wall),
            )


def _zones(scenario: Scenario) -> Iterator[tuple[int, int, str]]:
    """The stretches in which the site is in one zone."""
    changes = [(scenario.start, scenario.timezone), *scenario.zone_changes, (scenario.end, "")]
    for (start, site), (end, _) in pairwise(changes):
        yield start, end, site
