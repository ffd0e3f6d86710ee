"""What Prometheus reads."""

from __future__ import annotations

from nsplugin_core.events import EngineEvent, EventType
from nsplugin_core.host.keeper import HostStatus
from nsplugin_core.metrics import BUCKETS, Metrics

EMPTY = """\
# HELP nsplugin_attempts_total Ended attempts by outcome.
# TYPE nsplugin_attempts_total counter
# HELP nsplugin_retries_total Failed attempts that are retried.
# TYPE nsplugin_retries_total counter
# HELP nsplugin_dead_letters_total Tasks that became dead letters.
# TYPE nsplugin_dead_letters_total counter
# HELP nsplugin_schedule_fires_total Fires of schedules.
# TYPE nsplugin_schedule_fires_total counter
# HELP nsplugin_enqueued_total Tasks accepted by this process.
# TYPE nsplugin_enqueued_total counter
# HELP nsplugin_duplicates_total Requests to enqueue whose key was taken.
# TYPE nsplugin_duplicates_total counter
# HELP nsplugin_refused_results_total Results that came too late to count.
# TYPE nsplugin_refused_results_total counter
nsplugin_refused_results_total 0.0
# HELP nsplugin_start_latency_seconds From when a task was due to its first attempt.
# TYPE nsplugin_start_latency_seconds histogram
# HELP nsplugin_host_exits_total Hosts that exited by themselves or were killed.
# TYPE nsplugin_host_exits_total counter
"""


def told(metrics: Metrics, kind: EventType, *, attempt: int = 1, at: int = 5_000, due: int | None = None) -> None:
    metrics.observe(EngineEvent(at=at, type=kind, plugin="shop", job="sync", task="T", attempt=attempt, due=due))


def numbers(metrics: Metrics) -> dict[str, float]:
    lines = metrics.text().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))}


def test_nothing_happened_yet() -> None:
    assert Metrics().text().decode() == EMPTY


def test_each_event_is_counted_under_its_name() -> None:
    metrics = Metrics()
    kinds: list[EventType] = [
        "success", "success", "failure", "timeout", "lost", "deferral", "retry", "dead", "fire", "catch-up", "skip", "enqueue",
        "duplicate", "refused",
    ]  # fmt: skip
    for kind in kinds:
        told(metrics, kind)
    job = 'job="sync"'
    assert numbers(metrics) == {
        f'nsplugin_attempts_total{{{job},outcome="success",plugin="shop"}}': 2,
        f'nsplugin_attempts_total{{{job},outcome="failure",plugin="shop"}}': 1,
        f'nsplugin_attempts_total{{{job},outcome="timeout",plugin="shop"}}': 1,
        f'nsplugin_attempts_total{{{job},outcome="lost",plugin="shop"}}': 1,
        f'nsplugin_attempts_total{{{job},outcome="deferral",plugin="shop"}}': 1,
        f'nsplugin_retries_total{{{job},plugin="shop"}}': 1,
        f'nsplugin_dead_letters_total{{{job},plugin="shop"}}': 1,
        f'nsplugin_schedule_fires_total{{{job},kind="fire",plugin="shop"}}': 1,
        f'nsplugin_schedule_fires_total{{{job},kind="catch-up",plugin="shop"}}': 1,
        f'nsplugin_schedule_fires_total{{{job},kind="skip",plugin="shop"}}': 1,
        f'nsplugin_enqueued_total{{{job},plugin="shop"}}': 1,
        f'nsplugin_duplicates_total{{{job},plugin="shop"}}': 1,
        "nsplugin_refused_results_total": 1,
    }


def test_latency_is_that_of_first_attempts_in_cumulative_buckets() -> None:
    metrics = Metrics()
    for due in (5_000, 4_999, 4_990, 4_500, -400_000, 6_000):
        told(metrics, "attempt", due=due)
    told(metrics, "attempt", attempt=2, due=0)
    found = numbers(metrics)
    name = 'nsplugin_start_latency_seconds_bucket{job="sync",le="%s",plugin="shop"}'
    buckets = {bound: found[name % bound] for bound in [*map(str, BUCKETS), "+Inf"]}
    assert buckets == {
        "0.001": 3, "0.0025": 3, "0.005": 3, "0.01": 4, "0.025": 4, "0.05": 4, "0.1": 4, "0.25": 4, "0.5": 5, "1": 5, "2.5": 5,
        "5": 5, "10": 5, "30": 5, "60": 5, "300": 5, "+Inf": 6,
    }  # fmt: skip
    assert found['nsplugin_start_latency_seconds_count{job="sync",plugin="shop"}'] == 6
    assert found['nsplugin_start_latency_seconds_sum{job="sync",plugin="shop"}'] == 405.511


def test_a_host_s_exits_are_counted_not_its_states() -> None:
    metrics = Metrics()
    for state in ("starting", "ready", "paused", "paused", "stopped", "starting", "paused"):
        metrics.host_changed(HostStatus(plugin="shop", state=state))
    assert numbers(metrics)['nsplugin_host_exits_total{plugin="shop"}'] == 2
