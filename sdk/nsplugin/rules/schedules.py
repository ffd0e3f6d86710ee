"""Rules about when schedules fire: time zones, duplicates, days, clock changes, overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from nsplugin.canonical import canonical, json_size
from nsplugin.rules._family import Found, Rule
from nsplugin.rules.firing import closest_fires, days_differ, fire_set, names_every_hour
from nsplugin.rules.limits import whole
from nsplugin.rules.subject import ABSENT, ScheduleView, Subject
from nsplugin.wording import counted, plain, quoted

if TYPE_CHECKING:
    from nsplugin.cron import ClockEffect, Expression, Policy, Zone

_MINUTE_MS: Final = 60 * 1000

_RECURRING: Final = 35_765_280
"""2038-01-01 in minutes: from here on clocks change by rules that recur, not by single decrees."""

_AHEAD: Final = 8 * 366 * 24 * 60
"""How far clock changes are looked at, in minutes: a schedule of one date meets them only in some years."""


_LOOKED_AT: Final = 1_000
"""For how many different schedules of one manifest clock changes are looked at, so that no manifest takes long."""


def _time_zone(subject: Subject) -> Iterator[Found]:
    policy = subject.platform.cron
    for schedule in subject.schedules:
        name = schedule.timezone
        if not isinstance(name, str):
            continue
        if len(name) > policy.time_zone_max_length:
            message = f"the time zone has {counted(len(name), 'character')}; at most {policy.time_zone_max_length} are allowed"
            yield Found(pointer=schedule.timezone_pointer, message=message)
            continue
        from nsplugin.cron import ZoneError, zone

        try:
            zone(plain(name), offsets=policy.fixed_offsets)
        except ZoneError as error:
            yield Found(pointer=schedule.timezone_pointer, message=error.message, hint=error.hint)


def _duplicates(subject: Subject) -> Iterator[Found]:
    jobs = [view.job for view in subject.schedules if isinstance(view.job, str)]
    if len(jobs) == len(set(jobs)):
        return
    together: defaultdict[Any, list[ScheduleView]] = defaultdict(list)
    for schedule in subject.schedules:
        if schedule.parsed is not None and isinstance(schedule.job, str):
            together[plain(schedule.job), fire_set(schedule.parsed)].append(schedule)
    for schedules in together.values():
        first: dict[bytes | None, ScheduleView] = {}
        for schedule in schedules if len(schedules) > 1 else ():
            payload = _passed(subject, schedule)
            earlier = first.setdefault(payload, schedule)
            if payload is not None and earlier is not schedule:
                message = f"this schedule starts job {quoted(schedule.job)} at the same times and with the same payload as"
                yield Found(pointer=schedule.pointer, message=f"{message} {earlier.pointer}", hint="remove one of the two")


def _passed(subject: Subject, schedule: ScheduleView) -> bytes | None:
    """The payload that a schedule passes, comparable; ``None`` where it is not known, not valid or too large."""
    limit = subject.platform.payload
    payload = limit.absent_value if schedule.payload is ABSENT else schedule.payload
    try:  # measured first: a value of Python's may hold another in a billion places
        return canonical(payload) if json_size(payload) <= limit.max_bytes else None
    except ValueError:
        return None


def _either_day(subject: Subject) -> Iterator[Found]:
    for schedule in subject.schedules:
        expression = schedule.parsed
        if expression is not None and days_differ(expression):
            _, _, day, _, weekday = expression.text.split(" ")
            yield Found(
                pointer=schedule.expression_pointer,
                message=f"day of month {quoted(day)} and day of week {quoted(weekday)} are both restricted:"
                " it fires on every day that matches either",
                hint="to require both, restrict one here and look at the other in the handler",
            )


def _clock_changes(subject: Subject) -> Iterator[Found]:
    start = _RECURRING if subject.now is None else subject.now
    if subject.timezone is None and not subject.platform.cron.time_zone_default:
        return
    met: set[tuple[Expression, Zone]] = set()
    for schedule in subject.schedules:
        place, expression = _zone_of(subject, schedule), schedule.parsed
        if place is None or expression is None or names_every_hour(expression):
            continue
        met.add((expression, place))
        if len(met) > _LOOKED_AT:
            message = f"clock changes are looked at for {_LOOKED_AT:,} different schedules of a manifest, and this is one more"
            yield Found(pointer=schedule.expression_pointer, message=message, hint="split the plugin")
            return
        effects = _effects(expression, place, subject.platform.cron.clock_change, start)
        if effects:
            yield Found(
                pointer=schedule.expression_pointer,
                message=f"clock changes in {place.name} touch this schedule: {_sentences(effects)}",
                hint="a time of day that no clock change touches, noon for one, runs exactly once a day",
            )


@lru_cache(maxsize=1024)
def _effects(expression: Expression, place: Zone, policy: Policy, start: int) -> list[ClockEffect]:
    """Remembered, since manifests that are checked together often share schedules."""
    from nsplugin.cron import Calendar

    return Calendar(expression, place, policy).clock_effects(start, start + _AHEAD)


def _sentences(effects: list[ClockEffect]) -> str:
    """The first effect of each kind."""
    first = {effect.kind: effect.sentence for effect in reversed(effects)}
    return "; ".join(first[kind] for kind in dict.fromkeys(effect.kind for effect in effects))


def _zone_of(subject: Subject, schedule: ScheduleView) -> Zone | None:
    policy = subject.platform.cron
    own = policy.time_zone_default if schedule.timezone is ABSENT else schedule.timezone
    name = {"site": subject.timezone, "schedule": own}[policy.time_zone]
    if not isinstance(name, str):
        return None
    from nsplugin.cron import ZoneError, zone

    try:
        return zone(plain(name), offsets=policy.fixed_offsets)
    except ZoneError:
        return None


def _overlap(subject: Subject) -> Iterator[Found]:
    for schedule in subject.schedules:
        time_out = _time_out(subject, schedule)
        if schedule.parsed is None or time_out is None or time_out < _MINUTE_MS:
            continue
        apart = closest_fires(schedule.parsed)
        if apart is not None and apart * _MINUTE_MS <= time_out:
            words, hint = _OVERLAP[subject.platform.cron.overlap]
            yield Found(
                pointer=schedule.expression_pointer,
                message=f"fires can be {counted(apart, 'minute')} apart and an attempt may take {time_out} ms: {words}",
                hint=hint.format(period=apart * _MINUTE_MS),
            )


_OVERLAP: Final = {
    "skip": (
        "a fire is skipped while the one before is queued or running",
        "fire less often, or set timeoutMs below {period}",
    ),
    "allow": (
        "a run is started even while the one before is unfinished",
        "guard the work with a lock, fire less often, or set timeoutMs below {period}",
    ),
}
"""What an overlap means, by the platform's policy (spec/nextskin.md C7, spec/cogover.md C3)."""


def _time_out(subject: Subject, schedule: ScheduleView) -> int | None:
    job, limit = subject.job_named(schedule.job), subject.platform.timeout_ms
    value = None if job is None else limit.default if job.get("timeoutMs") is ABSENT else whole(job.get("timeoutMs"))
    return value if value is not None and limit.min <= value <= limit.max else None


_PLUGIN = """\
from nsplugin import Cron, Job, define_plugin


async def expire(payload, ctx):
    ...


plugin = define_plugin(
    id="cache",
    jobs={"expire": Job(expire, timeout_ms=60_000)},
    cron=[Cron("0 3 * * *", job="expire")],
)
"""

_PROJECT = """\
from nsplugin.cogover import Schedule, define_job


@define_job(key="close_order", schedule=Schedule("0 2 * * *", timezone="Asia/Ho_Chi_Minh"))
async def close_order(payload, data):
    ...


jobs = [close_order]
"""

RULES: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP206",
        name="timezone-invalid",
        severity="error",
        summary="A schedule's time zone is neither an IANA id nor a fixed offset.",
        why="Abbreviations such as EST mean several zones, and a misspelt id none; ids are compared with upper and lower case.",
        bad=_PROJECT.replace("Asia/Ho_Chi_Minh", "Asia/Saigon_City"),
        good=_PROJECT,
        source="spec/cogover.md D6; spec/cron.md F4",
        check=_time_zone,
        platforms=("cogover",),
    ),
    Rule(
        code="NSP208",
        name="cron-duplicate",
        severity="warning",
        summary="Two schedules start the same job at the same times with the same payload.",
        why="Each fire would run the job twice. The times are compared, not the texts: 7 and 0 are both Sunday.",
        bad=_PLUGIN.replace("[Cron(", '[Cron("00 3 * * *", job="expire"), Cron('),
        good=_PLUGIN,
        source="spec/nextskin.md C1",
        check=_duplicates,
        platforms=("nextskin",),
    ),
    Rule(
        code="NSP209",
        name="cron-day-or",
        severity="warning",
        summary="Day of month and day of week are both restricted: the schedule fires on days that match either.",
        why='"0 3 13 * 5" reads as Friday the 13th, and means every Friday and every 13th.',
        bad=_PLUGIN.replace("0 3 * * *", "0 3 13 * 5"),
        good=_PLUGIN.replace("0 3 * * *", "0 3 13 * *"),
        source="spec/nextskin.md C5; spec/cron.md G4",
        check=_either_day,
    ),
    Rule(
        code="NSP210",
        name="cron-dst-affected",
        severity="warning",
        summary="Clock changes skip or repeat a time that the schedule names."
        " It needs a time zone; schedules that name every hour are left out.",
        why="On that day the job runs at another time, twice, or not at all, as the platform has it.",
        bad=_PROJECT.replace("0 2 * * *", "30 2 * * *").replace("Asia/Ho_Chi_Minh", "Europe/Berlin"),
        good=_PROJECT.replace("0 2 * * *", "30 4 * * *").replace("Asia/Ho_Chi_Minh", "Europe/Berlin"),
        source="spec/nextskin.md C8; spec/cogover.md C4; spec/cron.md F2 F3",
        check=_clock_changes,
    ),
    Rule(
        code="NSP211",
        name="cron-overlap",
        severity="warning",
        summary="The job may take as long as its schedule waits between two fires, or longer.",
        why="NextSkin then skips the next fire, Cogover starts a second run beside the first.",
        bad=_PLUGIN.replace("0 3 * * *", "*/5 * * * *").replace("60_000", "600_000"),
        good=_PLUGIN.replace("0 3 * * *", "*/5 * * * *").replace("60_000", "240_000"),
        source="spec/nextskin.md C7; spec/cogover.md C3",
        check=_overlap,
    ),
)
