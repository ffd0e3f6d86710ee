"""The HTTP request that a route's handler gets."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from nsplugin.runtime.calls import Call


class HttpRequest:
    """A request with its whole body. ``await`` what reads the body, or ``.result()`` in a sync handler.

    ``path`` has no query; ``query`` keeps the last of repeated parameters; ``headers`` go by lower-case name.
    ``user`` is who calls, as the platform knows them.
    """

    def __init__(
        self,
        *,
        method: str,
        path: str,
        query: str = "",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        user: str | None = None,
    ) -> None:
        self.method, self.path, self.user = method.upper(), path, user
        self.query: Mapping[str, str] = MappingProxyType(dict(parse_qsl(query, keep_blank_values=True)))
        self.headers: Mapping[str, str] = MappingProxyType({name.lower(): value for name, value in (headers or {}).items()})
        self._body = body

    def body(self) -> Call[bytes]:
        """The body as it was sent."""
        return self._answer("body", self._body)

    def text(self) -> Call[str]:
        """The body as UTF-8 text. Raises ``ValueError`` when it is none."""
        try:
            return self._answer("text", self._body.decode())
        except UnicodeDecodeError:
            return self._refusal("text", "the request's body is no UTF-8 text")

    def json(self) -> Call[Any]:
        """The body as JSON data in UTF-8. Raises ``ValueError`` when it is none."""
        try:
            return self._answer("json", json.loads(self._body.decode("utf-8-sig"), parse_constant=_refuse, parse_float=_finite))
        except (ValueError, RecursionError):
            return self._refusal("json", "the request's body is no JSON")

    def _answer(self, name: str, value: Any) -> Call[Any]:
        call: Call[Any] = Call(f"request.{name}")
        call.resolve(value)
        return call

    def _refusal(self, name: str, message: str) -> Call[Any]:
        call: Call[Any] = Call(f"request.{name}")
        call.refuse(ValueError(message))
        return call

    def __repr__(self) -> str:
        return f"<request {self.method} {self.path}>"


def _refuse(constant: str) -> NoReturn:
    """NaN and Infinity are Python's own: what a handler passed on would be refused there."""
    raise ValueError(constant)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)
