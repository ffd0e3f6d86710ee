"""The context that a handler sees: its fields, made when they are first asked for, and a clear word for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final, NoReturn

from nsplugin.runtime.calls import Call
from nsplugin.runtime.faults import Fault, raised
from nsplugin.runtime.invocation import Run


class Context:
    """Fields of one run by name. Which there are, and which capability each needs, is the platform file's to say."""

    def __init__(self, run: Run, names: Iterable[str]) -> None:
        self.__dict__["_run"] = run
        self.__dict__["_names"] = tuple(names)

    def __getattr__(self, name: str) -> Any:
        if "_run" not in self.__dict__:  # made without __init__, as copy.copy does
            raise AttributeError(name)
        run, names = self.__dict__["_run"], self.__dict__["_names"]
        if name not in names:
            raise AttributeError(f"the context has no {name!r}; it has {', '.join(names)}")
        _require(run, name)
        value = _field(name)(run)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"the context can't be changed (it has no place for {name!r})")

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__["_names"], *object.__dir__(self)})

    def __repr__(self) -> str:
        return f"<context: {', '.join(self.__dict__['_names'])}>"


def _require(run: Run, name: str) -> None:
    """Refuse a field whose capability the manifest does not declare (spec/core.md H3)."""
    needed = run.platform.context.needs.get(name)
    if needed is not None and needed not in run.capabilities:
        raise raised(undeclared(f"ctx.{name}", needed, run.platform.layout.definer), run.platform.context.errors)


def undeclared(what: str, capability: str, definer: str) -> Fault:
    """The refusal of what needs a capability that was not declared."""
    message = f'{what} needs the capability "{capability}": add it to the plugin, {definer}(…, capabilities=["{capability}"])'
    return Fault("CAPABILITY_UNDECLARED", message, capability=capability)


def _sleep(run: Run) -> Callable[[float], Call[None]]:
    def sleep(seconds: float) -> Call[None]:
        """Wait. Raises ``TimeoutError`` when the attempt's time is over first. Virtual where time is (tests, simulation)."""
        return run.caller.sleep(seconds)

    return sleep


def _ctx(run: Run) -> Context:
    return Context(run, run.platform.context.fields)


def _job(run: Run) -> Any:
    from nsplugin.cogover.context import JobInfo

    facts = run.facts
    return JobInfo(
        id=facts.id,
        key=facts.job,
        attempt=facts.attempt,
        max_attempts=facts.max_attempts,
        source=facts.source,
        run_at=facts.run_at,
        enqueued_at=facts.enqueued_at,
    )


def _invocation(run: Run) -> Any:
    from nsplugin.cogover.context import Invocation

    user = run.facts.user
    return Invocation(identity="system" if user is None else "user", user=user, enqueued_by=run.facts.enqueued_by)


_PLAIN: Final[Mapping[str, Callable[[Run], Any]]] = {
    "payload": lambda run: run.payload,
    "attempt": lambda run: run.facts.attempt,
    "ctx": _ctx,
    "request": lambda run: run.request,
    "job": _job,
    "invocation": _invocation,
    "plugin_id": lambda run: run.facts.plugin,
    "signal": lambda run: run.signal,
    "sleep": _sleep,
}
_APIS: Final[Mapping[str, str]] = {
    "log": "log.Log",
    "jobs": "jobs.jobs",
    "kv": "storage.KeyValues",
    "state": "storage.State",
    "locks": "locks.Locks",
    "crypto": "crypto.Crypto",
    "data": "records.Data",
    "schema": "records.Schema",
    "secrets": "services.Secrets",
    "limits": "services.Limits",
    "notifications": "services.Notifications",
    "email": "services.Email",
    "org": "services.Org",
    "processes": "services.Processes",
    "agents": "services.Agents",
}
"""What makes each API; loaded when a handler first asks for it, so that a host starts light."""


@cache
def _field(name: str) -> Callable[[Run], Any]:
    if name in _PLAIN:
        return _PLAIN[name]
    module, _, attribute = _APIS[name].partition(".")
    made: Callable[[Run], Any] = getattr(import_module(f"nsplugin.runtime.{module}"), attribute)
    return made
