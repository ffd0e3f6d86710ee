"""What an upgrade means for a host: the changes between two manifests, those that hurt queued work first.

A task that was queued under the old manifest runs under the new one (spec/cogover.md D9), so a job that is gone, a payload
schema that got narrower or a lower limit meets work that was accepted before.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final, Literal

from nsplugin.canonical import canonical
from nsplugin.narrowing import narrowings
from nsplugin.platforms import Platform
from nsplugin.pointers import join
from nsplugin.record import record
from nsplugin.rules.subject import ABSENT, JobView, ScheduleView, Subject
from nsplugin.schema_texts import undescribed

Level = Literal["breaking", "notable", "harmless"]
_Paired = tuple[list[tuple[ScheduleView, ScheduleView]], list[ScheduleView], list[ScheduleView]]
_ORDER: Final = {"breaking": 0, "notable": 1, "harmless": 2}


@record
class Change:
    """One difference. ``pointer`` leads into the new manifest, or into the old one where something is gone.

    ``schedule_before`` and ``schedule_after`` are set for schedules: (expression, time zone or ``None`` for the site's).
    """

    kind: str
    level: Level
    pointer: str
    message: str
    hint: str | None = None
    schedule_before: tuple[str, str | None] | None = None
    schedule_after: tuple[str, str | None] | None = None


def changes(old: Mapping[str, Any], new: Mapping[str, Any], platform: Platform) -> tuple[Change, ...]:
    """The changes from ``old`` to ``new``, both valid normalised manifests of ``platform``; breaking ones first."""
    before, after = Subject(raw=old, platform=platform), Subject(raw=new, platform=platform)
    found = [
        *_identity(old, new),
        *_jobs(before, after),
        *_schedules(before, after),
        *_capabilities(old, new),
        *_routes(old, new),
    ]
    return tuple(sorted(found, key=lambda change: (_ORDER[change.level], change.pointer, change.kind)))


def _identity(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    if old.get("id") != new.get("id"):
        yield Change(
            kind="id-changed",
            level="breaking",
            pointer="/id",
            message=f"id {_quoted(old.get('id'))} became {_quoted(new.get('id'))}: to a host, another plugin without old tasks",
            hint="keep the id, or uninstall the old plugin once its queue is empty",
        )
    for key in ("version", "entry"):
        if old.get(key) != new.get(key):
            yield Change(
                kind=f"{key}-changed",
                level="harmless",
                pointer=f"/{key}",
                message=f"{key} {_quoted(old.get(key))} became {_quoted(new.get(key))}",
            )


def _jobs(before: Subject, after: Subject) -> Iterator[Change]:
    old, new = _by_name(before), _by_name(after)
    added = [name for name in new if name not in old]
    twins: defaultdict[bytes, list[JobView]] = defaultdict(list)
    for name in added:
        twins[_options(new[name])].append(new[name])
    for name, job in old.items():
        if name not in new:
            yield _job_gone(job, twins[_options(job)])
        else:
            yield from _job_changed(job, new[name])
    for name in added:
        yield Change(kind="job-added", level="harmless", pointer=new[name].pointer, message=f'job "{new[name].name}" is new')


def _by_name(subject: Subject) -> dict[str, JobView]:
    fold = not subject.platform.job_name.case_sensitive
    return {str(job.name).casefold() if fold else str(job.name): job for job in subject.jobs}


def _job_gone(job: JobView, twins: list[JobView]) -> Change:
    """``twins``: the new jobs with the same options."""
    if len(twins) == 1:
        return Change(
            kind="job-renamed",
            level="breaking",
            pointer=twins[0].pointer,
            message=f'job "{job.name}" seems to be "{twins[0].name}" now: tasks queued under the old name have no handler',
            hint=f'keep a job "{job.name}" until its queue is empty',
        )
    return Change(
        kind="job-removed",
        level="breaking",
        pointer=job.pointer,
        message=f'job "{job.name}" is gone: tasks queued for it have no handler',
        hint=f'keep "{job.name}" until its queue is empty and its dead letters are dealt with',
    )


def _options(job: JobView) -> bytes:
    return canonical({key: value for key, value in job.raw.items() if key not in ("key", "name")})


def _job_changed(old: JobView, new: JobView) -> Iterator[Change]:
    if old.name != new.name:
        yield Change(
            kind="job-respelt",
            level="notable",
            pointer=new.name_pointer,
            message=f'job "{old.name}" is written "{new.name}" now',
        )
    yield from _limit(old, new, "maxAttempts", "a task that has failed as often is a dead letter at its next failure")
    yield from _limit(old, new, "timeoutMs", "an attempt that took longer is cut off now")
    if _text(old.get("name")) != _text(new.get("name")) and new.name_target == "value":
        yield Change(kind="title-changed", level="harmless", pointer=new.pointer, message=f'the title of "{new.name}" changed')
    yield from _payload_schema(old, new)


def _text(value: Any) -> Any:
    return None if value is ABSENT else value


def _limit(old: JobView, new: JobView, key: str, consequence: str) -> Iterator[Change]:
    was, now = old.get(key), new.get(key)
    if was == now:
        return
    lowered = now < was
    yield Change(
        kind=f"{'attempts' if key == 'maxAttempts' else 'timeout'}-{'lowered' if lowered else 'raised'}",
        level="breaking" if lowered else "harmless",
        pointer=join(new.pointer, key),
        message=f'{key} of "{new.name}" went from {was} to {now}' + (f": {consequence}" if lowered else ""),
    )


def _payload_schema(old: JobView, new: JobView) -> Iterator[Change]:
    was, now = _text(old.get("payloadSchema")), _text(new.get("payloadSchema"))
    if canonical(undescribed(was)) == canonical(undescribed(now)):
        return
    pointer = join(new.pointer, "payloadSchema")
    found = narrowings(was, now)
    for item in found:
        place = f" at {item.pointer}" if item.pointer else ""
        then = "queued payloads may not pass any more" if item.certain else "whether queued payloads still pass cannot be told"
        yield Change(
            kind="payload-narrowed" if item.certain else "payload-maybe-narrowed",
            level="breaking" if item.certain else "notable",
            pointer=pointer + item.pointer,
            message=f'the payload schema of "{new.name}"{place} {item.message}: {then}',
        )
    if not found and narrowings(now, was):
        yield Change(
            kind="payload-widened",
            level="harmless",
            pointer=pointer,
            message=f'the payload schema of "{new.name}" takes all it took before',
        )


def _schedules(before: Subject, after: Subject) -> Iterator[Change]:
    """Entries have no name: equal ones are paired first, then those of the same job with the same payload, then by job."""
    old, new = list(before.schedules), list(after.schedules)
    for same in (_entry, _starts, _job):
        pairs, old, new = _paired(old, new, same)
        for was, now in pairs:
            yield from _schedule_changed(was, now)
    for was in old:
        yield Change(
            kind="schedule-removed",
            level="notable",
            pointer=was.pointer,
            message=f'"{was.job}" no longer runs at {_when(was)}',
            schedule_before=_rhythm(was),
        )
    for entry in new:
        yield Change(
            kind="schedule-added",
            level="notable",
            pointer=entry.pointer,
            message=f'"{entry.job}" now runs at {_when(entry)}',
            schedule_after=_rhythm(entry),
        )


def _paired(old: list[ScheduleView], new: list[ScheduleView], same: Callable[[ScheduleView], Hashable]) -> _Paired:
    """The pairs of entries that are the same, in their order, and what is left of both."""
    waiting: defaultdict[Hashable, deque[ScheduleView]] = defaultdict(deque)
    for entry in new:
        waiting[same(entry)].append(entry)
    pairs, left = [], []
    for entry in old:
        twins = waiting[same(entry)]
        if twins:
            pairs.append((entry, twins.popleft()))
        else:
            left.append(entry)
    taken = {id(twin) for _, twin in pairs}
    return pairs, left, [entry for entry in new if id(entry) not in taken]


def _schedule_changed(was: ScheduleView, now: ScheduleView) -> Iterator[Change]:
    if _rhythm(was) != _rhythm(now):
        yield Change(
            kind="schedule-changed",
            level="notable",
            pointer=now.expression_pointer,
            message=f'"{now.job}" runs at {_when(now)} instead of {_when(was)}; the next fire is computed anew',
            schedule_before=_rhythm(was),
            schedule_after=_rhythm(now),
        )
    if canonical(_text(was.payload)) != canonical(_text(now.payload)):
        yield Change(
            kind="schedule-payload-changed",
            level="notable",
            pointer=now.payload_pointer,
            message=f'the schedule of "{now.job}" passes another payload',
        )


def _entry(entry: ScheduleView) -> tuple[Any, ...]:
    return (*_starts(entry), *_rhythm(entry))


def _starts(entry: ScheduleView) -> tuple[Any, ...]:
    return (str(entry.job), canonical(_text(entry.payload)))


def _job(entry: ScheduleView) -> str:
    return str(entry.job)


def _rhythm(entry: ScheduleView) -> tuple[str, str | None]:
    return (str(entry.expression), None if entry.timezone is ABSENT else str(entry.timezone))


def _when(entry: ScheduleView) -> str:
    expression, zone = _rhythm(entry)
    return f'"{expression}"' + (f" {zone}" if zone else "")


def _capabilities(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    was, now = (dict.fromkeys(each.get("capabilities", ())) for each in (old, new))
    for index, name in enumerate(now):
        if name not in was:
            yield Change(
                kind="capability-added",
                level="notable",
                pointer=join("/capabilities", index),
                message=f'asks for the capability "{name}", which it did not have',
            )
    for index, name in enumerate(was):
        if name not in now:
            yield Change(
                kind="capability-removed",
                level="harmless",
                pointer=join("/capabilities", index),
                message=f'no longer asks for the capability "{name}"',
            )


def _routes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    was, now = old.get("routes", {}), new.get("routes", {})
    for key in dict.fromkeys([*was, *now]):
        pointer = join("/routes", key)
        if key not in now:
            yield Change(
                kind="route-removed", level="breaking", pointer=pointer, message=f'route "{key}" is gone: its callers fail'
            )
        elif key not in was:
            yield Change(kind="route-added", level="notable", pointer=pointer, message=f'route "{key}" is new')
        elif was[key].get("auth") != now[key].get("auth"):
            yield Change(
                kind="route-auth-changed",
                level="notable",
                pointer=join(pointer, "auth"),
                message=f'auth of route "{key}" went from {_quoted(was[key].get("auth"))} to {_quoted(now[key].get("auth"))}',
            )


def _quoted(value: Any) -> str:
    return "nothing" if value is None else f'"{value}"'
