"""What NextSkin hands to handlers: the types an author annotates with, and the response a route returns."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from nsplugin.frozen import FrozenDict

Json = Any
"""Plain JSON data: ``None``, booleans, numbers, strings, lists, and dicts with string keys."""

Answer = TypeVar("Answer", covariant=True)


class Call(Protocol[Answer]):
    """A call to the platform, under way from the moment it was made: ``await`` it, or use ``.result()`` in a sync handler."""

    def __await__(self) -> Generator[Any, None, Answer]: ...

    def result(self, timeout: float | None = None) -> Answer:
        """Wait for the answer, at most ``timeout`` seconds. Raises what the call failed with, or ``TimeoutError``."""
        ...


class Jobs(Protocol):
    """Work for later: ``ctx.jobs``."""

    def enqueue(
        self,
        name: str,
        payload: Json = ...,
        options: Mapping[str, Any] | None = None,
        *,
        delay_sec: int = 0,
        dedupe_key: str | None = None,
    ) -> Call[None]:
        """Queue a task of one of the plugin's own jobs.

        ``payload``: JSON data of at most 65536 bytes. ``delay_sec``: seconds, 0–2592000. ``dedupe_key``: 1–255 characters;
        while an unfinished task of that job has the same key, no second one is kept. ``options`` takes the same as a mapping
        with the platform's names (``{"delaySec": 60}``). The result does not tell whether a task was added.
        """
        ...


class KeyValue(Protocol):
    """The plugin's own storage: ``ctx.kv``, with the capability ``storage.kv``."""

    def get(self, key: str) -> Call[Json]:
        """The value of a key, ``None`` when there is none."""
        ...

    def set(self, key: str, value: Json, *, ttl_sec: int | None = None) -> Call[None]:
        """Store JSON data under a key, for ``ttl_sec`` seconds (1–31536000) or for good. Raises at once for another number."""
        ...

    def delete(self, key: str) -> Call[None]:
        """Remove a key. A key that does not exist is no error."""
        ...

    def list(self, prefix: str = "", *, after: str = "", limit: int = 100) -> Call[list[str]]:
        """Keys with that prefix in order, those after ``after``, at most ``limit`` (1–1000)."""
        ...


class Log(Protocol):
    """The log. Fields are JSON data beside the message, by name or as mappings; never put secrets there. Never raises.

    Positional arguments that are no mappings become ``value``, ``value2`` and so on; what is no JSON is written as text.
    """

    def debug(self, message: object, /, *args: Any, **fields: Json) -> None:
        """For whoever looks for a fault."""
        ...

    def info(self, message: object, /, *args: Any, **fields: Json) -> None:
        """What happened as it should."""
        ...

    def warning(self, message: object, /, *args: Any, **fields: Json) -> None:
        """What somebody may have to look at."""
        ...

    def error(self, message: object, /, *args: Any, **fields: Json) -> None:
        """What went wrong."""
        ...


class Signal(Protocol):
    """The end of an attempt's time: ``ctx.signal``."""

    @property
    def aborted(self) -> bool:
        """Whether the attempt timed out. Its result, late as it is, no longer counts."""
        ...

    def wait(self) -> Call[None]:
        """Return when the attempt times out."""
        ...


class Context(Protocol):
    """What a job or route may use: ``ctx``."""

    @property
    def plugin_id(self) -> str:
        """The plugin's id."""
        ...

    @property
    def jobs(self) -> Jobs:
        """Work for later."""
        ...

    @property
    def kv(self) -> KeyValue:
        """The plugin's own storage; needs the capability ``storage.kv``."""
        ...

    @property
    def log(self) -> Log:
        """The plugin's log."""
        ...

    @property
    def signal(self) -> Signal:
        """The end of the attempt's time."""
        ...

    def sleep(self, seconds: float) -> Call[None]:
        """Wait: on the real clock when the core runs, on the virtual one in tests and simulations."""
        ...


class Request(Protocol):
    """The HTTP request that a route's handler gets."""

    @property
    def method(self) -> str:
        """The method in capitals."""
        ...

    @property
    def path(self) -> str:
        """The path, without the query."""
        ...

    @property
    def query(self) -> Mapping[str, str]:
        """The query's parameters; of a repeated one, the last."""
        ...

    @property
    def user(self) -> str | None:
        """Who calls, as the platform knows them."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers by lower-case name."""
        ...

    def body(self) -> Call[bytes]:
        """The body as it was sent."""
        ...

    def text(self) -> Call[str]:
        """The body as UTF-8 text. Raises ``ValueError`` when it is none."""
        ...

    def json(self) -> Call[Json]:
        """The body as JSON data. Raises ``ValueError`` when it is none."""
        ...


@dataclass(frozen=True, slots=True)
class Response:
    """What a route answers with: status (100–599), headers of text, bytes or text as body. Raises ``ValueError`` otherwise."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if type(self.status) is not int or not 100 <= self.status <= 599:
            raise ValueError(f"a response's status is an integer from 100 to 599, not {self.status!r}")
        if not isinstance(self.body, bytes | str):
            raise ValueError(f"a response's body is bytes or text, not {type(self.body).__name__}; see Response.json")
        object.__setattr__(
            self, "headers", FrozenDict({_header(name).lower(): _header(value) for name, value in self._given()})
        )

    def _given(self) -> list[tuple[Any, Any]]:
        if not isinstance(self.headers, Mapping):
            raise ValueError(f"a response's headers are a mapping of text, not {type(self.headers).__name__}")
        return list(self.headers.items())

    @staticmethod
    def json(value: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
        """A response that carries JSON data. Raises ``ValueError`` or ``TypeError`` for data that JSON cannot hold."""
        body = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        return Response(body, status, {"content-type": "application/json", **(headers or {})})

    @staticmethod
    def text(value: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
        """A response that carries plain text."""
        return Response(value.encode(), status, {"content-type": "text/plain; charset=utf-8", **(headers or {})})


def _header(text: Any) -> str:
    if not isinstance(text, str):
        raise ValueError(f"a response's header is text, not {type(text).__name__}")
    return text
