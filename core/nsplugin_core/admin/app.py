"""The administration page as an ASGI application."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from nsplugin_core.admin.access import Access
from nsplugin_core.admin.actions import Actions
from nsplugin_core.admin.brake import Brake
from nsplugin_core.admin.entrance import Entrance
from nsplugin_core.admin.guard import FAILED, HOME, LOGIN, STATIC, Guard, Refusal
from nsplugin_core.admin.hosts import HostNotice, no_notice
from nsplugin_core.admin.pages import Pages
from nsplugin_core.admin.rendering import STATIC_TYPES, Renderer, static_bytes
from nsplugin_core.admin.sessions import Sessions
from nsplugin_core.operations import NotFound, Operations, Unacceptable
from nsplugin_core.store.errors import StoreError, StoreUnavailable, UnknownPlugin

_PLUGIN: Final = f"{HOME}/{{plugin}}"
_LETTERS: Final = f"{_PLUGIN}/dead-letters"


def create_app(operations: Operations, access: Access, *, notice: HostNotice = no_notice) -> ASGIApp:
    """The administration page of a core, for those whom ``access`` lets in.

    ``notice`` says what is to be known of a plugin's host; :func:`nsplugin_core.admin.hosts.notice_of` makes one.
    """
    sessions = Sessions(time.time)
    renderer = Renderer(access=access, sessions=sessions, clock=operations.clock)
    pages = Pages(operations=operations, renderer=renderer, notice=notice)
    actions = Actions(operations=operations, renderer=renderer)
    entrance = Entrance(access=access, sessions=sessions, renderer=renderer, brake=Brake(time.monotonic))
    app = Starlette(
        routes=[*_shown(pages), *_done(actions), *_entered(entrance), Route(f"{STATIC}{{name}}", _static)],
        exception_handlers=_handlers(renderer),
    )
    return Guard(app=app, access=access, sessions=sessions, refuse=renderer.refusal)


def _shown(pages: Pages) -> list[Route]:
    return [
        Route("/", pages.home),
        Route("/admin", pages.home),
        Route("/admin/", pages.home),
        Route(HOME, pages.plugins),
        Route(_PLUGIN, pages.plugin),
        Route(f"{_PLUGIN}/tasks", pages.tasks),
        Route(f"{_PLUGIN}/tasks/{{task}}", pages.task),
        Route(f"{_PLUGIN}/uninstall", pages.uninstall),
    ]


def _done(actions: Actions) -> list[Route]:
    return [
        Route(f"{_PLUGIN}/enable", actions.enable, methods=["POST"]),
        Route(f"{_PLUGIN}/disable", actions.disable, methods=["POST"]),
        Route(f"{_PLUGIN}/uninstall", actions.uninstall, methods=["POST"]),
        Route(f"{_LETTERS}/retry", actions.retry, methods=["POST"]),
        Route(f"{_LETTERS}/retry-all", actions.retry_all, methods=["POST"]),
        Route(f"{_LETTERS}/delete", actions.delete, methods=["POST"]),
        Route(f"{_LETTERS}/delete-all", actions.delete_all, methods=["POST"]),
    ]


def _entered(entrance: Entrance) -> list[Route]:
    return [
        Route(LOGIN, entrance.show),
        Route(LOGIN, entrance.log_in, methods=["POST"]),
        Route("/admin/logout", entrance.log_out, methods=["POST"]),
    ]


async def _static(request: Request) -> Response:
    """A style sheet or script. Its address changes with its content, so browsers may keep it."""
    name = request.path_params["name"]
    if name not in STATIC_TYPES:
        raise HTTPException(404)
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Content-Type": STATIC_TYPES[name]}
    return Response(static_bytes(name), headers=headers)


def _handlers(renderer: Renderer) -> dict[Any, Any]:
    def handler(status: int, title: str) -> Any:
        def answer(request: Request, error: Exception) -> Response:
            advice = str(error)[:1].upper() + str(error)[1:]
            return renderer.refusal(request, Refusal(status=status, title=title, advice=f"{advice.rstrip('.')}."))

        return answer

    def http_error(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED and request.method == "GET":
            return RedirectResponse(HOME, status_code=303)
        return renderer.refusal(request, _of(error))

    return {
        NotFound: handler(404, "There is no such thing here"),
        UnknownPlugin: handler(404, "There is no such plugin here"),
        Unacceptable: handler(400, "That cannot be asked"),
        StoreUnavailable: handler(503, "The database does not answer"),
        StoreError: handler(503, "The database refused"),
        HTTPException: http_error,
        Exception: lambda request, error: renderer.refusal(request, FAILED),
    }


def _of(error: HTTPException) -> Refusal:
    phrase = HTTPStatus(error.status_code).phrase
    title = "There is no such page" if error.status_code == HTTPStatus.NOT_FOUND else phrase
    return Refusal(status=error.status_code, title=title, advice="The plugins of this core are a page that there is.")
