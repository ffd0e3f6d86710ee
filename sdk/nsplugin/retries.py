"""When a failed attempt is made again, and after how long: pure functions over a platform's retry policy.

The core decides by them and ``nsplugin.testing`` shows authors the same waits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal

from nsplugin.platforms import RetryPolicy

Ending = Literal["failure", "retryable", "timeout"]
"""How an attempt failed: an error, an error that asks for another attempt, or its time-out."""

RETRIED: Final[Mapping[str, frozenset[Ending]]] = {
    "every-failure": frozenset({"failure", "retryable", "timeout"}),
    "retryable-only": frozenset({"retryable", "timeout"}),
}
"""Which endings each policy of the platform files retries (spec/nextskin.md X2, spec/cogover.md X4)."""


def retried(policy: RetryPolicy, ending: Ending, attempt: int, max_attempts: int) -> bool:
    """Whether another attempt follows attempt number ``attempt`` (from 1), which ended that way."""
    return attempt < max_attempts and ending in RETRIED[policy.policy]


def wait_ms(policy: RetryPolicy, attempt: int, random: float) -> int:
    """Milliseconds to wait after failed attempt number ``attempt`` (from 1); ``random`` is in [0, 1).

    Halves round up, as in the source's formula (spec/nextskin.md X3).
    """
    step: int = min(policy.base_ms * policy.factor ** (attempt - 1), policy.cap_ms)
    wait: float = step * (policy.jitter_low + policy.jitter_span * random)
    return math.floor(wait + 0.5)


def wait_range_ms(policy: RetryPolicy, attempt: int) -> tuple[int, int]:
    """The shortest and longest wait after failed attempt number ``attempt``, in milliseconds."""
    return wait_ms(policy, attempt, 0.0), wait_ms(policy, attempt, math.nextafter(1.0, 0.0))
