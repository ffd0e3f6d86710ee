"""Answers a host's calls: the desk's rules over the core's services, every failure turned into words for the plugin."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from nsplugin.platforms import load
from nsplugin.rules.subject import Subject
from nsplugin.runtime.desk import Desk, Grants, Visit
from nsplugin.runtime.faults import Fault, failed, not_carried
from nsplugin.runtime.invocation import Facts
from nsplugin.runtime.providers import Services
from nsplugin_core.attempts import Attempt
from nsplugin_core.host.protocol import Message, TooLongError, encode
from nsplugin_core.host.settings import PluginSource
from nsplugin_core.store.errors import StoreUnavailable, UnknownPlugin

_logger = logging.getLogger(__name__)


class Answers:
    """What answers the calls of one plugin's hosts."""

    def __init__(self, source: PluginSource, services: Services) -> None:
        self._plugin = source.id
        platform = load(source.platform)
        subject = Subject(raw=source.manifest, platform=platform)
        self.jobs = frozenset(str(job.name) for job in subject.jobs)
        self.capabilities = frozenset(source.manifest.get("capabilities", ()))
        grants = Grants(
            jobs=self.jobs,
            capabilities=self.capabilities,
            secrets=dict(source.secrets),
            allow_internal_system=source.allow_internal_system,
            jobs_enabled=source.jobs_enabled,
        )
        self._desk = Desk(platform, grants, services)

    def visit(self, attempt: Attempt | None, timeout_ms: int, user: str | None = None) -> Visit:
        """A run begins to call: an attempt, or a route's request on behalf of ``user``."""
        if attempt is None:
            return self._desk.visit(Facts(id="", plugin=self._plugin, kind="route", user=user, timeout_ms=timeout_ms))
        return self._desk.visit(
            Facts(
                id=attempt.task_id,
                plugin=attempt.plugin,
                user=attempt.identity,
                enqueued_by=attempt.enqueued_by,
                automation_steps=attempt.budget,
                timeout_ms=attempt.timeout_ms,
                job=attempt.job,
                attempt=attempt.attempt,
                max_attempts=attempt.max_attempts,
                source=attempt.source,
                run_at=attempt.run_at,
                enqueued_at=attempt.enqueued_at,
            )
        )

    def answer(self, visit: Visit | None, method: str, arguments: Mapping[str, Any]) -> Message | Future[Any]:
        """The answer's part of a ``reply`` message, or a future of the plain answer. Never raises."""
        if visit is None:
            return _over(method)
        try:
            value = self._desk.answer(visit, method, arguments)
        except Exception as error:
            return self._refusal(method, error)
        return value if isinstance(value, Future) else {"value": value}

    def late(self, method: str, future: Future[Any]) -> Message:
        """The same of an answer that took its time."""
        try:
            return {"value": future.result()}
        except Exception as error:
            return self._refusal(method, error)

    def _refusal(self, method: str, error: Exception) -> Message:
        if isinstance(error, StoreUnavailable):
            return _fault(Fault("RETRYABLE", f"{method}: the core's database can't be reached; try again later"))
        if isinstance(error, UnknownPlugin):  # uninstalled while it runs
            return _over(method)
        if not isinstance(error, Fault):
            _logger.error("%s of plugin %s failed", method, self._plugin, exc_info=error)
        return _fault(failed(method, error))


def _over(method: str) -> Message:
    return _fault(Fault("ATTEMPT_OVER", f"{method}: the attempt is over; nothing it does counts any more"))


def reply(number: int, answer: Message) -> str:
    """An encoded ``reply``. What a provider returned and JSON can't carry is the provider's failure."""
    try:
        return encode({"t": "reply", "n": number, **answer})
    except TooLongError:
        fault = Fault("TOO_LARGE", "the answer is too large for one call: ask for less at a time")
    except (TypeError, ValueError) as error:
        fault = not_carried(error)
    return encode({"t": "reply", "n": number, **_fault(fault)})


def _fault(fault: Fault) -> Message:
    return {"fault": fault.plain()}
