"""Logging in with the administration token, and out."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nsplugin_core.admin.access import Access
from nsplugin_core.admin.brake import Brake
from nsplugin_core.admin.guard import HOME, LOGIN, form_of, set_cookie
from nsplugin_core.admin.rendering import Renderer
from nsplugin_core.admin.sessions import SESSION_S, Sessions, is_token

_logger: Final = logging.getLogger("nsplugin.admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """The login form. Without a token there is none."""

    access: Access
    sessions: Sessions
    renderer: Renderer
    brake: Brake

    async def show(self, request: Request) -> Response:
        """The form."""
        self._wanted()
        if request.state.visitor is not None:
            return RedirectResponse(HOME, status_code=303)
        return self._form(request, _safe(request.query_params.get("next", "")), wrong=False)

    async def log_in(self, request: Request) -> Response:
        """Begin a session when the token is right."""
        expected, form = self._wanted(), form_of(request)
        if not is_token(expected, form.one("admin_token")):
            peer = request.client.host if request.client else None
            _logger.warning("a wrong administration token came from %s", peer or "?")
            await self.brake.hold(peer)
            return self._form(request, _safe(form.one("next")), wrong=True)
        response = RedirectResponse(_safe(form.one("next")), status_code=303)
        cookie = self.sessions.cookie(self.sessions.start("token"))
        response.headers.append("Set-Cookie", set_cookie(request, self.access, "session", cookie, SESSION_S))
        return response

    async def log_out(self, request: Request) -> Response:
        """End the session, here and in the browser."""
        self.sessions.end(request.state.session)
        response = RedirectResponse(LOGIN if self.access.token else HOME, status_code=303)
        response.headers.append("Set-Cookie", set_cookie(request, self.access, "session", "", 0))
        return response

    def _wanted(self) -> str:
        if self.access.token is None:
            raise HTTPException(404)
        return self.access.token

    def _form(self, request: Request, target: str, *, wrong: bool) -> Response:
        return self.renderer.page(request, "login.html", {"target": target, "wrong": wrong}, 403 if wrong else 200)


def _safe(target: str) -> str:
    """Where to go after the login: a page of ours, whatever the address says."""
    return (
        target if target.startswith(f"{HOME}/") and "//" not in target and "\\" not in target and target.isprintable() else HOME
    )
