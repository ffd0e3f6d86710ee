"""What the rules look at: a raw manifest, its platform, and uniform views of jobs and schedules whatever the layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nsplugin.cron import CronError, CronFault, Expression, faults, parse
from nsplugin.handlers import Handler
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN, join
from nsplugin.spans import Target
from nsplugin.wording import Origin, plain, token

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT", "__slots__": ()})()
"""Stands for a key that was not given (``None`` is a given null)."""


_NO_OPTIONS: Mapping[Any, Any] = {UNKNOWN: UNKNOWN}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """One job: where it stands, its name and where that stands (a mapping key, or a value), and its raw options."""

    pointer: str
    name: Any
    name_pointer: str
    name_target: Target
    raw: Mapping[Any, Any]

    def get(self, key: str) -> Any:
        """The raw value of an option, or :data:`ABSENT` (``UNKNOWN`` where options are not known)."""
        return self.raw.get(key, UNKNOWN if UNKNOWN in self.raw else ABSENT)


@dataclass(frozen=True, kw_only=True)
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

    @cached_property
    def parsed(self) -> Expression | None:
        """The expression, or ``None`` where there is none in the grammar."""
        if not isinstance(self.expression, str):
            return None
        try:
            return parse(plain(self.expression))
        except CronError:
            return None

    @cached_property
    def faults(self) -> tuple[CronFault, ...]:
        """What the grammar refuses of the expression, in column order."""
        return () if self.parsed is not None or not isinstance(self.expression, str) else faults(plain(self.expression))


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A raw manifest under judgement. Values may be of any type (structure is judged apart) and may be ``UNKNOWN``.

    ``origin``: "python" when the values are Python's own (tuples, NaN and models can occur), "json" when they were read from
    JSON. ``timezone``: the site's, or ``None``. ``now``: the minute since the epoch from which clock changes count, or ``None``
    for those that recur for good. ``handlers``: what is known of each handler, by the pointer of its job or route.
    """

    raw: Mapping[Any, Any]
    platform: Platform
    origin: Origin = "json"
    timezone: str | None = None
    now: int | None = None
    handlers: Mapping[str, Handler] = field(default_factory=dict)

    @cached_property
    def jobs(self) -> tuple[JobView, ...]:
        """The jobs in the order they stand; options that are unknown or no mapping hold nothing but ``UNKNOWN``."""
        return tuple(_JOBS[self.platform.layout.jobs](self.raw.get("jobs")))

    @cached_property
    def named_jobs(self) -> tuple[JobView, ...]:
        """The jobs whose name is a string."""
        return tuple(job for job in self.jobs if isinstance(job.name, str))

    def job_named(self, name: Any) -> JobView | None:
        """The job of that name, or ``None``."""
        return next((job for job in self.named_jobs if job.name == name), None) if isinstance(name, str) else None

    @property
    def job_count(self) -> int:
        """How many jobs are declared at least, whatever their options are."""
        jobs = self.raw.get("jobs")
        known = jobs if isinstance(jobs, (Mapping, list, tuple)) else ()
        return sum(1 for entry in known if entry is not UNKNOWN)

    @cached_property
    def schedules(self) -> tuple[ScheduleView, ...]:
        """The schedules that are a mapping, in the order they stand."""
        return tuple(_SCHEDULES[self.platform.layout.schedules](self))

    @cached_property
    def job_names(self) -> Mapping[str, JobView] | None:
        """The declared jobs by name, or ``None`` if not all names are known."""
        jobs = self.raw.get("jobs", ABSENT)
        if jobs is ABSENT:
            return None if UNKNOWN in self.raw else {}
        known = _ALL_KNOWN[self.platform.layout.jobs](jobs) and all(job.name is not UNKNOWN for job in self.jobs)
        return {job.name: job for job in self.named_jobs} if known else None


def _mapped_jobs(jobs: Any) -> Iterator[JobView]:
    for name, raw in jobs.items() if isinstance(jobs, Mapping) else ():
        if name is not UNKNOWN:
            pointer = join("/jobs", token(name))
            options = raw if isinstance(raw, Mapping) else _NO_OPTIONS
            yield JobView(pointer=pointer, name=name, name_pointer=pointer, name_target="key", raw=options)


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


def _all_mapped(jobs: Any) -> bool:
    return isinstance(jobs, Mapping) and UNKNOWN not in jobs


def _all_listed(jobs: Any) -> bool:
    return isinstance(jobs, (list, tuple)) and all(item is not UNKNOWN for item in jobs)


_JOBS = {"mapping": _mapped_jobs, "list": _listed_jobs}
_ALL_KNOWN = {"mapping": _all_mapped, "list": _all_listed}
_SCHEDULES = {"list": _listed_schedules, "in-job": _schedules_in_jobs}
