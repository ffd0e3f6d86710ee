"""Routes through the host, for ``nsplugin dev`` (spec/nextskin.md D2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import host_world
from host_world import World
from nsplugin_core.host.table import HostFailed

CODE = """
from nsplugin import Job, Response, Route, define_plugin
async def job(): pass
async def echo(request, ctx):
    body = await request.json()
    await ctx.jobs.enqueue("job", body)
    return Response.json({"method": request.method, "path": request.path, "q": dict(request.query), "h": request.headers["x-a"],
        "body": body, "plugin": ctx.plugin_id}, status=202, headers={"X-B": "1"})
def in_sync(request): return Response(request.body().result() + b"\\x00\\xff", 201)
async def raises(request): raise ValueError("boom")
async def no_response(): return {"a": 1}
async def large(): return Response(b"x" * 10_000_000)
async def slow(): await asyncio.sleep(60)
async def exits(): os._exit(3)
routes = {"POST /echo": echo, "POST /sync": in_sync, "GET /raises": raises, "GET /none": no_response, "GET /large": large,
    "GET /slow": slow, "GET /exits": exits}
plugin = define_plugin(id="p", jobs={"job": Job(job)}, routes={key: Route(value, auth="user") for key, value in routes.items()})
"""


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A plugin with routes, and little time for them."""
    settings = replace(host_world.QUICK, route_s=0.5)
    with host_world.world(tmp_path_factory.mktemp("routes"), settings) as world:
        world.put(CODE, jobs=["job"])
        yield world


def test_a_request_that_comes_before_the_host_is_ready_waits_for_it(routes: World) -> None:
    assert routes.status().state == "stopped"
    response = routes.request("POST /echo", query="a=1&a=2&b=", headers={"X-A": "ü"}, body=b'{"k": [1]}', user="ann")
    assert (response.status, response.headers) == (202, {"content-type": "application/json", "x-b": "1"})
    assert response.body.decode() == (
        '{"method":"POST","path":"/echo","q":{"a":"2","b":""},"h":"ü","body":{"k":[1]},"plugin":"p"}'
    )
    (queued,) = routes.queue.accepted
    assert (queued.order.job, queued.order.payload, queued.user) == ("job", '{"k":[1]}', "ann")


def test_bodies_are_bytes(routes: World) -> None:
    response = routes.request("POST /sync", body=b"\xfe")
    assert (response.status, response.body) == (201, b"\xfe\x00\xff")


@pytest.mark.parametrize(
    ("route", "code", "message"),
    [
        ("GET /raises", "ValueError", "boom"),
        ("GET /none", "RESPONSE_INVALID", "a route's handler returns a Response, not dict; see Response.json"),
        ("GET /large", "RESPONSE_INVALID", "the response is too large"),
        ("GET /slow", "JOB_TIMEOUT", "timed out after 500 ms"),
        ("GET /nope", "ROUTE_MISSING", "the plugin has no route 'GET /nope'; it has POST /echo, POST /sync"),
        ("GET /exits", "HOST_EXITED", "the plugin's host exited: exit code 3"),
    ],
)
def test_what_is_no_response_is_an_error_that_says_why(routes: World, route: str, code: str, message: str) -> None:
    with pytest.raises(HostFailed) as caught:
        routes.request(route)
    assert caught.value.code == code
    assert str(caught.value).startswith(message)


def test_a_plugin_that_is_not_known_here(routes: World) -> None:
    with pytest.raises(HostFailed, match="no code of plugin 'other' is known here"):
        routes.request("GET /raises", plugin="other")
