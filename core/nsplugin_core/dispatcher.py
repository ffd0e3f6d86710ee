"""Claims tasks for hosts with free slots, enforces time-outs, and writes how attempts ended, many in one transaction."""

from __future__ import annotations

import heapq
import logging
import os
import random
import socket
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from nsplugin_core.attempts import Attempt, HostPool, Outcome
from nsplugin_core.clock import Clock
from nsplugin_core.endings import Kind, ending, events, refusal
from nsplugin_core.events import EngineEvent, Observe, log_event
from nsplugin_core.outlook import Outlook
from nsplugin_core.store.errors import StoreError
from nsplugin_core.store.protocol import Store
from nsplugin_core.store.records import Ending

GRACE_MS: Final = 15_000
"""How long after its time-out an attempt's lease runs on: time to stop it, and to write that down."""
CLAIM_BATCH: Final = 200
"""The most tasks of one plugin that a single claim takes."""
SPARE: Final = 1_000
"""How many time-outs of ended attempts are kept at most, beside one for each that runs."""
_logger: Final = logging.getLogger("nsplugin.engine")
_Key = tuple[str, int]


@dataclass(slots=True)
class _Counts:
    """What became of attempts here, for metrics."""

    claimed: int = 0
    finished: int = 0
    refused: int = 0


@dataclass(slots=True, kw_only=True)
class Settings:
    """``claimer`` names this process in leases; ``grace_ms`` and ``batch`` as above."""

    claimer: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}")
    grace_ms: int = GRACE_MS
    batch: int = CLAIM_BATCH


class Dispatcher:
    """Moves tasks between the store and the hosts. ``run_once`` belongs to one thread, ``deliver`` to any.

    ``wake`` is called when an outcome came in: a loop sets it so as to run again at once.
    """

    def __init__(
        self,
        store: Store,
        pool: HostPool,
        clock: Clock,
        *,
        source: random.Random | None = None,
        observe: Observe = log_event,
        settings: Settings | None = None,
    ) -> None:
        self._store, self._pool, self._clock = store, pool, clock
        self._source = source or random.SystemRandom()
        self._observe = observe
        self._settings = settings or Settings()
        self._running: dict[_Key, tuple[Attempt, int]] = {}
        self._deadlines: list[tuple[int, _Key]] = []
        self._arrived: deque[tuple[int, Sequence[Outcome]]] = deque()
        self._unwritten: list[Ending] = []
        self._write_took = 0
        self._outlook = Outlook()
        self._news = self._eager = True
        self._claiming = True
        self.counts = _Counts()
        self.wake = _nothing
        self._unsubscribe = store.subscribe(self.look_again)

    @property
    def in_flight(self) -> int:
        """Attempts that run, or whose end is not written yet."""
        return len(self._running) + len(self._unwritten)

    def deliver(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes from a host; the moment counts against the time-out."""
        self._arrived.append((self._clock.now_ms(), outcomes))
        self.wake()

    def run_once(self, now_ms: int) -> int:
        """Write what ended, end what is over its time, claim for free slots; returns how many attempts were touched.

        Where endings take time to write, work that there is word of is claimed first: a start need not wait for that too.
        """
        if self._arrived:
            self._collect()
        if self._deadlines:
            self._expire(now_ms)
        touched = 0
        if self._unwritten:
            if self._claiming and self._eager and self._write_took:
                touched = self._look(now_ms)
            touched += self._write(now_ms)
            now_ms = max(now_ms, self._clock.now_ms())  # what was accepted while that was written is due
        if self._claiming and (self._news or self._outlook.is_over(now_ms, self._pool)):
            touched += self._look(now_ms)
        return touched

    def look_again(self) -> None:
        """There may be tasks, or free slots, that the last look at the store did not show. Callable from any thread."""
        self._news = self._eager = True
        self.wake()

    def next_due(self) -> int | None:
        """When there is work again without anybody waking us: a task due, a lease or a time-out over (UTC ms)."""
        deadline = self._deadlines[0][0] if self._deadlines else None
        due = self._outlook.next_due if self._claiming else None
        if deadline is None or due is None:
            return due if deadline is None else deadline
        return min(deadline, due)

    def stop_claiming(self) -> None:
        """Take nothing more; what runs goes on, and its end is written."""
        self._claiming = False

    def close(self) -> None:
        """Hear no more of new tasks."""
        self._unsubscribe()

    def give_back(self, now_ms: int) -> int:
        """Defer everything that still runs, for a stop that can't wait (spec/core.md Q3); returns how many."""
        given = self._give_up([attempt for attempt, _ in self._running.values()], now_ms)
        self._write(now_ms)
        return given

    def _collect(self) -> None:
        while self._arrived:
            at, outcomes = self._arrived.popleft()
            for outcome in outcomes:
                self._judge(outcome, at)

    def _judge(self, outcome: Outcome, at: int) -> None:
        """A result that comes at the time-out or later is none (spec/nextskin.md X2)."""
        found = self._running.get((outcome.task_id, outcome.claim))
        if found is None:
            self._refuse(outcome, at)
        elif at >= found[1]:
            self._time_out(found[0], at)
        else:
            self._end(found[0], outcome.kind, at, outcome.error, outcome.error_code)

    def _expire(self, now: int) -> None:
        while self._deadlines and (self._deadlines[0][0] <= now or self._deadlines[0][1] not in self._running):
            _, key = heapq.heappop(self._deadlines)
            if key in self._running:
                self._time_out(self._running[key][0], now)

    def _time_out(self, attempt: Attempt, now: int) -> None:
        self._pool.cancel(attempt.task_id, attempt.claim)
        self._end(attempt, "timeout", now)

    def _end(self, attempt: Attempt, kind: Kind, now: int, error: str | None = None, code: str | None = None) -> None:
        del self._running[_key(attempt)]
        self._unwritten.append(ending(attempt, kind, now=now, source=self._source, error=error, code=code))

    def _write(self, now: int) -> int:
        """Kept until the store has taken them: a database that is away for a while loses no ending."""
        endings, begun = self._unwritten, self._clock.now_ms()
        taken = self._store.tasks.finish(endings, now=now)
        self._unwritten, self._write_took = [], self._clock.now_ms() - begun
        if any(each.state == "queued" for each in endings):
            self._news = True  # never "or" a flag that other threads set: what they say meanwhile would be overwritten
        for each in endings:
            if (each.task_id, each.claim) in taken:
                self._tell(events(each))
            else:
                self.counts.refused += 1
                self._observe(refusal(each))
        self.counts.finished += len(taken)
        return len(endings)

    def _refuse(self, outcome: Outcome, at: int) -> None:
        self.counts.refused += 1
        error = f"an outcome ({outcome.kind}) came under claim {outcome.claim}, which does not run here any more"
        self._observe(EngineEvent(at=at, type="refused", plugin="", job="", task=outcome.task_id, error=error))

    def _look(self, now: int) -> int:
        """On word of work claim before looking at the queue: the look then shows what is left, and no other is needed.

        Not where a lease may have run out: tasks that were lost have their turn among the others.
        """
        eager, self._news, self._eager = self._eager and not self._outlook.expects(now), False, False
        self._since = self._outlook.lower_bound(now)
        asked = self._wants(self._outlook.plugins) if eager else {}
        try:
            claimed = self._claim(asked, now)
            horizon = self._store.tasks.horizon(since=self._since)
        except StoreError:
            self._news = self._eager = True
            raise
        lost = 0
        if horizon.lease is not None and horizon.lease <= now:
            lost, asked = self._lose(now), {}
            horizon = self._store.tasks.horizon(since=self._since)
        due = [plugin for plugin, moment in horizon.due.items() if moment <= now]
        wants = self._wants([plugin for plugin in due if plugin not in asked])
        short = [plugin for plugin in due if plugin not in asked and plugin not in wants]
        self._outlook = self._outlook.after(horizon, now=now, since=self._since, short=short)
        more = claimed > 0 and any(plugin in asked for plugin in due)
        found = self._claim(wants, now)
        if more:
            self._eager = True
        if more or found:
            self._news = True
        return claimed + lost + found

    def _lose(self, now: int) -> int:
        """Attempts of cores that are gone; found while looking for work, so nobody has to look for them apart.

        Our own too, where we hung until their lease was over: they must not run beside their successors.
        """
        lost = self._store.tasks.lose(lambda attempt: ending(attempt, "lost", now=now, source=self._source), now=now)
        for each in lost:
            if self._running.pop((each.task_id, each.claim), None) is not None:
                self._pool.cancel(each.task_id, each.claim)
            self._tell(events(each))
        return len(lost)

    def _wants(self, plugins: Iterable[str]) -> dict[str, int]:
        """How much to claim for those that have free slots."""
        most = self._settings.batch
        return {plugin: min(free, most) for plugin in plugins if (free := self._pool.free(plugin)) > 0}

    def _claim(self, wants: Mapping[str, int], now: int) -> int:
        """A lease is reckoned from when it is asked for; the look before may have waited for the database."""
        if not wants:
            return 0
        settings, now = self._settings, max(now, self._clock.now_ms())
        attempts = self._store.tasks.claim(
            wants, now=now, since=self._since, grace_ms=settings.grace_ms, claimer=settings.claimer
        )
        if attempts:
            self._start(attempts, now)
        return len(attempts)

    def _start(self, attempts: Sequence[Attempt], now: int) -> None:
        """Not what was claimed so long ago that its lease might run out before its time-out: the task would run twice."""
        self.counts.claimed += len(attempts)
        started = self._clock.now_ms()
        for attempt in attempts:
            deadline = started + attempt.timeout_ms
            self._running[_key(attempt)] = (attempt, deadline)
            heapq.heappush(self._deadlines, (deadline, _key(attempt)))
        self._forget()
        if started - now >= self._settings.grace_ms // 2:
            for attempt in attempts:
                self._end(attempt, "deferred", started, f"the claim took {started - now} ms; the attempt is given back")
            return
        for attempt in attempts:
            self._observe(_started(attempt, now))
        try:
            self._pool.start(attempts, self.deliver)
        except Exception:
            _logger.exception("the hosts took no attempts; they are given back")
            self._collect()
            self._give_up(attempts, started)

    def _give_up(self, attempts: Iterable[Attempt], now: int) -> int:
        """Defer what runs, or was about to; returns how many. A host may have begun with some of them."""
        left = [attempt for attempt in attempts if _key(attempt) in self._running]
        for attempt in left:
            self._pool.cancel(attempt.task_id, attempt.claim)
            self._end(attempt, "deferred", now)
        return len(left)

    def _forget(self) -> None:
        """The time-outs of ended attempts, which would wait behind that of one long attempt."""
        if len(self._deadlines) > 2 * len(self._running) + SPARE:
            self._deadlines = [(deadline, key) for key, (_, deadline) in self._running.items()]
            heapq.heapify(self._deadlines)

    def _tell(self, told: Iterable[EngineEvent]) -> None:
        for event in told:
            self._observe(event)


def _key(attempt: Attempt) -> _Key:
    return attempt.task_id, attempt.claim


def _started(attempt: Attempt, now: int) -> EngineEvent:
    return EngineEvent(
        at=now,
        type="attempt",
        plugin=attempt.plugin,
        job=attempt.job,
        task=attempt.task_id,
        attempt=attempt.attempt,
        due=attempt.run_at,
    )


def _nothing() -> None:
    pass
