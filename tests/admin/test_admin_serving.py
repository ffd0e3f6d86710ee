"""The administration page on a socket."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from engine_world import world
from nsplugin_core.admin import serving
from nsplugin_core.admin.access import AccessRefused, access_to
from nsplugin_core.admin.app import create_app
from nsplugin_core.admin.serving import AdminServer, WebServer
from nsplugin_core.operations import Operations


def test_a_taken_port_is_said_to_be() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(AccessRefused) as refused:
            AdminServer(lambda *call: None, access_to(f"127.0.0.1:{port}"))
    assert str(refused.value) == f"127.0.0.1:{port} is taken by another program; name another port, or 0 for any free one"


def test_an_address_of_another_machine_is_said_to_be() -> None:
    access = access_to("192.0.2.1:80", token="correct-horse-battery")
    with pytest.raises(AccessRefused, match=r"192\.0\.2\.1:80 is no address of this machine; 127\.0\.0\.1 always is"):
        AdminServer(lambda *call: None, access)


def test_it_ends_when_it_is_told_to_though_a_browser_hangs_on(tmp_path: Path) -> None:
    with world("sqlite", tmp_path) as core:
        access = access_to("127.0.0.1:0")
        server = AdminServer(create_app(Operations.on(core.store, core.clock), access), access)
        server.start()
        with httpx.Client(trust_env=False) as client:
            assert client.get(server.url).status_code == 200
            server.stop()
            with pytest.raises(httpx.ConnectError):
                client.get(server.url)


def test_it_can_be_stopped_before_it_was_started() -> None:
    server = AdminServer(lambda *call: None, access_to("127.0.0.1:0"))
    port = int(server.root.rpartition(":")[2])
    server.stop()
    with socket.socket() as after:
        after.bind(("127.0.0.1", port))


async def slow(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers after some time."""
    await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Of a server that waits 0.2 s for the head of a request, and a minute for another one."""
    monkeypatch.setattr(serving, "HEAD_S", 0.2)
    monkeypatch.setattr(serving, "KEEP_S", 60)
    with served() as found:
        yield found


@contextmanager
def served() -> Iterator[int]:
    """The port of a server that answers slowly."""
    access = access_to("127.0.0.1:0")
    server = WebServer(slow, access)
    server.start()
    try:
        yield int(server.root.rpartition(":")[2])
    finally:
        server.stop()


HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET / HT", HEAD], ids=["nothing", "a part of a line", "no end"])
def test_a_connection_on_which_no_request_arrives_is_closed(port: int, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(sent)
        assert connection.recv(100) == b""


def test_a_head_that_comes_in_pieces_for_ever_is_not_awaited_for_ever(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection, pytest.raises(OSError):
        connection.sendall(HEAD)
        for number in range(200):
            connection.sendall(b"X-%d: 1\r\n" % number)
            time.sleep(0.05)


def test_an_answer_may_take_longer_and_further_requests_have_their_own_time(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for _ in range(2):
            connection.sendall(HEAD + b"\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 204")
            time.sleep(2 * serving.HEAD_S)
        connection.sendall(HEAD)
        assert connection.recv(100) == b"", "the third came in part only"


def test_an_idle_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "KEEP_S", 0.2)
    with served() as port, socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(HEAD + b"\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 204")
        assert connection.recv(100) == b""
