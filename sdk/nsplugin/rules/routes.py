"""The rule about HTTP routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from nsplugin.nearest import closest
from nsplugin.platforms import Routes
from nsplugin.pointers import join
from nsplugin.rules._family import Found, Rule
from nsplugin.rules.subject import Subject
from nsplugin.wording import listed, plain, quoted


def _routes(subject: Subject) -> Iterator[Found]:
    routes = subject.raw.get("routes")
    limits = subject.platform.routes
    for given, route in routes.items() if isinstance(routes, Mapping) and limits.allowed else ():
        if not isinstance(given, str):
            continue
        key = plain(given)
        if not _is_route(key, limits.methods) or not isinstance(route, Mapping) or route.get("auth") not in limits.auth:
            pointer = join("/routes", key)
            yield from _key(key, pointer, limits)
            yield from _auth(route, pointer, limits)


def _is_route(key: str, methods: tuple[str, ...]) -> bool:
    method, _, path = key.partition(" ")
    return method in methods and _is_path(path)


def _is_path(text: str) -> bool:
    """By hand: an expression with these ranges takes longer to compile than a manifest to judge."""
    if not text.startswith("/") or "?" in text or "#" in text:
        return False
    if text.isascii():
        return text.isprintable() and " " not in text
    return not any(sign.isspace() or sign < " " or sign == "\x7f" or "\ud800" <= sign <= "\udfff" for sign in text)


def _key(key: str, pointer: str, limits: Routes) -> Iterator[Found]:
    method, space, path = key.partition(" ")
    if not space:
        message = f'a route is "METHOD /path", not {quoted(key)}'
        yield Found(pointer=pointer, message=message, hint=_example(key, limits), target="key")
        return
    if method not in limits.methods:
        message = f"{quoted(method)} in route {quoted(key)} is no method: {listed(limits.methods, 'or')}"
        near = closest(method, limits.methods, within=1)
        fix = f"{near} {path}" if near else None
        hint = f'did you mean "{near}"?' if near else None
        yield Found(pointer=pointer, message=message, hint=hint, target="key", fix=fix)
    if not _is_path(path):
        message = f'{quoted(path)} in route {quoted(key)} is no path: it begins with "/" and has no white space, "?" or "#"'
        yield Found(pointer=pointer, message=message, hint=None, target="key")


def _example(key: str, limits: Routes) -> str | None:
    """What a key that is only a path, or only a method, should have been."""
    if _is_path(key):
        return f"for example {quoted(f'POST {key}')}" if "POST" in limits.methods else None
    return 'for example "POST /expire"'


def _auth(route: Any, pointer: str, limits: Routes) -> Iterator[Found]:
    auth = route.get("auth") if isinstance(route, Mapping) else None
    if isinstance(auth, str) and auth not in limits.auth:
        known = listed((f'"{value}"' for value in limits.auth), "or")
        near = closest(plain(auth), limits.auth)
        hint = f'did you mean "{near}"?' if near else f'write "auth": {known}'
        yield Found(pointer=pointer + "/auth", message=f"auth {quoted(auth)} is not known: {known}", hint=hint, fix=near)


_ROUTE = """\
from nsplugin import Response, Route, define_plugin


async def expire(request, ctx):
    return Response.json({"queued": True}, status=202)


plugin = define_plugin(id="cache", routes={"POST /expire": Route(expire, auth="user")})
"""

RULES: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP503",
        name="route-invalid",
        severity="error",
        summary='A route is not "METHOD /path", or its auth is not one that the platform has.',
        why="A route that no request can match is dead code, and one with an unknown auth would be open or closed by chance.",
        bad=_ROUTE.replace("POST /expire", "/expire"),
        good=_ROUTE,
        source="spec/nextskin.md D2",
        check=_routes,
        platforms=("nextskin",),
    ),
)
