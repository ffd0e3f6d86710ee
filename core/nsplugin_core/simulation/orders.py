"""Reads what to simulate from the words of a command line; every refusal says what to write instead."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from nsplugin.cron import Zone, ZoneError, zone
from nsplugin.durations import parsed
from nsplugin.nearest import closest
from nsplugin_core.simulation.moments import moments, spans
from nsplugin_core.simulation.scenario import EnqueueOrder, Hits, Job, SimulatedPlugin

T = TypeVar("T")
_NUMBER: Final = re.compile(r"\d{1,6}")
_PERCENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s?%")


class OrderError(ValueError):
    """An option's value that can't be carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Reads options for plugins, a window (UTC ms) and a site's zone. All methods raise :class:`OrderError`."""

    plugins: Sequence[SimulatedPlugin]
    zone: Zone
    start: int
    end: int

    def hits(self, option: str, texts: Iterable[str]) -> dict[Job, Hits]:
        """``JOB=2`` or ``JOB=30%``; both for one job add up."""
        found: dict[Job, Hits] = {}
        for text in texts:
            name, value = _assignment(option, text, "JOB=2 or JOB=30%")
            for job in self._jobs(option, name):
                found[job] = _added(found.get(job, Hits()), _hits(option, text, value))
        return found

    def one_first(self, fail: Mapping[Job, Hits], timeout: Mapping[Job, Hits]) -> None:
        """Refuse orders that say of one job's first attempts both that they fail and that they time out."""
        for job in fail:
            if fail[job].first and job in timeout and timeout[job].first:
                both = f"both speak of the first attempts of {job[1]!r}"
                raise OrderError(f"--fail and --timeout: {both}; give one a chance, as 30%")

    def takes(self, option: str, texts: Iterable[str]) -> dict[Job, int]:
        """``JOB=30s``."""
        pairs = [_assignment(option, text, "JOB=30s") for text in texts]
        return {job: _read(option, partial(parsed, value)) for name, value in pairs for job in self._jobs(option, name)}

    def exits(self, option: str, texts: Iterable[str]) -> tuple[dict[Job, int], tuple[tuple[int, str], ...]]:
        """``JOB=2`` (the first two starts of each task), ``JOB=02:30`` (its plugin's host, then), or ``02:30`` (all hosts)."""
        counted: dict[Job, int] = {}
        timed: list[tuple[int, str]] = []
        for text in texts:
            name, equals, value = text.rpartition("=")
            jobs = self._jobs(option, name) if equals else [(plugin.manifest.id, "") for plugin in self.plugins]
            if equals and _NUMBER.fullmatch(value):
                counted |= dict.fromkeys(jobs, int(value))
            else:
                timed += [(at, plugin) for at in self._moments(option, value) for plugin in {job[0]: 0 for job in jobs}]
        return counted, tuple(sorted(timed))

    def outages(self, option: str, texts: Iterable[str]) -> tuple[tuple[int, int], ...]:
        """``02:00-05:00`` or two times; those that touch become one."""
        found = sorted(span for text in texts for span in _read(option, partial(spans, text, self.zone, self.start, self.end)))
        merged: list[tuple[int, int]] = []
        for begin, end in found:
            if merged and begin <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((begin, end))
        return tuple(merged)

    def zone_changes(self, option: str, texts: Iterable[str]) -> tuple[tuple[int, str], ...]:
        """``2026-03-08T12:00=Asia/Tokyo``."""
        changes: list[tuple[int, str]] = []
        for text in texts:
            when, name = _assignment(option, text, "2026-03-08T12:00=Asia/Tokyo")
            try:
                changes += [(at, zone(name).name) for at in self._moments(option, when)]
            except ZoneError as error:
                raise OrderError(f"{option}: {error}") from error
        if len({at for at, _ in changes}) < len(changes):
            raise OrderError(f"{option}: two changes at the same time: which of them is last is not clear")
        return tuple(sorted(changes))

    def enqueues(self, option: str, texts: Iterable[str]) -> tuple[EnqueueOrder, ...]:
        """``JOB``, ``JOB@02:30``, ``JOB={"key": 1}``, ``JOB@+2h={"key": 1}``."""
        found: list[EnqueueOrder] = []
        for text in texts:
            target, equals, payload = text.partition("=")
            name, at, when = target.partition("@")
            moments = self._moments(option, when) if at else [self.start]
            jobs = self._jobs(option, name)
            if len(jobs) > 1:
                raise OrderError(f"{option}: several plugins have a job {name!r}; write PLUGIN/{name}")
            for moment in moments:
                found.append(EnqueueOrder(at=moment, job=jobs[0], payload=_payload(option, payload) if equals else ABSENT))
        return tuple(sorted(found, key=lambda order: order.at))

    def _moments(self, option: str, text: str) -> list[int]:
        found = _read(option, lambda: moments(text, self.zone, self.start, self.end))
        if any(not self.start <= moment < self.end for moment in found):
            raise OrderError(f"{option}: {text!r} lies outside of the simulation: nothing would come of it")
        return found

    def _jobs(self, option: str, name: str) -> list[Job]:
        """The jobs of that name, or the one job of ``PLUGIN/JOB``."""
        every = [(plugin.manifest.id, job.name) for plugin in self.plugins for job in plugin.manifest.jobs]
        found = [job for job in every if name in (job[1], "/".join(job))]
        if not found:
            names = sorted({job for _, job in every})
            meant = closest(name, names)
            hint = f"did you mean {meant!r}?" if meant else f"the jobs are {', '.join(names) or '(none)'}"
            raise OrderError(f"{option}: there is no job {name!r}; {hint}")
        return found


class _Absent:
    """No payload was given: the platform's own for that case."""


ABSENT: Final = _Absent()


def _assignment(option: str, text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise OrderError(f"{option}: {text!r} is not understood; write {example}")
    return name, value


def _hits(option: str, text: str, value: str) -> Hits:
    if _NUMBER.fullmatch(value):
        return Hits(first=int(value))
    percent = _PERCENT.fullmatch(value)
    if percent is None or float(percent[1]) > 100:
        raise OrderError(f"{option}: {text!r}: {value!r} is neither a number of attempts (2) nor a chance (30%)")
    return Hits(chance=float(percent[1]) / 100)


def _added(one: Hits, other: Hits) -> Hits:
    return Hits(first=max(one.first, other.first), chance=max(one.chance, other.chance))


def _payload(option: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise OrderError(f"{option}: the payload {text!r} is no JSON: {error}") from None


def _read(option: str, reading: Callable[[], T]) -> T:
    try:
        return reading()
    except OrderError:
        raise
    except ValueError as error:
        raise OrderError(f"{option}: {error}") from None
