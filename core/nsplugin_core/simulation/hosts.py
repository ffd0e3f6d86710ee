"""The hosts of a simulation: attempts end as ordered, or as the real handlers end them, on virtual time."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nsplugin.platforms import load
from nsplugin.retries import RETRIED
from nsplugin_core.attempts import Attempt, Deliver, Outcome, OutcomeKind
from nsplugin_core.clock import VirtualClock
from nsplugin_core.host.settings import HostSettings
from nsplugin_core.simulation.scenario import Hits, Scenario

Key = tuple[str, int]
EXITED = "the plugin's host exited, as ordered"
FAILED = "as ordered"


class Handlers(Protocol):
    """Runs real handlers, one at a time: each call goes on until the handler ends or only time can bring it on."""

    def run(self, attempt: Attempt) -> list[Outcome]:
        """Start an attempt; returns what ended meanwhile."""
        ...

    def wake(self, now: int) -> list[Outcome]:
        """Wake the first of those that sleep until ``now``; returns what ended meanwhile."""
        ...

    def next_due(self) -> int | None:
        """When the next sleeper wakes."""
        ...

    def cancel(self, attempt: Attempt) -> list[Outcome]:
        """An attempt's time is over; returns what else ended because of how it took that."""
        ...

    def exit(self, plugin: str) -> None:
        """End the plugin's host and whatever it runs."""
        ...


@dataclass(slots=True, kw_only=True)
class _Host:
    """One plugin's host: what runs in it, how often it exited in a row, and when it is there again."""

    running: dict[Key, Attempt] = field(default_factory=dict)
    exits: int = 0
    started: int
    resumes: int = 0


class VirtualHosts:
    """:class:`~nsplugin_core.attempts.HostPool` on virtual time. Used by one thread."""

    def __init__(
        self,
        scenario: Scenario,
        clock: VirtualClock,
        settings: HostSettings,
        handlers: Handlers | None,
        exited: Callable[[str, str], None],
    ) -> None:
        self._scenario, self._clock, self._settings, self._handlers = scenario, clock, settings, handlers
        self._exited = exited
        self._source = scenario.source("faults")
        self._hosts = {plugin.manifest.id: _Host(started=clock.now_ms()) for plugin in scenario.plugins}
        self._failed: dict[str, OutcomeKind] = {
            plugin.manifest.id: _failure(plugin.manifest.platform.name) for plugin in scenario.plugins
        }
        self._later: list[tuple[int, int, Attempt, OutcomeKind, str | None]] = []
        self._numbers = itertools.count()
        self._starts: Counter[str] = Counter()
        self._deliver: Deliver | None = None
        self._waiting: deque[Attempt] = deque()

    def free(self, plugin: str) -> int:
        """The slots left; none while the host is away."""
        host = self._hosts[plugin]
        return 0 if self._clock.now_ms() < host.resumes else self._settings.slots - len(host.running)

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        """Take attempts: those that meet a fault or have no handler end at once, :meth:`advance` runs the handlers."""
        self._deliver = deliver
        for attempt in attempts:
            self._hosts[attempt.plugin].running[attempt.task_id, attempt.claim] = attempt
        for attempt in attempts:
            self._begin(attempt, self._clock.now_ms())

    def cancel(self, task_id: str, claim: int) -> None:
        """The attempt's time is over."""
        for host in self._hosts.values():
            attempt = host.running.pop((task_id, claim), None)
            if attempt is not None and self._handlers is not None:
                self._take(self._handlers.cancel(attempt))

    def advance(self) -> bool:
        """Run one handler that waits for that, end what ends by now, or wake one who slept until now; ``False`` for nothing."""
        now = self._clock.now_ms()
        if self._handlers is not None and self._waiting:
            attempt = self._waiting.popleft()
            if self._runs(attempt):
                self._take(self._handlers.run(attempt))
            return True
        if self._later and self._later[0][0] <= now:
            _, _, attempt, kind, error = heapq.heappop(self._later)
            self._end(attempt, kind, error)
            return True
        if self._handlers is not None and (due := self._handlers.next_due()) is not None and due <= now:
            self._take(self._handlers.wake(now))
            return True
        return False

    def next_due(self) -> int | None:
        """When something happens by itself: an attempt ends, a sleeper wakes, a host is back."""
        now = self._clock.now_ms()
        moments = [host.resumes for host in self._hosts.values() if host.resumes > now]
        if self._later:
            moments.append(self._later[0][0])
        if self._handlers is not None and (due := self._handlers.next_due()) is not None:
            moments.append(due)
        return min(moments) if moments else None

    def exit(self, plugin: str, reason: str = EXITED) -> None:
        """The plugin's host exits now: what runs in it is given back, and it stays away for a growing while (X6, Q3)."""
        host, now = self._hosts[plugin], self._clock.now_ms()
        if self._handlers is not None:
            self._handlers.exit(plugin)
        settings = self._settings
        host.exits = 1 if now - host.started >= settings.settled_s * 1000 else host.exits + 1
        wait_s = min(settings.restart_s * 2 ** min(host.exits - 1, 30), settings.restart_max_s)
        host.resumes = host.started = now + round(wait_s * 1000)
        running = list(host.running.values())
        host.running.clear()
        self._exited(plugin, reason)
        if running and self._deliver is not None:
            self._deliver([_outcome(attempt, "deferred", reason) for attempt in running])

    def stop(self) -> None:
        """The core is gone, and its hosts with it; nothing is delivered."""
        for plugin, host in self._hosts.items():
            host.running.clear()
            host.exits, host.resumes, host.started = 0, 0, self._clock.now_ms()
            if self._handlers is not None:
                self._handlers.exit(plugin)
        self._later.clear()
        self._waiting.clear()

    def _begin(self, attempt: Attempt, now: int) -> None:
        """Every fault draws its numbers whatever the others say, so that one order more changes nothing about the others."""
        if not self._runs(attempt):
            return
        job = (attempt.plugin, attempt.job)
        exits = self._scenario.exits.get(job, 0)
        if exits:
            self._starts[attempt.task_id] += 1
        fails = self._hits(self._scenario.fail.get(job), attempt)
        times_out = self._hits(self._scenario.timeout.get(job), attempt)
        if exits and self._starts[attempt.task_id] <= exits:
            self.exit(attempt.plugin)
        elif times_out:
            return
        elif fails:
            self._end_after(self._scenario.takes.get(job, 0), attempt, self._failed[attempt.plugin], FAILED, now)
        elif self._handlers is not None:
            self._waiting.append(attempt)
        else:
            self._end_after(self._scenario.takes.get(job, 0), attempt, "success", None, now)

    def _hits(self, hits: Hits | None, attempt: Attempt) -> bool:
        return hits is not None and hits.hits(attempt.attempt, self._source)

    def _runs(self, attempt: Attempt) -> bool:
        """Whether it was not given back or given up meanwhile."""
        return (attempt.task_id, attempt.claim) in self._hosts[attempt.plugin].running

    def _end_after(self, takes: int, attempt: Attempt, kind: OutcomeKind, error: str | None, now: int) -> None:
        if takes:
            heapq.heappush(self._later, (now + takes, next(self._numbers), attempt, kind, error))
        else:
            self._end(attempt, kind, error)

    def _end(self, attempt: Attempt, kind: OutcomeKind, error: str | None) -> None:
        """Nothing is delivered of an attempt that was given up or whose host exited."""
        running = self._hosts[attempt.plugin].running
        if running.pop((attempt.task_id, attempt.claim), None) is not None and self._deliver is not None:
            self._deliver([_outcome(attempt, kind, error)])

    def _take(self, outcomes: Sequence[Outcome]) -> None:
        """What real handlers came to; one that was given back took its whole host along."""
        for outcome in outcomes:
            key = (outcome.task_id, outcome.claim)
            plugin = next((name for name, host in self._hosts.items() if key in host.running), None)
            if plugin is None:
                continue
            if outcome.kind == "deferred":
                self.exit(plugin, outcome.error or EXITED)
            elif self._deliver is not None:
                del self._hosts[plugin].running[key]
                self._deliver([outcome])


def _failure(platform: str) -> OutcomeKind:
    """A failure that the platform retries: most orders are about retries."""
    return "failure" if "failure" in RETRIED[load(platform).retry.policy] else "retryable"


def _outcome(attempt: Attempt, kind: OutcomeKind, error: str | None) -> Outcome:
    return Outcome(task_id=attempt.task_id, claim=attempt.claim, kind=kind, error=error)
