"""What a dispatcher knows of the queue from its last look, so as not to look for nothing, nor over more than it must."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from nsplugin.record import record
from nsplugin_core.attempts import HostPool
from nsplugin_core.store.records import Horizon

POLL_MS: Final = 1_000
"""How long to believe that there is no work, with no word of any: wake-ups can get lost."""
WHOLE_MS: Final = 60_000
"""How often to look at the whole queue, whatever a lower bound would spare."""
MARGIN_MS: Final = 60_000
"""How far below what was seen the next look begins: more than clocks differ and commits last.

Nothing becomes due before the moment at which it is written, so what lay below the first task and lease stays empty. On
PostgreSQL those parts of the index are full of rows that are done, and while some long transaction keeps them from being
cleaned up, every look would walk over them.
"""


@record
class Outlook:
    """A look at the queue at ``at``; times are UTC ms.

    ``whole_at`` is the last that had no lower bound. ``next_due``: when there is more to do. ``first``: the earliest task or
    lease there was. ``short``: plugins that had due tasks, but no free slot. ``plugins``: all that were enabled.
    """

    at: int = 0
    whole_at: int = 0
    next_due: int | None = None
    first: int | None = None
    short: Sequence[str] = ()
    plugins: Set[str] = frozenset()

    def after(self, horizon: Horizon, *, now: int, since: int, short: Sequence[str]) -> Outlook:
        """The outlook that a new look gives; ``since`` bounded it below (0: it was whole)."""
        later = [moment for moment in (*horizon.due.values(), horizon.lease) if moment is not None and moment > now]
        return Outlook(
            at=now,
            whole_at=self.whole_at if since else now,
            next_due=min(later) if later else None,
            first=horizon.first,
            short=short,
            plugins=horizon.plugins,
        )

    def expects(self, now: int) -> bool:
        """Whether something that was seen coming has come: a task is due, or a lease over."""
        return self.next_due is not None and now >= self.next_due

    def is_over(self, now: int, pool: HostPool) -> bool:
        """Whether it is time to look again; also when the clock was set back."""
        if not self.at <= now < self.at + POLL_MS or self.expects(now):
            return True
        return bool(self.short) and any(pool.free(plugin) > 0 for plugin in self.short)

    def lower_bound(self, now: int) -> int:
        """Where the next look may begin."""
        if not self.whole_at <= now < self.whole_at + WHOLE_MS:
            return 0
        return max(0, (self.at if self.first is None else min(self.at, self.first)) - MARGIN_MS)
