"""``jobs``: start other jobs of the same plugin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from nsplugin.platforms import EnqueuePolicy
from nsplugin.runtime.calls import Call
from nsplugin.runtime.enqueueing import INVALID, checked, option_names
from nsplugin.runtime.faults import Fault, raised
from nsplugin.runtime.invocation import Run

if TYPE_CHECKING:
    from nsplugin.cogover.context import EnqueueResult

_ABSENT: Final[Any] = object()


class Jobs:
    """Enqueues jobs that the plugin declares."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def enqueue(
        self, name: str, payload: Any = _ABSENT, options: Mapping[str, Any] | None = None, /, **named: Any
    ) -> Call[EnqueueResult | None]:
        """Start a job once more, now or later; returns when it is stored.

        Options go by keyword (``delay_sec=60, dedupe_key="a"``; Cogover: ``delay_ms``, ``run_at``, ``idempotency_key``) or as a
        mapping with the platform's names. Raises at once, before anything is sent, for a job that is not declared, a payload
        that is no JSON or too large, and options out of range. The answer is an :class:`EnqueueResult` where the platform
        tells which run it is, else ``None``.
        """
        run, policy = self._run, self._run.platform.enqueue
        payload = self._absent() if payload is _ABSENT else payload
        try:
            given = _options(policy, options, named)
            checked(run.platform, run.jobs, name, payload, given, run.caller.now_ms())
        except Fault as fault:
            raise raised(fault, run.platform.context.errors) from None
        return run.caller.call("jobs.enqueue", {"job": name, "payload": payload, "options": given}, _RESULTS[policy.key_scope])

    def _absent(self) -> Any:
        return {} if self._run.platform.payload.absent == "empty-object" else None


def _options(policy: EnqueuePolicy, options: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Any]:
    keywords = {_snake(name): name for name in option_names(policy)}
    given = dict(options or {})
    for keyword, value in named.items():
        name = keywords.get(keyword)
        if name is None:
            raise Fault(INVALID, f"{policy.method} has no argument {keyword!r}; it has {', '.join(keywords)}", option=keyword)
        given[name] = value
    return given


def _snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()


def _result(answer: Any) -> EnqueueResult:
    from nsplugin.cogover.context import EnqueueResult

    return EnqueueResult(run_id=answer["run_id"], duplicate=answer["duplicate"])


_RESULTS: Final = {"unfinished": lambda answer: None, "stored": _result}
"""NextSkin's answer does not tell whether this call made the task (spec/nextskin.md E5)."""
