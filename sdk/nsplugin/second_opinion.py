"""What engines of other people's making say (NSP604): croniter of schedules, jsonschema of payload schemas."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

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


def schema_objection(schema: Any) -> str | None:
    """What jsonschema has against a payload schema that our own reader takes; ``None`` when it agrees. Never raises.

    Asked by ``build`` alone, once a manifest with payload schemas is ready: the library takes longer to import than a host's
    check may last, and holds no time limit against hostile patterns (decision 0004).
    """
    from jsonschema import Draft202012Validator

    try:
        Draft202012Validator.check_schema(schema)
    except Exception as error:
        return getattr(error, "message", None) or type(error).__name__
    return None
