"""The rules of enqueueing as pure functions, asked before the call and again by the core.

spec/nextskin.md E1-E4, spec/cogover.md E1-E5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from nsplugin.canonical import json_size
from nsplugin.nearest import closest
from nsplugin.platforms import EnqueuePolicy, Platform
from nsplugin.record import record
from nsplugin.runtime.faults import Fault

INVALID: Final = "VALIDATION_ERROR"


@record
class Order:
    """A checked request to enqueue. ``payload`` is JSON text or ``None``; ``due_at`` in UTC ms; ``key`` dedupes."""

    job: str
    payload: str | None
    due_at: int
    key: str | None


def checked(
    platform: Platform, jobs: Collection[str], job: object, payload: Any, options: Mapping[str, Any], now: int
) -> Order:
    """The order that these arguments mean. ``options`` go by the platform's own names. Raises :class:`Fault`."""
    policy = platform.enqueue
    for name in options:
        _known(policy, name)
    return Order(
        job=_declared(policy, jobs, job),
        payload=payload_text(platform, payload),
        due_at=_due(policy, options, now),
        key=_key(policy, options.get(policy.key_field)),
    )


def _known(policy: EnqueuePolicy, name: object) -> None:
    known = option_names(policy)
    if name not in known:
        meant = closest(str(name), known)
        hint = f"; did you mean {meant}?" if meant else f"; there are {', '.join(known)}"
        raise Fault(INVALID, f"{policy.method} has no option {name!r}{hint}", option=str(name))


def option_names(policy: EnqueuePolicy) -> tuple[str, ...]:
    """The options' names on the platform."""
    return (policy.delay_field, *(("runAt",) if policy.run_at else ()), policy.key_field)


def _declared(policy: EnqueuePolicy, jobs: Collection[str], job: object) -> str:
    if isinstance(job, str) and job in jobs:
        return job
    meant = closest(job, jobs) if isinstance(job, str) else None
    hint = f"did you mean {meant!r}?" if meant else f"declared: {', '.join(sorted(jobs)) or 'none'}"
    raise Fault(INVALID, f"{policy.method}: no job {job!r} is declared; {hint}", job=str(job))


def payload_text(platform: Platform, payload: Any) -> str | None:
    """A payload as it is stored. Raises :class:`Fault` for what JSON would change, and for what is too large."""
    from nsplugin.payload import not_json

    for found in not_json(payload, ""):
        where = f" at {found.pointer}" if found.pointer else ""
        raise Fault(INVALID, f"{platform.enqueue.method}: the payload{where}: {found.message}", pointer=found.pointer)
    size, most = json_size(payload), platform.payload.max_bytes
    if size > most:
        text = f"{platform.enqueue.method}: the payload has {size:,} bytes as JSON, {most:,} are allowed"
        raise Fault(INVALID, f"{text}; store the data and enqueue a key to it", bytes=size, limit=most)
    if payload is None and platform.payload.absent == "null":
        return None
    return json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _due(policy: EnqueuePolicy, options: Mapping[str, Any], now: int) -> int:
    delay, run_at = options.get(policy.delay_field), options.get("runAt")
    if delay is not None and run_at is not None:
        raise Fault(INVALID, f"{policy.method}: {policy.delay_field} and runAt exclude each other: give one of them")
    if run_at is not None:
        return _moment(policy, run_at, now)
    return now if delay is None else now + _delay(policy, delay) * policy.delay_unit_ms


def _delay(policy: EnqueuePolicy, delay: object) -> int:
    if type(delay) is int and 0 <= delay <= policy.delay_max:
        return delay
    unit = "milliseconds" if policy.delay_unit_ms == 1 else "seconds"
    text = f"{policy.method}: {policy.delay_field} is {_shown(delay)}; it must be a whole number of {unit}"
    raise Fault(INVALID, f"{text} from 0 to {policy.delay_max}", option=policy.delay_field)


def _moment(policy: EnqueuePolicy, run_at: object, now: int) -> int:
    latest = now + policy.delay_max * policy.delay_unit_ms
    if type(run_at) is int and 0 <= run_at <= latest:
        return run_at
    days = policy.delay_max * policy.delay_unit_ms // 86_400_000
    text = f"{policy.method}: runAt is {_shown(run_at)}; it must be a whole number, Unix milliseconds"
    raise Fault(INVALID, f"{text}, at most {days} days from now (now is {now})", option="runAt")


def _key(policy: EnqueuePolicy, key: object) -> str | None:
    if key is None:
        return None
    for wrong in key_faults(policy, key):
        raise _bad_key(policy, key, wrong)
    return str(key)


def key_faults(policy: EnqueuePolicy, key: object) -> Iterator[str]:
    """What is wrong with a key that is to avoid duplicates, in words that follow its name; nothing for one that is allowed."""
    if type(key) is str:
        yield from _KEY_POLICIES[policy.key_policy](policy, key)
    else:
        yield "is no text"


def _bad_key(policy: EnqueuePolicy, key: object, wrong: str) -> Fault:
    return Fault(INVALID, f"{policy.method}: {policy.key_field} {_shown(key)} {wrong}", option=policy.key_field)


def _by_code_points(policy: EnqueuePolicy, key: str) -> Iterator[str]:
    """spec/nextskin.md E4."""
    if not 1 <= len(key) <= policy.key_max_length:
        yield f"has {len(key)} characters; 1 to {policy.key_max_length} are allowed"
    if key.strip().strip("\ufeff").strip() != key:
        yield "begins or ends with white space"
    if "\0" in key:
        yield "contains a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in key):
        yield "contains half of a surrogate pair"


def _by_pattern(policy: EnqueuePolicy, key: str) -> Iterator[str]:
    """spec/cogover.md E5."""
    if len(key) > policy.key_max_length or re.fullmatch(policy.key_pattern, key) is None:
        form = "begin with a letter or digit, then letters, digits, '.', '_', ':' or '-'"
        yield f"is not allowed: it must {form}, {policy.key_max_length} characters at most"


_KEY_POLICIES: Final[Mapping[str, Callable[[EnqueuePolicy, str], Iterator[str]]]] = {
    "code-points": _by_code_points,
    "pattern": _by_pattern,
}


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "…"
