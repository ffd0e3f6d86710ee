"""Templates to answers: what every page is given besides its own data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from nsplugin_core.admin import wording
from nsplugin_core.admin.access import Access
from nsplugin_core.admin.guard import FRAGMENT_HEADER, STATIC, Refusal, cookie_name, set_cookie
from nsplugin_core.admin.sessions import FLASH_S, Sessions
from nsplugin_core.clock import Clock
from nsplugin_core.views import isoformat

REFRESH_S: Final = 5
STATIC_TYPES: Final = {
    "admin.css": "text/css; charset=utf-8",
    "admin.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


@cache
def environment() -> Environment:
    """Jinja with everything escaped, and an error for a name that is not given."""
    made = Environment(
        loader=PackageLoader("nsplugin_core.admin"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = lambda name: f"{STATIC}{name}?v={_version(name)}"
    made.filters |= {
        "capital": wording.capital,
        "counted": wording.counted,
        "duration": wording.duration,
        "iso": isoformat,
        "number": wording.number,
        "pretty_json": wording.pretty_json,
        "relative": wording.relative,
        "size": wording.size,
        "utc": wording.utc,
        "visible": wording.visible,
    }
    return made


@lru_cache(maxsize=len(STATIC_TYPES))
def static_bytes(name: str) -> bytes:
    """A file of the folder ``static``."""
    return files("nsplugin_core.admin").joinpath("static", name).read_bytes()


def _version(name: str) -> str:
    return sha256(static_bytes(name)).hexdigest()[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """Makes answers of templates."""

    access: Access
    sessions: Sessions
    clock: Clock

    def page(self, request: Request, template: str, values: Mapping[str, Any], status: int = 200) -> Response:
        """A whole page, with the message that was left for it; or only its changing part, for the script."""
        fragment = FRAGMENT_HEADER in request.headers
        name = cookie_name(request, "flash")
        flash = None if fragment else self.sessions.read_flash(request.cookies.get(name))
        given = {
            "layout": "fragment.html" if fragment else "page.html",
            "flash": flash,
            "visitor": getattr(request.state, "visitor", None),
            "now": self.clock.now_ms(),
            "refresh_s": REFRESH_S,
            "login_token": self.sessions.form_token(request.state.session, ""),
        }
        response = HTMLResponse(environment().get_template(template).render(given | dict(values)), status_code=status)
        if not fragment and name in request.cookies:
            response.headers.append("Set-Cookie", set_cookie(request, self.access, "flash", "", 0))
        return response

    def refusal(self, request: Request, refusal: Refusal) -> Response:
        """The page of an error."""
        return self.page(request, "refusal.html", {"refusal": refusal}, refusal.status)

    def done(self, request: Request, target: str, text: str) -> Response:
        """On to a page that says what was done."""
        return self._redirect(request, target, self.sessions.flash("done", text))

    def failed(self, request: Request, target: str, text: str) -> Response:
        """On to a page that says what was not done."""
        return self._redirect(request, target, self.sessions.flash("failed", text))

    def _redirect(self, request: Request, target: str, flash: str) -> Response:
        response = RedirectResponse(target, status_code=303)
        response.headers.append("Set-Cookie", set_cookie(request, self.access, "flash", flash, FLASH_S))
        return response
