"""Rules about the numbers of a job."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from nsplugin.platforms import IntegerLimit
from nsplugin.rules._family import Found, Rule
from nsplugin.rules.subject import Subject
from nsplugin.wording import integer


def whole(value: Any) -> int | None:
    """The integer that a raw value stands for (``5.0`` is 5: structure has judged the type), or ``None``."""
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _attempts(subject: Subject) -> Iterator[Found]:
    yield from _outside(subject, "maxAttempts", subject.platform.max_attempts)


def _time_out(subject: Subject) -> Iterator[Found]:
    yield from _outside(subject, "timeoutMs", subject.platform.timeout_ms, " milliseconds")


def _outside(subject: Subject, key: str, limit: IntegerLimit, unit: str = "") -> Iterator[Found]:
    for job in subject.jobs:
        value = whole(job.get(key))
        if value is not None and not limit.min <= value <= limit.max:
            yield Found(
                pointer=f"{job.pointer}/{key}",
                message=f"{key} {integer(value)} is out of range: {limit.min} to {limit.max}{unit}",
                hint=_in_milliseconds(value, limit) if unit else None,
            )


def _in_milliseconds(seconds: int, limit: IntegerLimit) -> str | None:
    """What to write for a number that was evidently meant as seconds."""
    milliseconds = seconds * 1000
    return f"{seconds} seconds are {milliseconds}" if limit.min <= milliseconds <= limit.max else None


_JOB = """\
from nsplugin import Job, define_plugin


async def expire(payload, ctx):
    ...


plugin = define_plugin(id="cache", jobs={"expire": Job(expire, max_attempts=5, timeout_ms=60_000)})
"""

RULES: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP104",
        name="max-attempts-out-of-range",
        severity="error",
        summary="maxAttempts is smaller or larger than the platform takes.",
        why="It counts all attempts, the first included, so 0 would never run the job; the upper limit keeps a failing job from"
        " running for ever.",
        bad=_JOB.replace("max_attempts=5", "max_attempts=0"),
        good=_JOB,
        source="spec/nextskin.md D5; spec/cogover.md D5",
        check=_attempts,
    ),
    Rule(
        code="NSP105",
        name="timeout-out-of-range",
        severity="error",
        summary="timeoutMs is smaller or larger than the platform takes.",
        why="It is the time of one attempt in milliseconds. Longer work is to be cut into several tasks.",
        bad=_JOB.replace("timeout_ms=60_000", "timeout_ms=3_600_000"),
        good=_JOB,
        source="spec/nextskin.md D6; spec/cogover.md D5",
        check=_time_out,
    ),
)
