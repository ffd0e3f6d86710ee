"""The administration page on a socket."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx
import pytest

from engine_world import world
from nsplugin_core.admin.access import AccessRefused, access_to
from nsplugin_core.admin.app import create_app
from nsplugin_core.admin.serving import AdminServer
from nsplugin_core.operations import Operations


def test_a_taken_port_is_said_to_be() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(AccessRefused) as refused:
            AdminServer(lambda *call: None, access_to(f"127.0.0.1:{port}"))  # type: ignore[arg-type, return-value]
    assert str(refused.value) == f"127.0.0.1:{port} is taken by another program; name another port, or 0 for any free one"


def test_an_address_of_another_machine_is_said_to_be() -> None:
    access = access_to("192.0.2.1:80", token="correct-horse-battery")
    with pytest.raises(AccessRefused, match=r"192\.0\.2\.1:80 is no address of this machine; 127\.0\.0\.1 always is"):
        AdminServer(lambda *call: None, access)  # type: ignore[arg-type, return-value]


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
    AdminServer(lambda *call: None, access_to("127.0.0.1:0")).stop()  # type: ignore[arg-type, return-value]
