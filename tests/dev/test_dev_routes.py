"""Routes of ``nsplugin dev`` at moments that real hosts seldom show: a host that is just leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, cast

import httpx
import pytest

from nsplugin.manifest import Manifest
from nsplugin.platforms import load
from nsplugin_core.admin.access import access_to
from nsplugin_core.clock import VirtualClock
from nsplugin_core.development.routes import MAX_BODY, PluginRoutes
from nsplugin_core.host.keeper import HostStatus
from nsplugin_core.host.routes import RouteRequest, RouteResponse
from nsplugin_core.host.settings import HostSettings
from nsplugin_core.host.table import HostFailed, WorkTable

RAW = {
    "manifestVersion": 1, "platform": "nextskin", "id": "stock", "entry": "plugin:plugin", "capabilities": [],
    "jobs": {}, "cron": [], "routes": {"GET /stock": {"auth": "user"}},
}  # fmt: skip


class LeavingHosts:
    """Hosts of which the first so many fail with that code; the plugin's host is said to be in that state."""

    def __init__(self, code: str, state: Any, failures: int = 1) -> None:
        self.code, self.state, self.failures, self.asked = code, state, failures, 0

    def request(self, plugin: str, route: str, request: RouteRequest) -> Future[RouteResponse]:
        self.asked += 1
        answer: Future[RouteResponse] = Future()
        if self.asked <= self.failures:
            answer.set_exception(HostFailed("the plugin was replaced", self.code))
        else:
            answer.set_result(RouteResponse(status=200, headers={}, body=b"ok"))
        return answer

    def status(self, plugin: str) -> HostStatus:
        return HostStatus(plugin=plugin, state=self.state, resumes_in_s=2.2 if self.state == "paused" else 0.0)


def _get(hosts: LeavingHosts, body: bytes = b"", headers: Mapping[str, str] = {}) -> httpx.Response:
    routes = PluginRoutes(
        hosts=cast(Any, hosts), access=access_to("127.0.0.1:8787"), user="dev", home="http://127.0.0.1:8788/x"
    )
    routes.show([Manifest.of(RAW, load("nextskin"))])

    async def get() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(routes), base_url="http://127.0.0.1:8787") as client:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return await client.request("GET", "/stock", headers=named, content=body)

    return asyncio.run(get())


def test_a_request_that_meets_a_leaving_host_is_answered_by_the_next() -> None:
    hosts = LeavingHosts("HOST_UNAVAILABLE", "starting")
    assert (_get(hosts).text, hosts.asked) == ("ok", 2)


@pytest.mark.parametrize("code", ["HOST_EXITED", "JOB_TIMEOUT", "KeyError"])
def test_what_may_have_run_is_not_asked_for_twice(code: str) -> None:
    hosts = LeavingHosts(code, "starting")
    answer = _get(hosts)
    assert (answer.json(), hosts.asked) == ({"error": "the plugin was replaced", "code": code}, 1)


@pytest.mark.parametrize(("state", "wait", "asked"), [("paused", "3", 1), ("starting", "1", 2), ("stopped", None, 1)])
def test_a_host_that_stays_away_is_said_to(state: str, wait: str | None, asked: int) -> None:
    hosts = LeavingHosts("HOST_UNAVAILABLE", state, failures=9)
    answer = _get(hosts)
    assert (answer.status_code, answer.headers.get("retry-after"), hosts.asked) == (503, wait, asked)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"sec_fetch_site": "none", "sec_fetch_mode": "navigate"}, 200),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, 200),
        ({"sec_fetch_site": "same-origin", "sec_fetch_mode": "cors"}, 200),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors", "origin": "http://localhost:3000"}, 200),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors", "origin": "http://[::1]:3000"}, 200),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors", "origin": "http://127.0.0.1"}, 200),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors", "origin": "https://evil.example"}, 403),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors", "origin": "http://203.0.113.5"}, 403),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors", "origin": "http://192.168.1.9:8787"}, 403),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors", "origin": "http://[2001:db8::1]:80"}, 403),
        ({"origin": "http://127.0.0.1@203.0.113.5"}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, 403),
    ],
)
def test_a_page_elsewhere_can_not_use_a_route_as_an_image(headers: dict[str, str], status: int) -> None:
    """Browsers send no origin with what a page embeds, but say that it comes from another site."""
    hosts = LeavingHosts("", "ready", failures=0)
    assert (_get(hosts, headers=headers).status_code, hosts.asked) == (status, int(status == 200))


def test_a_body_that_no_message_can_carry_is_refused_before_it_is_sent() -> None:
    """And one that just can be, with as many headers as the server takes, is carried."""
    hosts = LeavingHosts("", "ready", failures=0)
    answer = _get(hosts, b"x" * (MAX_BODY + 1))
    assert (answer.status_code, answer.json()["error"], hosts.asked) == (
        413,
        f"a request's body has at most {MAX_BODY:,} bytes",
        0,
    )
    assert _get(hosts, b"x" * MAX_BODY).status_code == 200
    headers = {"x": "\u00fc" * (64 << 10)}
    WorkTable(HostSettings(), VirtualClock(0)).request(
        "POST /a", RouteRequest(method="POST", path="/a", headers=headers, body=b"x" * MAX_BODY), Future(), 0
    )


def test_a_request_that_the_host_can_not_be_sent_is_too_large() -> None:
    answer = _get(LeavingHosts("TOO_LARGE", "ready"))
    assert (answer.status_code, answer.json()["code"]) == (413, "TOO_LARGE")
