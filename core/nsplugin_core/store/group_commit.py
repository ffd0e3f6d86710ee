"""Group commit: calls that come while a commit is under way are written by the next one, together.

A commit waits for the disk, whatever it holds. A call that finds nothing under way is written at once, alone; nobody waits for
company. Whoever waits longest writes next, for itself and for those behind it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from nsplugin_core.store.errors import StoreBusy, StoreUnavailable

C = TypeVar("C")
R = TypeVar("R")
MOST: Final = 1 << 20
"""How heavy calls written together may be, so that one statement stays small; a call that is heavier goes alone."""


@dataclass(slots=True, eq=False)
class _Place(Generic[C, R]):
    """A call that waits. ``bell`` is released when its caller has something to do: to lead, or to take the outcome.

    ``outcome``: the result in a tuple, or what befell the whole group; ``None`` where the call is still to be written, alone.
    """

    call: C
    weight: int
    bell: threading.Lock
    leads: bool = False
    outcome: tuple[R] | StoreUnavailable | None = None


@dataclass(slots=True)
class _Lane(Generic[C, R]):
    """How many groups of a lane are under way, and who waits for one of them to end."""

    leaders: int = 1
    waiting: deque[_Place[C, R]] = field(default_factory=deque)


class GroupCommit(Generic[C, R]):
    """Calls of one lane share commits; lanes never wait for each other. May be called from any thread.

    ``one`` writes a call, ``many`` writes several in one transaction and returns their results in order; ``weigh`` says what a
    call adds to a statement. At most ``leaders`` groups of a lane are under way at once.
    """

    def __init__(
        self, one: Callable[[C], R], many: Callable[[Sequence[C]], Sequence[R]], weigh: Callable[[C], int], *, leaders: int
    ) -> None:
        self._one, self._many, self._weigh, self._leaders = one, many, weigh, leaders
        self._lock = threading.Lock()
        self._lanes: dict[str, _Lane[C, R]] = {}

    def write(self, lane: str, call: C) -> R:
        """Write the call; returns its result, or raises its own error, once that is committed.

        A database that is lost meanwhile is lost for all calls of a group. Any other failure may be another call's fault: then
        nothing was written, and each caller writes its own.
        """
        mine = self._queued(lane, call)
        if mine is None:
            try:
                return self._one(call)
            finally:
                self._hand_over(lane)
        self._wait(lane, mine)
        if mine.leads:
            self._lead(lane, mine)
        if isinstance(mine.outcome, StoreUnavailable):
            raise mine.outcome
        return self._one(call) if mine.outcome is None else mine.outcome[0]

    def _queued(self, name: str, call: C) -> _Place[C, R] | None:
        """A place to wait at, or ``None`` for a caller that need not wait, and leads."""
        with self._lock:
            lane = self._lanes.get(name)
            if lane is None:
                self._lanes[name] = _Lane()
            elif lane.leaders < self._leaders:
                lane.leaders += 1
            else:
                mine: _Place[C, R] = _Place(call, self._weigh(call), threading.Lock())
                mine.bell.acquire()
                lane.waiting.append(mine)
                return mine
        return None

    def _wait(self, name: str, mine: _Place[C, R]) -> None:
        try:
            mine.bell.acquire()
        except BaseException:  # a caller that is interrupted must not take the lead along
            with self._lock:
                waits = mine in self._lanes[name].waiting if name in self._lanes else False
                if waits:
                    self._lanes[name].waiting.remove(mine)
            if mine.leads:
                self._hand_over(name)
            raise

    def _lead(self, name: str, mine: _Place[C, R]) -> None:
        group = self._group(name, mine)
        try:
            results = self._many([place.call for place in group])
            for place, result in zip(group, results, strict=True):
                place.outcome = (result,)
        except StoreBusy:
            pass
        except StoreUnavailable as error:
            _fail(group, str(error))
        except Exception:  # whosesoever it is: it comes again, to the one whose it is
            pass
        except BaseException:
            _fail(group, "the call that wrote this one too was interrupted; what it wrote may or may not be there")
            raise
        finally:
            self._hand_over(name)
            for place in group:
                if place is not mine:
                    place.bell.release()

    def _group(self, name: str, mine: _Place[C, R]) -> list[_Place[C, R]]:
        """The leader's call, and those behind it as far as they fit into one statement."""
        group, weight = [mine], mine.weight
        with self._lock:
            waiting = self._lanes[name].waiting
            while waiting and (weight := weight + waiting[0].weight) <= MOST:
                group.append(waiting.popleft())
        return group

    def _hand_over(self, name: str) -> None:
        """Whoever waits longest leads next."""
        with self._lock:
            lane = self._lanes[name]
            if lane.waiting:
                following = lane.waiting.popleft()
                following.leads = True
                following.bell.release()
                return
            lane.leaders -= 1
            if not lane.leaders:
                del self._lanes[name]


def _fail(group: Sequence[_Place[C, R]], text: str) -> None:
    for place in group:
        place.outcome = StoreUnavailable(text)
