"""The retry plan of a job: when each of its attempts can be made, and what a schedule's next fires meet. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from nsplugin.cron import Calendar, parse, zone
from nsplugin.manifest import JobSpec, Manifest, ScheduleSpec
from nsplugin.platforms import Platform
from nsplugin.record import record
from nsplugin.retries import wait_range_ms

Range = tuple[int, int]
MINUTE_MS = 60_000


@record
class Step:
    """One attempt of a task whose attempts all fail, as (earliest, latest) in ms after its first attempt starts.

    Earliest: every attempt fails at once and every wait is the shortest. Latest: every attempt takes its whole time-out and
    every wait is the longest. ``wait`` is the wait before this attempt, ``None`` for the first.
    """

    attempt: int
    wait: Range | None
    starts: Range
    ends: Range


@record
class Meeting:
    """What a fire meets of a task that an earlier fire made, when its attempts fail.

    ``minute`` is the fire (UTC, since the epoch), ``after_ms`` how long after the earlier one. ``running``: the first and last
    attempt that can be under way then; ``awaited``: those that can be waited for. Both ``None``: the task is over by then.
    ``certain``: a task that fails to the end is still unfinished then, however the waits fall.
    """

    minute: int
    after_ms: int
    running: Range | None
    awaited: Range | None
    certain: bool


@record
class SchedulePlan:
    """A schedule that starts the job: its first fire after the given moment, and what the fires after that meet."""

    pointer: str
    expression: str
    timezone: str
    first: int | None
    meetings: tuple[Meeting, ...]


@record
class Plan:
    """The retry plan of a job. ``span``: shortest and longest time from the first attempt's start to giving up, in ms."""

    plugin: str
    platform: Platform
    job: JobSpec
    steps: tuple[Step, ...]
    schedules: tuple[SchedulePlan, ...]

    @property
    def span(self) -> Range:
        """From the first attempt's start to the end of the last."""
        return self.steps[-1].ends

    @property
    def overlap(self) -> Literal["skip", "allow"]:
        """What a fire does that meets an unfinished task."""
        return self.platform.cron.overlap


class UnknownJob(LookupError):
    """The manifest declares no such job."""


def plan(manifest: Manifest, job: str, *, timezone: str, after: int, count: int = 3) -> Plan:
    """The retry plan of a job, with ``count`` fires of each schedule from the minute ``after`` on.

    ``timezone`` is the site's, for schedules without one of their own. Raises :class:`UnknownJob`, and ``ZoneError``.
    """
    spec = next((each for each in manifest.jobs if each.name == job), None)
    if spec is None:
        known = ", ".join(each.name for each in manifest.jobs) or "none"
        raise UnknownJob(f"{manifest.id} declares no job {job!r}; it has {known}")
    steps = tuple(_steps(manifest.platform, spec))
    return Plan(
        plugin=manifest.id,
        platform=manifest.platform,
        job=spec,
        steps=steps,
        schedules=tuple(
            _schedule(manifest.platform, steps, each, timezone, after, count) for each in manifest.schedules if each.job == job
        ),
    )


def _steps(platform: Platform, job: JobSpec) -> Iterator[Step]:
    low = high = 0
    for attempt in range(1, job.max_attempts + 1):
        wait = None if attempt == 1 else wait_range_ms(platform.retry, attempt - 1)
        if wait is not None:
            low, high = low + wait[0], high + job.timeout_ms + wait[1]
        yield Step(attempt=attempt, wait=wait, starts=(low, high), ends=(low, high + job.timeout_ms))


def _schedule(
    platform: Platform, steps: Sequence[Step], schedule: ScheduleSpec, site: str, after: int, count: int
) -> SchedulePlan:
    own = site if platform.cron.time_zone == "site" else schedule.timezone or platform.cron.time_zone_default
    timezone = zone(own, offsets=platform.cron.fixed_offsets)
    fires = Calendar(parse(schedule.expression), timezone, platform.cron.clock_change).fires(after, count + 1)
    return SchedulePlan(
        pointer=schedule.pointer,
        expression=schedule.expression,
        timezone=timezone.name,
        first=fires[0] if fires else None,
        meetings=tuple(_meeting(steps, fires[0], fire) for fire in fires[1:]),
    )


def _meeting(steps: Sequence[Step], first: int, fire: int) -> Meeting:
    moment = (fire - first) * MINUTE_MS
    running = [step.attempt for step in steps if step.starts[0] <= moment < step.ends[1]]
    awaited = [after.attempt for before, after in pairwise(steps) if before.ends[0] <= moment < after.starts[1]]
    return Meeting(
        minute=fire,
        after_ms=moment,
        running=(running[0], running[-1]) if running else None,
        awaited=(awaited[0], awaited[-1]) if awaited else None,
        certain=moment < steps[-1].ends[0],
    )
