"""Plugins' routes over HTTP, for their author alone: every request comes from the development user."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from nsplugin.manifest import Manifest
from nsplugin_core.admin.access import Access, is_loopback
from nsplugin_core.host.pool import Hosts
from nsplugin_core.host.protocol import MAX_MESSAGE
from nsplugin_core.host.routes import RouteRequest, RouteResponse
from nsplugin_core.host.table import TOO_LARGE, HostFailed

USER_HEADER: Final = "X-Nsplugin-Development-User"
"""Says in each response on whose behalf the route ran, so that nobody takes the stand-in for a login."""
_REST: Final = 512 << 10
"""How much the headers and the address of a request take at most as JSON: the server reads 64 KiB, and escapes are longer."""
MAX_BODY: Final = (MAX_MESSAGE - _REST) // 4 * 3
"""A body goes to the host in one message, in base64."""
_UNAVAILABLE: Final = "HOST_UNAVAILABLE"
_STATUS: Final[Mapping[str, int]] = {_UNAVAILABLE: 503, "HOST_EXITED": 502, "JOB_TIMEOUT": 504, TOO_LARGE: 413}
_BROKEN: Final = "The plugin has errors, and nothing of it runs until they are mended.\n\n"
_AS_TEXT: Final = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
_OURS: Final = frozenset({"content-length", "transfer-encoding", "connection", "keep-alive", "date", "server"})
_logger: Final = logging.getLogger("nsplugin.routes")


@dataclass(slots=True, kw_only=True)
class PluginRoutes:
    """An ASGI application of the routes of all plugins: ``/expire``, and ``/<plugin>/expire`` where several have it.

    ``home`` is the address of the administration page, ``broken`` what is wrong with the plugins as they lie there: hosts
    that run already know nothing of it.
    """

    hosts: Hosts
    access: Access
    user: str
    home: str = ""
    broken: str = ""
    _table: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    def show(self, manifests: Sequence[Manifest]) -> None:
        """Serve the routes of these plugins from now on."""
        table: dict[str, dict[str, list[str]]] = {}
        for manifest in manifests:
            for route in manifest.routes:
                for path in (route.path, f"/{manifest.id}{route.path}"):
                    table.setdefault(path, {}).setdefault(route.method, []).append(f"{manifest.id} {route.path}")
        self._table, self.broken = table, ""

    def named(self) -> list[tuple[str, str]]:
        """Method and path of each route: the path is its own, with its plugin in front where another one has it too."""
        found = []
        for path, methods in self._table.items():
            for method, owners in methods.items():
                own = owners[0].partition(" ")[2]
                if len(owners) == 1 and (path == own or len(self._table[own][method]) > 1):
                    found.append((method, path))
        return found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        refusal = self._refused(request)
        if refusal is not None:
            return refusal
        path = request.url.path
        methods = self._table.get(path)
        if methods is None:
            return RedirectResponse(self.home, status_code=303) if path == "/" else self._nothing(path)
        owners = methods.get(request.method)
        if owners is None:
            return _error(405, f"{path} takes {', '.join(sorted(methods))}", headers={"Allow": ", ".join(sorted(methods))})
        if len(owners) > 1:
            return _error(409, f"several plugins have {request.method} {path}; put the plugin's id in front: /<id>{path}")
        plugin, _, own = owners[0].partition(" ")
        return await self._call(plugin, own, request)

    def _refused(self, request: Request) -> Response | None:
        """No page of another site may act as the development user (DNS rebinding, forged posts)."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not self.access.is_named(host):
            return _error(403, f"this server is for this machine: it is not known as {host[:100]!r}")
        foreign = _is_embedded(request) if origin is None else not _is_of_this_machine(origin)
        if foreign:
            return _error(403, "a page of another site can't call routes here: they would run as the development user")
        return None

    def _nothing(self, path: str) -> Response:
        if self.broken and not self._table:
            return self._reported()
        known = sorted(f"{method} {each}" for each, methods in self._table.items() for method in methods)
        hint = f"there are {', '.join(known[:20])}" if known else "no plugin here has routes"
        return _error(404, f"no plugin has a route {path!r}; {hint}; the administration page is {self.home}")

    def _reported(self) -> Response:
        return PlainTextResponse(f"{_BROKEN}{self.broken}", 503, headers={USER_HEADER: self.user, **_AS_TEXT})

    async def _call(self, plugin: str, path: str, request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return _error(413, f"a request's body has at most {MAX_BODY:,} bytes")
        asked = RouteRequest(
            method=request.method,
            path=path,
            query=request.url.query,
            headers=dict(request.headers),
            body=body,
            user=self.user,
        )
        key = f"{request.method} {path}"
        try:
            answer = await self._answered(plugin, key, asked)
        except HostFailed as error:
            _logger.warning("%s of plugin %s failed: %s", key, plugin, error)
            return self._failed(plugin, error)
        _logger.info("%s of plugin %s answered %d", key, plugin, answer.status)
        return _passed_on(answer, self.user)

    async def _answered(self, plugin: str, key: str, asked: RouteRequest) -> RouteResponse:
        """A request that met a host which was just leaving was not delivered: the one after it answers."""
        try:
            return await asyncio.wrap_future(self.hosts.request(plugin, key, asked))
        except HostFailed as error:
            if error.code != _UNAVAILABLE or self.hosts.status(plugin).state in ("paused", "stopped"):
                raise
        return await asyncio.wrap_future(self.hosts.request(plugin, key, asked))

    def _failed(self, plugin: str, error: HostFailed) -> Response:
        if error.code == _UNAVAILABLE and self.broken:
            return self._reported()
        text, headers, status = str(error), {USER_HEADER: self.user}, self.hosts.status(plugin)
        if error.code == _UNAVAILABLE and status.state == "stopped":
            why = "it is disabled, or could not be installed (the terminal says so)"
            text = f"plugin {plugin} does not run: {why}; {self.home} enables it"
        elif error.code == _UNAVAILABLE:
            wait = max(1, ceil(status.resumes_in_s))
            headers["Retry-After"] = str(wait)
            text = f"plugin {plugin} cannot answer now: its host exited ({text}) and starts again in {wait} s; ask again then"
        return _error(_STATUS.get(error.code, 500), text, code=error.code, headers=headers)


def _is_of_this_machine(origin: str) -> bool:
    """Whether a page from there may act as the development user. An address alone says nothing: it may be anybody's."""
    try:
        return is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return False


def _is_embedded(request: Request) -> bool:
    """Whether a page of another site asks for it as an image, a style or the like: browsers send no origin then."""
    headers = request.headers
    return headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate"


async def _body(request: Request) -> bytes | None:
    """The body, or ``None`` when it is too large."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY:
            return None
        parts.append(part)
    return b"".join(parts)


def _passed_on(answer: RouteResponse, user: str) -> Response:
    headers = {name: value for name, value in answer.headers.items() if name.lower() not in _OURS}
    try:
        return Response(answer.body, status_code=answer.status, headers=headers | {USER_HEADER: user})
    except (UnicodeEncodeError, ValueError) as error:
        return _error(500, f"the response's headers can't be sent: {error}", code="RESPONSE_INVALID")


def _error(status: int, message: str, *, code: str | None = None, headers: Mapping[str, str] | None = None) -> Response:
    name = code or HTTPStatus(status).phrase.upper().replace(" ", "_")
    return JSONResponse({"error": message, "code": name}, status_code=status, headers=dict(headers or {}))
