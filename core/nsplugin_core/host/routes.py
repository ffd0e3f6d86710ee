"""A plugin's routes as the core sees them: a request in, a response out, both plain data."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nsplugin_core.host.protocol import Message, ProtocolError, clean, integer


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRequest:
    """An HTTP request for a route. ``query`` is what stands behind the ``?``; ``user`` is who calls, ``None``: nobody known."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: str | None = None

    def plain(self) -> dict[str, Any]:
        """The request as a message carries it."""
        return {
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "headers": dict(self.headers),
            "body": base64.b64encode(self.body).decode(),
            "user": self.user,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteResponse:
    """What a route answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @staticmethod
    def of(message: Message) -> RouteResponse:
        """The response that a message carries. Raises ``ProtocolError``."""
        status, headers, body = integer(message, "status"), message.get("headers"), message.get("body")
        if not 100 <= status <= 599 or type(headers) is not dict or type(body) is not str:
            raise ProtocolError("a response that is none")
        try:
            plain = {clean(str(name)): clean(str(value)) for name, value in headers.items()}
            return RouteResponse(status=status, headers=plain, body=base64.b64decode(body, validate=True))
        except (ValueError, binascii.Error):
            raise ProtocolError("a response that is none") from None
