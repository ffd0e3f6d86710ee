"""Numbers for Prometheus: what this process did, and how full the queue is. Names and labels are in docs/operating.md."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from nsplugin_core.events import EngineEvent, EventType
from nsplugin_core.host.keeper import HostStatus
from nsplugin_core.store.errors import StoreError
from nsplugin_core.store.protocol import Store

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
FRESH_S: Final = 5.0
"""How long a count of the queue is shown again before it is counted anew: scrapers must not slow the queue."""
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
JOB: Final = ("plugin", "job")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A counter: which events it counts, and whether their type is one of its labels (of that name)."""

    name: str
    words: str
    events: Sequence[EventType]
    label: str | None = None


COUNTERS: Final = (
    Counted(
        name="nsplugin_attempts",
        words="Ended attempts by outcome.",
        events=("success", "failure", "timeout", "lost", "deferral"),
        label="outcome",
    ),
    Counted(name="nsplugin_retries", words="Failed attempts that are retried.", events=("retry",)),
    Counted(name="nsplugin_dead_letters", words="Tasks that became dead letters.", events=("dead",)),
    Counted(name="nsplugin_schedule_fires", words="Fires of schedules.", events=("fire", "catch-up", "skip"), label="kind"),
    Counted(name="nsplugin_enqueued", words="Tasks accepted by this process.", events=("enqueue",)),
    Counted(name="nsplugin_duplicates", words="Requests to enqueue whose key was taken.", events=("duplicate",)),
)


@dataclass(slots=True)
class _Waits:
    """The waits of one job's tasks: how many fell into each bucket, the last one endless."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds


class Metrics(Collector):
    """Counts engine events and shows the state of queue and hosts. Safe from any thread.

    Thousands of events a second come in, and a scrape now and then: so events only add to plain numbers.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._counts: dict[tuple[EventType, str, str], int] = {}
        self._waits: dict[tuple[str, str], _Waits] = {}
        self._exits: dict[str, int] = {}
        self._states: dict[str, str] = {}
        self._lock = threading.Lock()
        self._registry.register(self)

    def show_queue(self, store: Store, running: Callable[[], int], statuses: Callable[[], list[HostStatus]]) -> None:
        """Show what is in a store and in the hosts as well, from now on."""
        self._registry.register(_State(store, running, statuses))

    def observe(self, event: EngineEvent) -> None:
        """Count an engine event."""
        key = (event.type, event.plugin, event.job)
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1
            if event.type == "attempt" and event.attempt == 1 and event.due is not None:
                waits = self._waits.get(key[1:])
                if waits is None:
                    waits = self._waits[key[1:]] = _Waits()
                waits.add(max(0, event.at - event.due) / 1000)

    def host_changed(self, status: HostStatus) -> None:
        """Count a host's exits: after each it is paused for a while. ``status`` is what it is now."""
        with self._lock:
            before = self._states.get(status.plugin)
            self._states[status.plugin] = status.state
            if status.state == "paused" != before:
                self._exits[status.plugin] = self._exits.get(status.plugin, 0) + 1

    def text(self) -> bytes:
        """Everything in Prometheus's text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """What was counted."""
        with self._lock:
            counts, exits = dict(self._counts), dict(self._exits)
            waits = {job: (list(accumulate(each.counts)), each.seconds) for job, each in self._waits.items()}
        for counter in COUNTERS:
            yield _family(counter, counts)
        refused = sum(number for (kind, _, _), number in counts.items() if kind == "refused")
        yield CounterMetricFamily("nsplugin_refused_results", "Results that came too late to count.", value=refused)
        yield _latency(waits)
        family = CounterMetricFamily(
            "nsplugin_host_exits", "Hosts that exited by themselves or were killed.", labels=("plugin",)
        )
        for plugin, number in exits.items():
            family.add_metric((plugin,), number)
        yield family


def _family(counter: Counted, counts: dict[tuple[EventType, str, str], int]) -> CounterMetricFamily:
    own = (counter.label,) if counter.label is not None else ()
    family = CounterMetricFamily(counter.name, counter.words, labels=(*JOB, *own))
    for (kind, plugin, job), number in counts.items():
        if kind in counter.events:
            family.add_metric((plugin, job, *((kind,) if own else ())), number)
    return family


def _latency(waits: dict[tuple[str, str], tuple[list[int], float]]) -> HistogramMetricFamily:
    words = "From when a task was due to its first attempt."
    family = HistogramMetricFamily("nsplugin_start_latency_seconds", words, labels=JOB)
    names = [*map(str, BUCKETS), "+Inf"]
    for job, (counts, seconds) in waits.items():
        family.add_metric(job, buckets=list(zip(names, counts, strict=True)), sum_value=seconds)
    return family


class _State(Collector):
    """What is true at the moment of a scrape."""

    def __init__(self, store: Store, running: Callable[[], int], statuses: Callable[[], list[HostStatus]]) -> None:
        self._store, self._running, self._statuses = store, running, statuses
        self._tasks: GaugeMetricFamily | None = None
        self._until = 0.0

    def collect(self) -> Iterator[Metric]:
        """The gauges."""
        yield GaugeMetricFamily("nsplugin_attempts_running", "Attempts that run in this process.", value=self._running())
        up = GaugeMetricFamily("nsplugin_host_up", "1 for a host that is ready.", labels=("plugin",))
        for status in self._statuses():
            up.add_metric((status.plugin,), float(status.state == "ready"))
        yield up
        tasks = self._counted()
        if tasks is not None:
            yield tasks

    def _counted(self) -> GaugeMetricFamily | None:
        """The queue's depth; the last one known while the database is away."""
        if time.monotonic() < self._until:
            return self._tasks
        try:
            depths = self._store.tasks.depths()
        except StoreError:
            return self._tasks
        self._until = time.monotonic() + FRESH_S
        self._tasks = GaugeMetricFamily("nsplugin_tasks", "Tasks by state.", labels=("plugin", "job", "state"))
        for depth in depths:
            self._tasks.add_metric((depth.plugin, depth.job, depth.state), depth.tasks)
        return self._tasks
