"""``secrets``, ``limits``, ``notifications``, ``email``, ``org``, ``processes`` and ``agents``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nsplugin.record import record
from nsplugin.runtime.calls import Call
from nsplugin.runtime.invocation import Run


class Api:
    """An API whose methods are single calls."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run


class Secrets(Api):
    """The project's secrets. They are never in the environment and are taken out of the log."""

    __slots__ = ()

    def get(self, name: str) -> Call[str]:
        """A secret's value. Raises ``NotFoundError`` when the project has none of that name."""
        return self._run.caller.call("secrets.get", {"name": name})


@record
class Usage:
    """How much of something the run may use, and has used. ``limit`` is ``None`` where there is none."""

    used: int
    limit: int | None

    @property
    def left(self) -> int | None:
        """What is left of it."""
        return None if self.limit is None else max(0, self.limit - self.used)


class Limits(Api):
    """The limits of the job lane (spec/cogover.md X10)."""

    __slots__ = ()

    def get(self) -> Call[dict[str, Usage]]:
        """Usage by name: ``timeMs``, ``enqueues``, ``payloadBytes``, ``capabilityCalls``, ``automationSteps``."""
        return self._run.caller.call("limits.get", {}, lambda answer: {name: Usage(**item) for name, item in answer.items()})


class Notifications(Api):
    """Messages to users of the workspace."""

    __slots__ = ()

    def send(self, *, to: str | Sequence[str], title: str, body: str = "", link: str | None = None) -> Call[None]:
        """Notify one or several users, by id."""
        return self._run.caller.call("notifications.send", {"to": _several(to), "title": title, "body": body, "link": link})


class Email(Api):
    """E-mail in the project's name."""

    __slots__ = ()

    def send(self, *, to: str | Sequence[str], subject: str, text: str | None = None, html: str | None = None) -> Call[None]:
        """Send a message with a ``text``, an ``html`` body, or both."""
        return self._run.caller.call("email.send", {"to": _several(to), "subject": subject, "text": text, "html": html})


class Org(Api):
    """Who works here."""

    __slots__ = ()

    def user(self, id: str) -> Call[dict[str, Any]]:
        """A user: ``id``, ``name``, ``email``. Raises ``NotFoundError``."""
        return self._run.caller.call("org.user", {"id": id})

    def users(self, *, limit: int = 100) -> Call[list[dict[str, Any]]]:
        """The users of the workspace."""
        return self._run.caller.call("org.users", {"limit": limit})


class Processes(Api):
    """The workspace's processes."""

    __slots__ = ()

    def start(self, key: str, input: Any = None, *, on_complete: str | None = None) -> Call[str]:
        """Start a process; returns the instance's id. When it is complete, the job ``on_complete`` is run with
        ``{"instanceId", "process", "status", "output"}`` (spec/cogover.md X8)."""
        return self._run.caller.call("processes.start", {"key": key, "input": input, "on_complete": on_complete})


class Agents(Api):
    """The workspace's AI agents."""

    __slots__ = ()

    def start(self, key: str, input: Any = None, *, on_result: str | None = None) -> Call[str]:
        """Start an agent; returns the run's id. Its result is the payload of the job ``on_result``:
        ``{"runId", "agent", "status", "output"}`` (spec/cogover.md X8)."""
        return self._run.caller.call("agents.start", {"key": key, "input": input, "on_result": on_result})


def _several(to: str | Sequence[str]) -> list[str]:
    return [to] if isinstance(to, str) else list(to)
