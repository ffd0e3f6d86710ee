"""The platforms as data: every limit, default, pattern and policy, as the TOML files beside this module say.

Nothing in this distribution branches on a platform's name: code asks ``platform.max_attempts.max`` or calls the policy that
the TOML names.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Literal

from nsplugin.platforms.section import Section

NAMES = ("nextskin", "cogover")
TABLES = os.path.join(os.path.dirname(__file__), "platforms.json")
"""What the TOML files hold, made by :mod:`nsplugin.platforms.tables`."""


class Layout(Section):
    """Where jobs and schedules stand in a manifest, its key order, and how a module offers its definition."""

    jobs: Literal["mapping", "list"]
    schedules: Literal["list", "in-job"]
    fields: tuple[str, ...]
    attribute: str
    definer: str


class NameLimit(Section):
    """What a name may look like: ``pattern`` covers all of it, ``max_length`` counts characters.

    ``noun`` says what is named (``job key``), ``form`` what the pattern asks for, after "must".
    """

    pattern: str
    max_length: int
    noun: str
    form: str
    source: str
    case_sensitive: bool = True

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def matches(self, name: str) -> bool:
        """Whether the whole string matches the pattern (a trailing line feed does not). Length is judged apart."""
        return self._compiled.fullmatch(name) is not None


class LengthLimit(Section):
    """A greatest length in characters."""

    max_length: int
    source: str
    template: str = ""


class IntegerLimit(Section):
    """A closed range of integers and the default."""

    min: int
    max: int
    default: int
    source: str


class CountLimit(Section):
    """A greatest number of things."""

    max_count: int
    source: str


class PayloadLimit(Section):
    """Size in UTF-8 bytes, the way of counting, and what an absent payload means."""

    max_bytes: int
    count: Literal["json"]
    absent: Literal["empty-object", "null"]
    source: str

    @property
    def absent_value(self) -> Any:
        """The payload that a schedule without one passes; a new value each time."""
        return {} if self.absent == "empty-object" else None


class CronPolicy(Section):
    """Length in characters after normalising, whose time zone counts, and what clock changes, downtime and overlap mean."""

    max_length: int
    time_zone: Literal["site", "schedule"]
    clock_change: Literal["defer-once", "every-match"]
    catch_up: Literal["once", "none"]
    overlap: Literal["skip", "allow"]
    time_zone_max_length: int
    fixed_offsets: bool
    source: str
    time_zone_default: str = ""


class EnqueuePolicy(Section):
    """The arguments of ``enqueue``; the job goes by ``job_argument``.

    Delays are integers from 0 to ``delay_max`` in units of ``delay_unit_ms`` milliseconds.
    """

    method: str
    job_argument: Literal["name", "key"]
    delay_field: str
    delay_unit_ms: int
    delay_max: int
    key_field: str
    key_policy: Literal["code-points", "pattern"]
    key_max_length: int
    key_pattern: str
    key_scope: Literal["unfinished", "stored"]
    run_at: bool
    max_per_invocation: int
    max_unfinished: int
    source: str


class RetryPolicy(Section):
    """Which failures are retried; wait n is ``min(base * factor**(n-1), cap) * (low + span * random)`` milliseconds."""

    policy: Literal["every-failure", "retryable-only"]
    base_ms: int
    factor: int
    cap_ms: int
    jitter_low: float
    jitter_span: float
    source: str


class Retention(Section):
    """How long finished tasks stay, in days (0: dropped when done), and what disabling does to stored work."""

    succeeded_days: int
    dead_days: int
    error_max_length: int
    on_disable: Literal["keep-tasks", "drop-schedules"]
    source: str


class Routes(Section):
    """Whether a plugin has routes, and which methods and ``auth`` values one may name."""

    allowed: bool
    methods: tuple[str, ...]
    auth: tuple[str, ...]
    source: str


class HandlerParameters(Section):
    """What handlers are called with, by name; ``whole`` is the one that, alone, takes them all (empty: none does)."""

    job: tuple[str, ...]
    route: tuple[str, ...]
    whole: str
    source: str


class ContextFields(Section):
    """What ``ctx`` holds, which capability a field needs (field → capability), and which family of errors its calls raise."""

    fields: tuple[str, ...]
    needs: Mapping[str, str]
    errors: Literal["call", "api"]
    source: str


class StorageLimits(Section):
    """What a plugin may keep: characters of a key, UTF-8 bytes of a value's JSON, and milliseconds of life and lease."""

    key_max_length: int
    value_max_bytes: int
    ttl_max_ms: int
    lease_max_ms: int
    source: str


class Capabilities(Section):
    """The capabilities that a manifest may name; empty when the platform has no such list."""

    known: tuple[str, ...]
    source: str


class Words(Section):
    """The platform's own words for a task and its states, and for a task that has failed for good."""

    task: str
    queued: str
    running: str
    succeeded: str
    dead: str
    dead_letter: str
    source: str


class Platform(Section):
    """One platform. Sections that a platform does not limit are ``None``."""

    name: str
    title: str
    layout: Layout
    plugin_id: NameLimit
    job_name: NameLimit
    max_attempts: IntegerLimit
    timeout_ms: IntegerLimit
    payload: PayloadLimit
    cron: CronPolicy
    enqueue: EnqueuePolicy
    retry: RetryPolicy
    retention: Retention
    routes: Routes
    handlers: HandlerParameters
    context: ContextFields
    storage: StorageLimits
    capabilities: Capabilities
    words: Words
    key_hints: Mapping[str, Mapping[str, str]]
    """What to do about a key that has no place, by place (``manifest``, ``job``, ``schedule``, ``route``) and key."""
    key_synonyms: Mapping[str, Mapping[str, str]]
    """The right key for what authors may write in its stead, by place."""
    qualified_name: LengthLimit | None = None
    display_name: LengthLimit | None = None
    jobs: CountLimit | None = None
    automation: CountLimit | None = None
    run_id: NameLimit | None = None

    def __reduce__(self) -> tuple[Callable[[str], Platform], tuple[str]]:
        return load, (self.name,)


_SECTIONS: dict[str, type[Any]] = {
    "layout": Layout,
    "plugin_id": NameLimit,
    "job_name": NameLimit,
    "qualified_name": LengthLimit,
    "display_name": LengthLimit,
    "max_attempts": IntegerLimit,
    "timeout_ms": IntegerLimit,
    "jobs": CountLimit,
    "payload": PayloadLimit,
    "cron": CronPolicy,
    "enqueue": EnqueuePolicy,
    "retry": RetryPolicy,
    "retention": Retention,
    "routes": Routes,
    "handlers": HandlerParameters,
    "context": ContextFields,
    "storage": StorageLimits,
    "capabilities": Capabilities,
    "words": Words,
    "automation": CountLimit,
    "run_id": NameLimit,
}


@cache
def _tables() -> dict[str, dict[str, Any]]:
    with open(TABLES, encoding="utf-8") as file:
        tables: dict[str, dict[str, Any]] = json.load(file)
    return tables


@cache
def load(name: str) -> Platform:
    """The platform of that name. Raises ``KeyError`` for a name that is not in :data:`NAMES`."""
    if name not in NAMES:
        raise KeyError(name)
    return Platform(**{key: _section(key, value) for key, value in _tables()[name].items()})


def _section(key: str, value: Any) -> Any:
    if key in ("key_hints", "key_synonyms"):
        return MappingProxyType({place: MappingProxyType(words) for place, words in value.items()})
    if key not in _SECTIONS:
        return value
    return _SECTIONS[key](**{name: tuple(item) if isinstance(item, list) else item for name, item in value.items()})


def every() -> tuple[Platform, ...]:
    """All platforms, in the order of :data:`NAMES`."""
    return tuple(load(name) for name in NAMES)
