"""What the rules look at: a raw manifest, its platform, and uniform views of jobs and schedules whatever the layout."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from nsplugin.cron import CronError, CronFault, Expression, faults, parse
from nsplugin.handlers import Handler
from nsplugin.nearest import closest
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN, join
from nsplugin.record import field, record
from nsplugin.spans import Target
from nsplugin.wording import Origin, plain, token

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT", "__slots__": ()})()
"""Stands for a key that was not given (``None`` is a given null)."""

_DAY = 86_400
_NO_OPTIONS: Mapping[Any, Any] = {UNKNOWN: UNKNOWN}


@record(kw_only=False)
class JobView:
    """One job: where it stands, its name and where that stands (a mapping key, or a value), and its raw options."""

    pointer: str
    name: Any
    name_pointer: str
    name_target: Target
    raw: Mapping[Any, Any]

    def get(self, key: str) -> Any:
        """The raw value of an option, or :data:`ABSENT` (``UNKNOWN`` where options are not known)."""
        value = self.raw.get(key, ABSENT)
        return UNKNOWN if value is ABSENT and UNKNOWN in self.raw else value


@record(kw_only=False)
class ScheduleView:
    """One schedule: its expression, the job it starts, its payload and its own time zone (:data:`ABSENT` where not given).

    ``parsed`` is the expression, or ``None`` where there is none in the grammar.
    """

    pointer: str
    expression: Any
    expression_pointer: str
    job: Any
    job_pointer: str
    payload: Any
    payload_pointer: str
    timezone: Any
    timezone_pointer: str
    parsed: Expression | None

    @property
    def faults(self) -> tuple[CronFault, ...]:
        """What the grammar refuses of the expression, in column order."""
        return () if self.parsed is not None or not isinstance(self.expression, str) else faults(plain(self.expression))


def today() -> int:
    """The minute since the epoch at which this day began in UTC, so that a day's verdicts are the same."""
    return int(time.time()) // _DAY * _DAY // 60


@record
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
        return tuple([job for job in self.jobs if isinstance(job.name, str)])

    @cached_property
    def by_name(self) -> Mapping[str, JobView]:
        """The jobs that are known, by name; of several with one name the last."""
        return {job.name: job for job in self.named_jobs}

    def job_named(self, name: Any) -> JobView | None:
        """The job of that name, or ``None``."""
        return self.by_name.get(name) if isinstance(name, str) else None

    def meant(self, name: str) -> tuple[str | None, bool]:
        """The declared job that a misspelt name most likely stands for, and whether its own name is at fault instead.

        A name that the platform refuses is never suggested: it is reported where it is declared, and that is enough.
        """
        near = closest(plain(name), self.job_names or ())
        limit = self.platform.job_name
        if near is None or (len(near) <= limit.max_length and limit.matches(near)):
            return near, False
        return None, True

    @property
    def job_count(self) -> int:
        """How many jobs are declared at least, whatever their options are."""
        jobs = self.raw.get("jobs")
        known = jobs if isinstance(jobs, (Mapping, list, tuple)) else ()
        return sum(1 for entry in known if entry is not UNKNOWN)

    @cached_property
    def job_names(self) -> Mapping[str, JobView] | None:
        """The declared jobs by name, or ``None`` if not all names are known."""
        jobs = self.raw.get("jobs", ABSENT)
        if jobs is ABSENT:
            return None if UNKNOWN in self.raw else {}
        known = _ALL_KNOWN[self.platform.layout.jobs](jobs) and all(job.name is not UNKNOWN for job in self.jobs)
        return self.by_name if known else None

    @cached_property
    def schedules(self) -> tuple[ScheduleView, ...]:
        """The schedules that are a mapping, in the order they stand."""
        return tuple(_SCHEDULES[self.platform.layout.schedules](self))

    @cached_property
    def ungrammatical(self) -> tuple[tuple[ScheduleView, tuple[CronFault, ...]], ...]:
        """The schedules whose expression is not in the grammar, each with its faults."""
        broken = [view for view in self.schedules if view.parsed is None and isinstance(view.expression, str)]
        return tuple((view, view.faults) for view in broken)


def _parsed(text: Any) -> Expression | None:
    if not isinstance(text, str):
        return None
    try:
        return parse(plain(text))
    except CronError:
        return None


def _mapped_jobs(jobs: Any) -> Iterator[JobView]:
    for name, raw in jobs.items() if isinstance(jobs, Mapping) else ():
        if name is not UNKNOWN:
            simple = type(name) is str and "/" not in name and "~" not in name
            pointer = "/jobs/" + name if simple else join("/jobs", token(name))
            options = raw if type(raw) is dict or isinstance(raw, Mapping) else _NO_OPTIONS
            yield JobView(pointer, name, pointer, "key", options)


def _listed_jobs(jobs: Any) -> Iterator[JobView]:
    for index, raw in enumerate(jobs) if isinstance(jobs, (list, tuple)) else ():
        if isinstance(raw, Mapping):
            missing = UNKNOWN if UNKNOWN in raw else ABSENT
            yield JobView(f"/jobs/{index}", raw.get("key", missing), f"/jobs/{index}/key", "value", raw)


def _listed_schedules(subject: Subject) -> Iterator[ScheduleView]:
    entries = subject.raw.get("cron")
    for index, raw in enumerate(entries) if isinstance(entries, (list, tuple)) else ():
        if isinstance(raw, Mapping):
            pointer, missing = f"/cron/{index}", UNKNOWN if UNKNOWN in raw else ABSENT
            expression = raw.get("schedule", missing)
            yield ScheduleView(
                pointer,
                expression,
                pointer + "/schedule",
                raw.get("job", missing),
                pointer + "/job",
                raw.get("payload", missing),
                pointer + "/payload",
                ABSENT,
                pointer,
                _parsed(expression),
            )


def _schedules_in_jobs(subject: Subject) -> Iterator[ScheduleView]:
    for job in subject.jobs:
        raw = job.get("schedule")
        if isinstance(raw, Mapping):
            pointer, missing = job.pointer + "/schedule", UNKNOWN if UNKNOWN in raw else ABSENT
            expression = raw.get("cron", missing)
            yield ScheduleView(
                pointer,
                expression,
                pointer + "/cron",
                job.name,
                job.name_pointer,
                ABSENT,
                pointer,
                raw.get("timezone", missing),
                pointer + "/timezone",
                _parsed(expression),
            )


def _all_mapped(jobs: Any) -> bool:
    return isinstance(jobs, Mapping) and UNKNOWN not in jobs


def _all_listed(jobs: Any) -> bool:
    return isinstance(jobs, (list, tuple)) and all(item is not UNKNOWN for item in jobs)


_JOBS = {"mapping": _mapped_jobs, "list": _listed_jobs}
_ALL_KNOWN = {"mapping": _all_mapped, "list": _all_listed}
_SCHEDULES = {"list": _listed_schedules, "in-job": _schedules_in_jobs}
