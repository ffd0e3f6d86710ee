"""Whether croniter, an engine of other people's making, also parses a schedule and finds a fire (NSP604)."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

_START = datetime(2024, 1, 1)
"""Where croniter searches from: a fixed moment, so that its answer depends on the expression alone."""


@lru_cache(maxsize=4096)
def objection(expression: str) -> str | None:
    """What croniter has against a schedule that fires by our own calendar; ``None`` when it agrees. Never raises.

    Takes an expression in normalised form that is known to fire: for those croniter answers within some milliseconds. It is
    not asked about schedules that never fire: it reads ``0 0 30 2 */1`` as a restriction of the day of week (spec/cron.md G4
    says that it is none), and such schedules are refused without it.
    """
    from croniter import croniter

    try:
        croniter(expression, _START).get_next(datetime)
    except Exception as error:
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return None
