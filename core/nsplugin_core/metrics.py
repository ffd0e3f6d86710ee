"""Numbers for Prometheus: what this process did, and how full the queue is. Names and labels are in docs/operating.md."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from nsplugin_core.events import EngineEvent
from nsplugin_core.host.keeper import HostStatus
from nsplugin_core.store.errors import StoreError
from nsplugin_core.store.protocol import Store

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
FRESH_S: Final = 5.0
"""How long a count of the queue is shown again before it is counted anew: scrapers must not slow the queue."""
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_OUTCOMES: Final = ("success", "failure", "timeout", "lost", "deferral")
_FIRES: Final = ("fire", "catch-up", "skip")
_Key = tuple[str, str, str]


class Metrics:
    """Counts engine events and shows the state of queue and hosts. Safe from any thread."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        job = ("plugin", "job")
        self._attempts = self._counter("attempts", "Ended attempts by outcome.", (*job, "outcome"))
        self._fires = self._counter("schedule_fires", "Fires of schedules: fire, catch-up or skip.", (*job, "kind"))
        self._dead = self._counter("dead_letters", "Tasks that became dead letters.", job)
        self._retries = self._counter("retries", "Failed attempts that are retried.", job)
        self._enqueued = self._counter("enqueued", "Tasks accepted by this process.", job)
        self._duplicates = self._counter("duplicates", "Requests to enqueue whose key was taken.", job)
        self._refused = self._counter("refused_results", "Results that came too late to count.", ())
        self._exits = self._counter("host_exits", "Hosts that exited by themselves or were killed.", ("plugin",))
        self._latency = Histogram(
            "nsplugin_start_latency_seconds",
            "From when a task was due to its first attempt.",
            job,
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._actions: dict[_Key, Callable[[EngineEvent], None]] = {}
        self._states: dict[str, str] = {}
        self._lock = threading.Lock()

    def _counter(self, name: str, words: str, labels: tuple[str, ...]) -> Counter:
        return Counter(f"nsplugin_{name}", words, labels, registry=self._registry)

    def show_queue(self, store: Store, running: Callable[[], int], statuses: Callable[[], list[HostStatus]]) -> None:
        """Show what is in a store and in the hosts as well, from now on."""
        self._registry.register(_State(store, running, statuses))

    def observe(self, event: EngineEvent) -> None:
        """Count an engine event."""
        key = (event.type, event.plugin, event.job)
        action = self._actions.get(key)
        if action is None:
            action = self._actions[key] = self._action(event)
        action(event)

    def host_changed(self, status: HostStatus) -> None:
        """Count a host's exits: after each it is paused for a while. ``status`` is what it is now."""
        with self._lock:
            before = self._states.get(status.plugin)
            self._states[status.plugin] = status.state
        if status.state == "paused" != before:
            self._exits.labels(status.plugin).inc()

    def text(self) -> bytes:
        """Everything in Prometheus's text format."""
        return generate_latest(self._registry)

    def _action(self, event: EngineEvent) -> Callable[[EngineEvent], None]:
        kind, job = event.type, (event.plugin, event.job)
        if kind == "attempt":
            histogram = self._latency.labels(*job)
            return lambda event: histogram.observe(_late(event)) if event.attempt == 1 else None
        if kind == "refused":
            return _adding(self._refused)
        if kind in _OUTCOMES:
            return _adding(self._attempts.labels(*job, kind))
        if kind in _FIRES:
            return _adding(self._fires.labels(*job, kind))
        simple = {"dead": self._dead, "retry": self._retries, "enqueue": self._enqueued, "duplicate": self._duplicates}
        return _adding(simple[kind].labels(*job))


def _adding(counter: Counter) -> Callable[[EngineEvent], None]:
    return lambda event: counter.inc()


def _late(event: EngineEvent) -> float:
    return max(0, event.at - (event.at if event.due is None else event.due)) / 1000


class _State(Collector):
    """What is true at the moment of a scrape."""

    def __init__(self, store: Store, running: Callable[[], int], statuses: Callable[[], list[HostStatus]]) -> None:
        self._store, self._running, self._statuses = store, running, statuses
        self._tasks: GaugeMetricFamily | None = None
        self._until = 0.0

    def collect(self) -> Iterator[GaugeMetricFamily]:
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
