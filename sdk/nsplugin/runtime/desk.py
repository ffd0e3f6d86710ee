"""Answers the calls of handlers: checks capability, identity, limits and arguments, then asks what is plugged in.

The core enforces by it what a manifest declares (spec/core.md H3), whatever the host's own code lets through.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from nsplugin.platforms import Platform
from nsplugin.record import field, record
from nsplugin.runtime import desk_providers, desk_storage
from nsplugin.runtime.arguments import Arguments
from nsplugin.runtime.context import undeclared
from nsplugin.runtime.enqueueing import checked
from nsplugin.runtime.faults import Fault
from nsplugin.runtime.invocation import READ_ONLY, Facts
from nsplugin.runtime.providers import Services


@record
class Grants:
    """What a plugin may: the jobs it declares, its capabilities, its secrets, and what its project was allowed."""

    jobs: frozenset[str]
    capabilities: frozenset[str]
    secrets: Mapping[str, str]
    allow_internal_system: bool = False
    jobs_enabled: bool = True


@record(frozen=False, eq=False)
class Visit:
    """One run at the desk: what it has used so far. ``started`` in UTC ms."""

    facts: Facts
    started: int
    enqueued: int = 0
    calls: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Held while it is counted: calls of one run are answered in several threads."""


class Desk:
    """Answers the calls of one plugin's runs. Safe from several threads."""

    def __init__(self, platform: Platform, grants: Grants, services: Services) -> None:
        self.platform, self.grants, self.services = platform, grants, services

    def visit(self, facts: Facts) -> Visit:
        """A run begins to call."""
        return Visit(facts=facts, started=self.services.now())

    def answer(self, visit: Visit, method: str, arguments: Mapping[str, Any]) -> Any:
        """The plain answer, or a future of it. Raises :class:`Fault`."""
        action = _METHODS.get(method)
        field = method.partition(".")[0]
        if action is None or not self._offers(field):
            raise Fault("UNKNOWN_CALL", f"{self.platform.title} has no {method}")
        needed = self.platform.context.needs.get(field)
        if needed is not None and needed not in self.grants.capabilities:
            raise undeclared(method, needed, self.platform.layout.definer)
        with visit.lock:
            visit.calls += 1
        return action(self, visit, Arguments(method, arguments))

    def _offers(self, field: str) -> bool:
        """Only what the platform's handlers can see can be called; time is passed by the context itself."""
        return field in self.platform.context.fields or field in self.platform.handlers.job or field == "time"


def _enqueue(desk: Desk, visit: Visit, arguments: Arguments) -> dict[str, Any]:
    """spec/nextskin.md E1-E4, spec/cogover.md E1-E8."""
    platform, grants, facts, now = desk.platform, desk.grants, visit.facts, desk.services.now()
    _count_enqueue(desk, visit)
    values = arguments.values
    options = values.get("options")
    try:
        order = checked(
            platform, grants.jobs, values.get("job"), values.get("payload"), options if isinstance(options, dict) else {}, now
        )
        accepted = desk.services.queue.enqueue(order, facts, None)
    except BaseException:
        with visit.lock:
            visit.enqueued -= 1
        raise
    return {"run_id": accepted.task_id, "duplicate": accepted.duplicate}


def _count_enqueue(desk: Desk, visit: Visit) -> None:
    method, most = desk.platform.enqueue.method, desk.platform.enqueue.max_per_invocation
    reason = READ_ONLY.get(visit.facts.kind)
    if reason is not None:
        raise Fault("PERMISSION_DENIED", f"{method}: a {visit.facts.kind} may not enqueue", reason=reason)
    if not desk.grants.jobs_enabled:
        raise Fault("JOBS_DISABLED", f"{method}: background jobs are not enabled for this workspace")
    with visit.lock:
        if most and visit.enqueued >= most:
            text = f"{method}: this run has enqueued {most} times, as often as one may; enqueue one job that enqueues the rest"
            raise Fault("RATE_LIMITED", text, limit=most)
        visit.enqueued += 1


def _secret(desk: Desk, visit: Visit, arguments: Arguments) -> str:
    name = arguments.text("name", 256)
    if name not in desk.grants.secrets:
        raise Fault("NOT_FOUND", f"secrets.get: there is no secret {name!r}", name=name)
    return desk.grants.secrets[name]


def _limits(desk: Desk, visit: Visit, arguments: Arguments) -> dict[str, dict[str, int | None]]:
    platform, facts = desk.platform, visit.facts
    return {
        "timeMs": {"used": desk.services.now() - visit.started, "limit": facts.timeout_ms},
        "enqueues": {"used": visit.enqueued, "limit": platform.enqueue.max_per_invocation or None},
        "payloadBytes": {"used": 0, "limit": platform.payload.max_bytes},
        "capabilityCalls": {"used": visit.calls, "limit": None},
        "automationSteps": {"used": 0, "limit": facts.automation_steps},
    }


def _sleep(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    if desk.services.sleep is None:
        raise Fault("UNKNOWN_CALL", "time is real here")
    return desk.services.sleep(visit.facts, arguments.integer("ms", 0, 2**53))


def _rest(desk: Desk, visit: Visit, arguments: Arguments) -> None:
    """A host that only sleeps says so; whoever passes the time may want to know."""
    if desk.services.rest is not None:
        desk.services.rest(visit.facts)


_METHODS: Final[Mapping[str, Callable[[Desk, Visit, Arguments], Any]]] = {
    "jobs.enqueue": _enqueue,
    "secrets.get": _secret,
    "limits.get": _limits,
    "time.sleep": _sleep,
    "time.rest": _rest,
    **desk_storage.METHODS,
    **desk_providers.METHODS,
}
