"""The administration page of ``nsplugin serve``, as a process."""

from __future__ import annotations

import re

import httpx
import pytest
from click.testing import CliRunner

from nsplugin_cli.group import cli
from service_world import Served, Site
from waiting import until

NOTE = """
    def work(payload, attempt, ctx):
        note(f"{attempt}")
    plugin = define_plugin(jobs={"work": {"handler": work, "maxAttempts": 1}})
"""
TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')


def log(served: Served) -> str:
    return served.log.read_text(encoding="utf-8")


def test_what_is_disabled_on_the_page_waits_until_it_is_enabled_there(local: Site) -> None:
    local.install(NOTE)
    served = local.serve("--admin", "127.0.0.1:0")
    address = until(lambda: re.search(r"administration page at (http://[^/\"]+)", log(served)), "the page's address")
    with httpx.Client(base_url=address[1], trust_env=False, follow_redirects=True) as client:

        def press(action: str) -> str:
            token = TOKEN.search(client.get("/admin/plugins/shop").text)
            assert token is not None
            return client.post(f"/admin/plugins/shop/{action}", data={"token": token[1]}).text

        assert "shop is disabled." in press("disable")
        local.enqueue("work")
        assert ">1</span>" in client.get("/admin/plugins/shop").text
        assert local.diary() == []
        assert "shop is enabled." in press("enable")
        until(local.diary, "the task")
    assert served.stop() == 0
    assert "local disabled shop" in log(served)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--admin", "0.0.0.0:0"], "--admin: the administration page would be open to everyone who reaches 0.0.0.0: give"),
        (["--admin", "8080"], "--admin: '8080' is no HOST:PORT for the administration page; write 127.0.0.1:8080"),
        (["--admin-name", "x.example"], "there is no administration page to protect: name its address with --admin HOST:PORT"),
    ],
)
def test_what_would_not_be_safe_is_a_wrong_call(local: Site, options: list[str], message: str) -> None:
    result = CliRunner().invoke(cli, ["serve", "--database", local.url, *options], standalone_mode=False)
    assert message in str(result.exception)
