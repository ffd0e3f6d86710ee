"""What every request passes before a page sees it: its name, who sent it, and whether a form is our own.

Every answer leaves with the headers that keep it out of caches, frames and other sites' hands.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nsplugin_core.admin.access import Access
from nsplugin_core.admin.forms import BadForm, Form, read_form
from nsplugin_core.admin.sessions import SESSION_S, Session, Sessions

HOME: Final = "/admin/plugins"
LOGIN: Final = "/admin/login"
STATIC: Final = "/admin/static/"
FRAGMENT_HEADER: Final = "x-nsplugin-fragment"
HEADERS: Final = {
    "Content-Security-Policy": "; ".join((
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    )),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip
"""``same-origin`` as referrer policy: under ``no-referrer`` browsers send ``Origin: null`` with our own forms too."""
_logger: Final = logging.getLogger("nsplugin.admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who sent a request. ``form_token`` is what this visitor's forms carry; ``can_leave``: there is a login to end."""

    user: str
    session: Session
    form_token: str
    can_leave: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a request is not served. ``advice`` says what to do."""

    status: int
    title: str
    advice: str


Refuse = Callable[[Request, Refusal], Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """ASGI middleware around the pages, which find :class:`Visitor` and :class:`Form` in the request's state."""

    app: ASGIApp
    access: Access
    sessions: Sessions
    refuse: Refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        guarded = _Sending(request, send, self._cookie_for(request))
        try:
            answer = await self._stopped(request) or self.app
            await answer(scope, receive, guarded)
        except Exception:
            _logger.exception("the administration page failed at %s %s", scope["method"], scope["path"])
            if not guarded.begun:
                await self.refuse(request, FAILED)(scope, receive, guarded)

    async def _stopped(self, request: Request) -> Response | None:
        """What answers in place of the page, if anything does."""
        if not self.access.is_named(request.headers.get("host", "")):
            return self.refuse(request, _other_name(request))
        if request.url.path.startswith(STATIC):
            return None
        visitor = self._visitor(request)
        if visitor is None and request.url.path != LOGIN:
            return self._turned_away(request)
        request.state.visitor = visitor
        return await self._form_refused(request) if request.method == "POST" else None

    def _visitor(self, request: Request) -> Visitor | None:
        session = request.state.session
        names = request.headers.getlist(self.access.user_header or "")
        # two names mean that somebody before the proxy sent one of them: neither is believed
        proxied = self.access.proxied_user(_peer(request), names[0] if len(names) == 1 else None)
        if proxied is not None:
            return self._as(proxied, session, can_leave=False)
        if self.access.token is not None:
            return self._as("administrator", session, can_leave=True) if session.kind == "token" else None
        return None if self.access.asks else self._as("local", session, can_leave=False)

    def _as(self, user: str, session: Session, *, can_leave: bool) -> Visitor:
        token = self.sessions.form_token(session, user)
        return Visitor(user=user, session=session, form_token=token, can_leave=can_leave)

    def _turned_away(self, request: Request) -> Response:
        if self.access.token is None:
            return self.refuse(request, _no_user(self.access, _peer(request)))
        if request.method == "GET" and FRAGMENT_HEADER not in request.headers:
            return RedirectResponse(f"{LOGIN}?next={quote(_path(request), safe='')}", status_code=303)
        return self.refuse(request, _LOGGED_OUT)

    async def _form_refused(self, request: Request) -> Response | None:
        if not is_own(request, self.access):
            return self.refuse(request, _FOREIGN)
        try:
            form = await read_form(request)
        except BadForm as error:
            return self.refuse(request, Refusal(status=400, title="This form cannot be read", advice=f"{error}."))
        user = request.state.visitor.user if request.state.visitor else ""
        if not self.sessions.is_form_token(request.state.session, user, form.one("token")):
            return self.refuse(request, _OUT_OF_DATE)
        request.state.form = form
        return None

    def _cookie_for(self, request: Request) -> str | None:
        """Finds the request's session, or starts one; then the cookie to set, if there is one to set."""
        found = self.sessions.read(request.cookies.get(cookie_name(request)))
        request.state.session = found or self.sessions.start("open")
        if found or request.url.path.startswith(STATIC) or request.method != "GET":
            return None
        return set_cookie(request, self.access, "session", self.sessions.cookie(request.state.session), SESSION_S)


class _Sending:
    """Adds the headers to whatever is sent, and knows whether anything was."""

    def __init__(self, request: Request, send: Send, cookie: str | None) -> None:
        self._request, self._send, self._cookie = request, send, cookie
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-store")
            if self._cookie and not any("_session=" in each for each in headers.getlist("set-cookie")):
                headers.append("Set-Cookie", self._cookie)
        await self._send(message)


def cookie_name(request: Request, kind: str = "session") -> str:
    """Browsers keep cookies by host, not by port: two cores on one machine need two names."""
    _, port = request.scope["server"]
    return f"nsplugin_{port}_{kind}"


def set_cookie(request: Request, access: Access, kind: str, value: str, seconds: int) -> str:
    """A ``Set-Cookie`` header. ``Lax``: links from elsewhere find the session, posts from elsewhere do not."""
    secure = "; Secure" if is_https(request, access) else ""
    return f"{cookie_name(request, kind)}={value}; Path=/admin; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def is_https(request: Request, access: Access) -> bool:
    """Whether the browser speaks HTTPS, with us or with a proxy that is believed."""
    forwarded = request.headers.get("x-forwarded-proto", "") if access.is_proxy(_peer(request)) else ""
    return request.url.scheme == "https" or forwarded == "https"


def is_own(request: Request, access: Access) -> bool:
    """Whether a post comes from a page of ours, as far as the browser says. Other programs say nothing."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    return origin is None or _is_same(origin, request.headers.get("host", ""), access)


def _is_same(origin: str, host: str, access: Access) -> bool:
    """A proxy may write its own address into ``Host``; then the origin's name has to be one that is configured."""
    try:
        parts = urlsplit(origin)
        named = parts.hostname in access.names and access.host != parts.hostname
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and (parts.netloc.lower() == host.lower() or named)


def _peer(request: Request) -> str | None:
    return request.client.host if request.client else None


def _path(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def form_of(request: Request) -> Form:
    """The form that the guard has read."""
    form: Form = request.state.form
    return form


def visitor_of(request: Request) -> Visitor:
    """The visitor whom the guard has let in."""
    visitor: Visitor = request.state.visitor
    return visitor


def _other_name(request: Request) -> Refusal:
    return Refusal(
        status=421,
        title="This page is not known by that name",
        advice=f"It was asked for as {request.headers.get('host', '')!r}. Open it by its address, or start nsplugin serve with"
        " --admin-name and that name.",
    )  # fmt: skip


def _no_user(access: Access, peer: str | None) -> Refusal:
    if access.is_proxy(peer):
        advice = f"The reverse proxy has to say who you are in the header {access.user_header}, and did not."
    else:
        advice = f"It is reached through a reverse proxy. {peer} is none that --trusted-proxy names."
    return Refusal(status=403, title="You are not known here", advice=advice)


FAILED: Final = Refusal(
    status=500, title="This page failed", advice="That is a fault of nsplugin. The core's log says what happened."
)
_LOGGED_OUT: Final = Refusal(
    status=401, title="You are not logged in", advice="Load the page again to log in. Nothing was done."
)
_FOREIGN: Final = Refusal(
    status=403,
    title="This form was sent by another site",
    advice="Nothing was done. If you meant to do this, open the administration page yourself and do it there.",
)
_OUT_OF_DATE: Final = Refusal(
    status=403,
    title="This form is out of date",
    advice="Nothing was done. The core has been restarted, or you have logged in anew, since the form was loaded."
    " Go back, load the page again and repeat what you did.",
)
