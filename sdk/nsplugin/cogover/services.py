"""What else a Cogover job may use: secrets, messages, people, limits, executions, and hashes (spec/cogover.md H1, X8, X10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from nsplugin.context import Call, Json

Encoding = Literal["hex", "base64", "base64url"]
"""How a digest is written as text."""


class Secrets(Protocol):
    """The project's secrets: ``secrets``."""

    def get(self, name: str) -> Call[str]:
        """The value of a secret. Raises ``NotFoundError``."""
        ...


class Notifications(Protocol):
    """Notifications to users: ``notifications``."""

    def send(self, *, to: str | Sequence[str], title: str, body: str = "", link: str | None = None) -> Call[None]:
        """Notify one user or several (at most 100), by id. ``title`` has at most 256 characters, ``body`` 100000.

        Raises ``ValidationError`` for what is longer.
        """
        ...


class Email(Protocol):
    """E-mail in the project's name: ``email``."""

    def send(self, *, to: str | Sequence[str], subject: str, text: str | None = None, html: str | None = None) -> Call[None]:
        """Send a message to at most 100 addresses, with a ``text``, an ``html`` body, or both (100000 characters each).

        Raises ``ValidationError`` when both are missing, or what is given is longer.
        """
        ...


class Org(Protocol):
    """The organisation's people: ``org``."""

    def user(self, id: str) -> Call[dict[str, Json]]:
        """A user: ``id``, ``name``, ``email``. Raises ``NotFoundError``."""
        ...

    def users(self, *, limit: int = 100) -> Call[list[dict[str, Json]]]:
        """The first users of the workspace, at most ``limit`` (1–1000)."""
        ...


class Usage(Protocol):
    """How much of something the run has used, and may use."""

    @property
    def used(self) -> int:
        """How much the run has used."""
        ...

    @property
    def limit(self) -> int | None:
        """How much it may use, ``None`` where there is no limit."""
        ...

    @property
    def left(self) -> int | None:
        """What is left of it, ``None`` where there is no limit."""
        ...


class Limits(Protocol):
    """What is left of the run's limits: ``limits``."""

    def get(self) -> Call[dict[str, Usage]]:
        """Usage by name: ``timeMs`` (ms), ``enqueues``, ``payloadBytes``, ``capabilityCalls``, ``automationSteps``."""
        ...


class Processes(Protocol):
    """Processes to start: ``processes``."""

    def start(self, key: str, input: Json = None, *, on_complete: str | None = None) -> Call[str]:
        """Start a process with JSON data; returns the instance's id.

        When it is complete, the job ``on_complete`` is run with ``{"instanceId", "process", "status", "output"}``;
        ``status`` is "completed" or "failed". Raises ``ValidationError`` for a job that is not declared, ``NotFoundError``
        for an unknown key.
        """
        ...


class Agents(Protocol):
    """AI agents to start: ``agents``."""

    def start(self, key: str, input: Json = None, *, on_result: str | None = None) -> Call[str]:
        """Start an agent with JSON data; returns the run's id.

        Its result is the payload of the job ``on_result``: ``{"runId", "agent", "status", "output"}``; ``status`` is
        "completed" or "failed". Raises ``ValidationError`` for a job that is not declared, ``NotFoundError`` for an unknown
        key.
        """
        ...


class Crypto(Protocol):
    """Hashes, signatures and random values: ``crypto``. Computed on the spot; text counts as its UTF-8 bytes."""

    def hash(self, algorithm: str, data: str | bytes, encoding: Encoding = "hex") -> str:
        """A digest by sha256, sha384 or sha512. Raises ``ValueError`` for another algorithm or encoding."""
        ...

    def hmac(self, algorithm: str, key: str | bytes, data: str | bytes, encoding: Encoding = "hex") -> str:
        """A keyed digest (HMAC), as webhooks are signed with. Raises ``ValueError`` as ``hash`` does."""
        ...

    def equal(self, left: str | bytes, right: str | bytes) -> bool:
        """Compare in a time that does not tell how much is equal."""
        ...

    def random_bytes(self, count: int) -> bytes:
        """Unpredictable bytes, 1 to 65,536 of them. Raises ``ValueError`` for another number."""
        ...

    def random_uuid(self) -> str:
        """A random UUID."""
        ...
