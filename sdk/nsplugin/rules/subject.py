"""What the rules look at: a raw manifest, its platform, and uniform views of jobs and schedules whatever the layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from nsplugin.handlers import Handler
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN, join
from nsplugin.spans import Target

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT", "__slots__": ()})()
"""Stands for a key that was not given (``None`` is a given null)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """One job: where it stands, its name and where that stands (a mapping key, or a value), and its raw options."""

    pointer: str
    name: Any
    name_pointer: str
    name_target: Target
    raw: Mapping[Any, Any]

    def get(self, key: str) -> Any:
        """The raw value of an option, or :data:`ABSENT`."""
        return self.raw.get(key, ABSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleView:
    """One schedule: its expression, the job it starts, its payload and its own time zone (:data:`ABSENT` where not given)."""

    pointer: str
    expression: Any
    expression_pointer: str
    job: Any
    job_pointer: str
    payload: Any
    payload_pointer: str
    timezone: Any
    timezone_pointer: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A raw manifest under judgement. Values may be of any type (structure is judged apart) and may be ``UNKNOWN``.

    ``origin``: "python" when the values are Python's own (tuples, NaN and models can occur), "json" when they were read from
    JSON. ``timezone``: the site's, or ``None``. ``handlers``: what is known of each handler, by the pointer of its job or route.
    """

    raw: Mapping[Any, Any]
    platform: Platform
    origin: Literal["python", "json"] = "json"
    timezone: str | None = None
    handlers: Mapping[str, Handler] = field(default_factory=dict)

    @cached_property
    def jobs(self) -> tuple[JobView, ...]:
        """The jobs whose options are a mapping, in the order they stand."""
        return tuple(_JOBS[self.platform.layout.jobs](self.raw.get("jobs")))

    @cached_property
    def schedules(self) -> tuple[ScheduleView, ...]:
        """The schedules that are a mapping, in the order they stand."""
        return tuple(_SCHEDULES[self.platform.layout.schedules](self))

    @cached_property
    def jobs_known(self) -> bool:
        """Whether every job is known: no unknown container, key, item or name."""
        jobs = self.raw.get("jobs", {})
        if jobs is UNKNOWN or UNKNOWN in self.raw:
            return False
        if isinstance(jobs, Mapping):
            return UNKNOWN not in jobs
        if isinstance(jobs, (list, tuple)):
            return all(item is not UNKNOWN for item in jobs) and all(job.name is not UNKNOWN for job in self.jobs)
        return True


def _mapped_jobs(jobs: Any) -> Iterator[JobView]:
    for name, raw in jobs.items() if isinstance(jobs, Mapping) else ():
        if name is not UNKNOWN and isinstance(raw, Mapping):
            pointer = join("/jobs", name)
            yield JobView(pointer=pointer, name=name, name_pointer=pointer, name_target="key", raw=raw)


def _listed_jobs(jobs: Any) -> Iterator[JobView]:
    for index, raw in enumerate(jobs) if isinstance(jobs, (list, tuple)) else ():
        if isinstance(raw, Mapping):
            pointer = join("/jobs", index)
            missing = UNKNOWN if UNKNOWN in raw else ABSENT
            yield JobView(
                pointer=pointer,
                name=raw.get("key", missing),
                name_pointer=pointer + "/key",
                name_target="value",
                raw=raw,
            )


def _listed_schedules(subject: Subject) -> Iterator[ScheduleView]:
    entries = subject.raw.get("cron")
    for index, raw in enumerate(entries) if isinstance(entries, (list, tuple)) else ():
        if isinstance(raw, Mapping):
            pointer = join("/cron", index)
            missing = UNKNOWN if UNKNOWN in raw else ABSENT
            yield ScheduleView(
                pointer=pointer,
                expression=raw.get("schedule", missing),
                expression_pointer=pointer + "/schedule",
                job=raw.get("job", missing),
                job_pointer=pointer + "/job",
                payload=raw.get("payload", missing),
                payload_pointer=pointer + "/payload",
                timezone=ABSENT,
                timezone_pointer=pointer,
            )


def _schedules_in_jobs(subject: Subject) -> Iterator[ScheduleView]:
    for job in subject.jobs:
        raw = job.get("schedule")
        if isinstance(raw, Mapping):
            pointer = job.pointer + "/schedule"
            missing = UNKNOWN if UNKNOWN in raw else ABSENT
            yield ScheduleView(
                pointer=pointer,
                expression=raw.get("cron", missing),
                expression_pointer=pointer + "/cron",
                job=job.name,
                job_pointer=job.name_pointer,
                payload=ABSENT,
                payload_pointer=pointer,
                timezone=raw.get("timezone", missing),
                timezone_pointer=pointer + "/timezone",
            )


_JOBS = {"mapping": _mapped_jobs, "list": _listed_jobs}
_SCHEDULES = {"list": _listed_schedules, "in-job": _schedules_in_jobs}
