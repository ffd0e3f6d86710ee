"""Whether a core is well: what its loops, its hosts and the endpoint for machines say."""

from __future__ import annotations

import logging
import socket
import struct
import threading
from collections.abc import Iterator

import httpx
import pytest

from nsplugin_core.clock import SystemClock
from nsplugin_core.loops import Loop
from nsplugin_core.monitoring import Answer, Monitor, health
from nsplugin_core.service import Service
from nsplugin_core.store.errors import StoreUnavailable
from service_world import Site


def _broken() -> Answer:
    raise KeyError("a fault of ours")


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    made = Monitor(("127.0.0.1", 0), {"/metrics": _broken, "/live": health(lambda: None)})
    yield made
    made.close()


def test_a_page_that_fails_is_answered_and_logged(monitor: Monitor, caplog: pytest.LogCaptureFixture) -> None:
    url = "http://{}:{}".format(*monitor.address)
    answer = httpx.get(f"{url}/metrics", timeout=20)
    assert (answer.status_code, answer.text) == (500, "/metrics failed; the log of the core says why\n")
    assert "KeyError: 'a fault of ours'" in caplog.text
    assert httpx.get(f"{url}/live", timeout=20).text == "ok\n"


def test_a_client_that_goes_away_is_no_news(monitor: Monitor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with socket.create_connection(monitor.address) as client:
        client.sendall(b"GET /li")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    url = "http://{}:{}/live".format(*monitor.address)
    assert httpx.get(url, timeout=20).text == "ok\n"
    assert not [record for record in caplog.records if record.name.startswith("nsplugin")]


class Worker:
    """Fails in its second and fourth round, works in the others, and has nothing to do from the sixth on."""

    def __init__(self) -> None:
        self.failing: list[bool] = []
        self.ended = threading.Event()
        self.loop = Loop("test", self, SystemClock(), every_ms=60_000)

    def run_once(self, now_ms: int) -> int:
        self.failing.append(self.loop.failing)
        number = len(self.failing)
        if number in (2, 4):
            raise StoreUnavailable("PostgreSQL does not answer")
        if number == 6:
            self.ended.set()
        return int(number < 6)


def test_a_loop_that_works_again_is_not_failing_though_it_never_rests() -> None:
    """Else a loaded core would be taken out of the load balancer for ever after one hiccup."""
    worker = Worker()
    worker.loop.start()
    assert worker.ended.wait(20)
    worker.loop.stop()
    assert worker.failing == [False, False, True, False, True, False]


def test_a_core_that_enforces_no_time_outs_any_more_is_not_alive(local: Site) -> None:
    service = Service(local.url)
    service.start()
    try:
        assert service.live() is None
        service.hosts.close()
        assert service.live() == "stopped: hosts"
    finally:
        service.stop()
