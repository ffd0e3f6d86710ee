"""``jobs``: start other jobs of the same plugin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from nsplugin.handlers import type_name
from nsplugin.platforms import EnqueuePolicy
from nsplugin.runtime.calls import Call
from nsplugin.runtime.enqueueing import INVALID, checked, option_names
from nsplugin.runtime.faults import Fault, raised
from nsplugin.runtime.invocation import Run

if TYPE_CHECKING:
    from nsplugin.cogover.context import EnqueueResult

_ABSENT: Final[Any] = object()
Options = Mapping[str, Any]


class NamedJobs:
    """Enqueues jobs that the plugin declares, by their names (NextSkin)."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def enqueue(self, name: str, payload: Any = _ABSENT, options: Options | None = None, **named: Any) -> Call[None]:
        """Start a job once more, now or later; returns when it is stored.

        Options go by keyword (``delay_sec=60, dedupe_key="a"``) or as a mapping with the platform's names. Raises at once,
        before anything is sent, for a job that is not declared, a payload that is no JSON or too large, and options out of
        range. The answer does not tell whether this call made the task (spec/nextskin.md E5).
        """
        given = self._run.platform.payload.absent_value if payload is _ABSENT else payload
        return _enqueued(self._run, name, given, options, named)


class KeyedJobs:
    """Enqueues jobs that the project declares, by their keys (Cogover)."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def enqueue(self, key: str, payload: Any = None, options: Options | None = None, **named: Any) -> Call[EnqueueResult]:
        """The same with ``delay_ms``, ``run_at`` and ``idempotency_key``; the answer tells which run it is."""
        return _enqueued(self._run, key, payload, options, named)


_KINDS: Final[Mapping[str, type[NamedJobs | KeyedJobs]]] = {"name": NamedJobs, "key": KeyedJobs}


def jobs(run: Run) -> NamedJobs | KeyedJobs:
    """The ``jobs`` of the run's platform."""
    return _KINDS[run.platform.enqueue.job_argument](run)


def _enqueued(run: Run, job: str, payload: Any, options: Options | None, named: Options) -> Call[Any]:
    policy = run.platform.enqueue
    try:
        given = _options(policy, options, named)
        checked(run.platform, run.jobs, job, payload, given, run.caller.now_ms())
    except Fault as fault:
        raise raised(fault, run.platform.context.errors) from None
    return run.caller.call("jobs.enqueue", {"job": job, "payload": payload, "options": given}, _RESULTS[policy.key_scope])


def _options(policy: EnqueuePolicy, options: Options | None, named: Options) -> dict[str, Any]:
    keywords = {_snake(name): name for name in option_names(policy)}
    given = _mapping(policy, options)
    for keyword, value in named.items():
        name = keywords.get(keyword)
        if name is None:
            raise Fault(INVALID, f"{policy.method} has no argument {keyword!r}; it has {', '.join(keywords)}", option=keyword)
        if name in given:
            text = f"{policy.method}: {name} is given twice: in options and as {keyword}; write one of them"
            raise Fault(INVALID, text, option=name)
        given[name] = value
    return given


def _mapping(policy: EnqueuePolicy, options: Any) -> dict[str, Any]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        example = f'{{"{policy.delay_field}": …}} or {_snake(policy.delay_field)}=…'
        raise Fault(
            INVALID,
            f"{policy.method}: options is an instance of {type_name(options)}; write a mapping: {example}",
            option="options",
        )
    return dict(options)


def _snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()


def _result(answer: Any) -> EnqueueResult:
    from nsplugin.cogover.context import EnqueueResult

    return EnqueueResult(run_id=answer["run_id"], duplicate=answer["duplicate"])


_RESULTS: Final = {"unfinished": lambda answer: None, "stored": _result}
"""NextSkin's answer does not tell whether this call made the task (spec/nextskin.md E5)."""
