"""Rules about the payloads that schedules pass, and the schemas that jobs hold them to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from nsplugin.canonical import compact_size, json_size, without_floats
from nsplugin.json_schema.mismatch import has_unknown
from nsplugin.payload import not_json
from nsplugin.payload_schema import Budget, mismatches, schema_faults
from nsplugin.pointers import UNKNOWN
from nsplugin.rules._family import Found, Rule
from nsplugin.rules.subject import ABSENT, JobView, ScheduleView, Subject
from nsplugin.wording import counted


def _not_json(subject: Subject) -> Iterator[Found]:
    for schedule in _with_payload(subject):
        if subject.origin != "json" or not without_floats(schedule.payload):
            yield from not_json(schedule.payload, schedule.payload_pointer)


def _with_payload(subject: Subject) -> Iterator[ScheduleView]:
    return (schedule for schedule in subject.schedules if schedule.payload is not ABSENT and schedule.payload is not UNKNOWN)


def _is_json(subject: Subject, value: Any) -> bool:
    """Whether a value is JSON, ``UNKNOWN`` parts aside: what was read from JSON is."""
    return subject.origin == "json" or next(iter(not_json(value, "")), None) is None


def _too_large(subject: Subject) -> Iterator[Found]:
    most = subject.platform.payload.max_bytes
    for schedule in _with_payload(subject):
        size = _size(subject, schedule.payload)
        if size > most and _is_json(subject, schedule.payload):
            has = f"more than {counted(most, 'byte')}" if has_unknown(schedule.payload) else counted(size, "byte")
            yield Found(
                pointer=schedule.payload_pointer,
                message=f"the payload has {has} as JSON; {subject.platform.title} takes at most {most:,}",
                hint="store the data and pass a key to it",
            )


def _size(subject: Subject, payload: Any) -> int:
    """The size in bytes. What was read from JSON cannot contain itself, so that the quick way is open to it."""
    quick = compact_size(payload) if subject.origin == "json" else None
    return json_size(payload) if quick is None else quick


def _schemas(subject: Subject) -> Iterator[Found]:
    sound: dict[str, JobView] = {}
    for job in subject.jobs:
        schema = job.get("payloadSchema")
        if isinstance(schema, (dict, bool)):
            found = list(_schema(subject, schema, job.pointer + "/payloadSchema"))
            yield from found
            if not found and isinstance(job.name, str):
                sound[job.name] = job
    budget = Budget()
    for schedule in subject.schedules if sound else ():
        started = sound.get(schedule.job) if isinstance(schedule.job, str) else None
        if started is not None:
            yield from _payload(subject, schedule, started, budget)


def _schema(subject: Subject, schema: Any, pointer: str) -> Iterator[Found]:
    if not _is_json(subject, schema):
        yield from not_json(schema, pointer)
        return
    yield from schema_faults(schema, pointer)


def _payload(subject: Subject, schedule: ScheduleView, job: JobView, budget: Budget) -> Iterator[Found]:
    given, schema = schedule.payload, job.get("payloadSchema")
    if given is not ABSENT and (given is UNKNOWN or not _is_json(subject, given)):
        return
    payload = subject.platform.payload.absent_value if given is ABSENT else given
    yield from mismatches(payload, schema, schedule.payload_pointer, budget=budget)


_PLUGIN = """\
from nsplugin import Cron, Job, define_plugin


async def expire(payload, ctx):
    ...


plugin = define_plugin(
    id="cache",
    jobs={"expire": Job(expire, payload={"type": "object", "required": ["key"]})},
    cron=[Cron("0 3 * * *", job="expire", payload={"key": "daily"})],
)
"""

RULES: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP301",
        name="payload-not-json",
        severity="error",
        summary="A payload holds something that JSON would change or lose.",
        why="NaN would become null, a tuple a list, a date nothing at all: the handler would get something else.",
        bad=_PLUGIN.replace('{"key": "daily"}', '{"key": "daily", "limit": float("nan")}'),
        good=_PLUGIN,
        source="spec/nextskin.md E2 C10; spec/cogover.md E3",
        check=_not_json,
    ),
    Rule(
        code="NSP302",
        name="payload-too-large",
        severity="error",
        summary="A payload has more bytes, written as JSON in UTF-8, than the platform takes.",
        why="The platform refuses it. A payload is copied with each task and each retry.",
        bad=_PLUGIN.replace('{"key": "daily"}', '{"key": "daily" * 20_000}'),
        good=_PLUGIN,
        source="spec/nextskin.md E2; spec/cogover.md E3",
        check=_too_large,
    ),
    Rule(
        code="NSP303",
        name="payload-schema-mismatch",
        severity="error",
        summary="A schedule's payload does not fit its job's payload schema, or that schema is none.",
        why="Each fire would fail in its first line. A schema that refers to another document is refused: it is never fetched.",
        bad=_PLUGIN.replace('"key": "daily"', '"keys": "daily"'),
        good=_PLUGIN,
        source="spec/manifest.md M5; spec/nextskin.md C10",
        check=_schemas,
        platforms=("nextskin",),
    ),
)
