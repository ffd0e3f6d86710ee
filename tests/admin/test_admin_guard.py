"""What every request has to pass: its name, its sender, its form; and the headers of every answer."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from admin_world import Site, form_token, install_shop, post, site, text_of
from nsplugin_core.admin.access import access_to
from nsplugin_core.admin.guard import HEADERS

TOKEN = "correct-horse-battery-staple"
SHOP = "/admin/plugins/shop"
PAGES = ("/admin/plugins", SHOP, f"{SHOP}/tasks", f"{SHOP}/uninstall", "/admin/plugins/none", "/nowhere", "/admin")


@pytest.mark.parametrize("path", [*PAGES, "/admin/static/admin.css", "/admin/static/none"])
def test_every_answer_is_kept_out_of_frames_and_other_sites(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "server" not in answer.headers


@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_stored_anywhere(client: httpx.Client, path: str) -> None:
    assert client.get(path).headers["cache-control"] == "no-store"


def test_the_policy_allows_no_inline_script_or_style_and_the_pages_have_none(client: httpx.Client) -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    for path in PAGES:
        page = client.get(path, follow_redirects=True).text
        assert " style=" not in page and "<style" not in page and " on" not in page.partition("<body>")[0]
        assert page.count("<script") == page.count('<script src="/admin/static/admin.js?v=') == 1


def test_another_name_is_refused(client: httpx.Client) -> None:
    """DNS rebinding."""
    for path in (*PAGES, "/admin/static/admin.css"):
        answer = client.get(path, headers={"Host": "evil.example"})
        assert answer.status_code == 421
        assert "It was asked for as 'evil.example'. Open it by its address" in text_of(answer.text)
        assert "shop" not in text_of(answer.text)


def posted(client: httpx.Client, headers: Mapping[str, str], token: str | None = None) -> httpx.Response:
    given = form_token(client.get(SHOP).text) if token is None else token
    return client.post(f"{SHOP}/disable", data={"token": given}, headers=headers)


def enabled(page: Site) -> bool:
    installed = page.core.store.registry.installed("shop")
    assert installed is not None
    return installed.plugin.enabled


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "file://"}, {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost:1"},
    ],
)  # fmt: skip
def test_a_post_of_another_site_is_refused_whatever_it_carries(
    page: Site, client: httpx.Client, headers: Mapping[str, str]
) -> None:
    answer = posted(client, headers)
    assert answer.status_code == 403
    assert "This form was sent by another site" in answer.text
    assert enabled(page)


@pytest.mark.parametrize("token", ["", "0" * 64, "ü"])
def test_a_post_without_the_form_s_token_is_refused(page: Site, client: httpx.Client, token: str) -> None:
    answer = posted(client, {}, token)
    assert answer.status_code == 403
    assert "This form is out of date" in answer.text
    assert enabled(page)


def test_a_token_is_no_good_in_another_browser(page: Site, client: httpx.Client) -> None:
    stolen = form_token(client.get(SHOP).text)
    other = page.client()
    other.get(SHOP)
    assert posted(other, {}, stolen).status_code == 403
    assert page.client().post(f"{SHOP}/disable", data={"token": stolen}).status_code == 403
    assert enabled(page)


def test_our_own_form_is_taken(page: Site, client: httpx.Client) -> None:
    assert posted(client, {"Origin": page.base, "Sec-Fetch-Site": "same-origin"}).status_code == 303
    assert not enabled(page)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (b"{}", "application/json", "a form of this page is sent as application/x-www-form-urlencoded"),
        (b"a=" + b"x" * 70_000, "application/x-www-form-urlencoded", "the form has more than 65536 bytes"),
        (b"a&" * 1_200, "application/x-www-form-urlencoded", "the form has more than 1100 fields"),
        (b"a=%ff\xff", "application/x-www-form-urlencoded", "the form has more than 1100 fields, or is not in UTF-8"),
    ],
)
def test_a_form_has_bounds(client: httpx.Client, body: bytes, kind: str, message: str) -> None:
    client.get(SHOP)
    answer = client.post(f"{SHOP}/disable", content=body, headers={"Content-Type": kind})
    assert (answer.status_code, message in text_of(answer.text)) == (400, True)


def test_cookies_are_out_of_scripts_and_other_sites_reach(client: httpx.Client) -> None:
    cookie = client.get(SHOP).headers["set-cookie"]
    assert "; HttpOnly; SameSite=Lax" in cookie and "; Path=/admin;" in cookie and "Secure" not in cookie


def test_two_cores_at_any_free_port_do_not_end_each_other_s_sessions(tmp_path: Path) -> None:
    """Browsers keep cookies by host, not by port."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with site(tmp_path / "one") as one, site(tmp_path / "two") as two, httpx.Client(trust_env=False, timeout=30) as browser:
        install_shop(one)
        token = form_token(browser.get(one.base + SHOP).text)
        browser.get(two.base + "/admin/plugins")
        answer = browser.post(f"{one.base}{SHOP}/disable", data={"token": token})
        assert answer.status_code == 303


def test_with_a_token_nothing_is_shown_before_the_login(tmp_path: Path) -> None:
    with site(tmp_path, access_to("127.0.0.1:0", token=TOKEN)) as page:
        install_shop(page)
        client = page.client()
        for path in PAGES:
            answer = client.get(path)
            assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/admin/login")
        assert client.get(SHOP, headers={"X-Nsplugin-Fragment": "1"}).status_code == 401
        login = client.get(f"{SHOP}?job=sync", follow_redirects=True)
        assert "Administration token" in login.text and 'value="/admin/plugins/shop?job=sync"' in login.text
        refused = client.post(f"{SHOP}/disable", data={"token": form_token(login.text)})
        assert refused.status_code == 401 and enabled(page)


def log_in(client: httpx.Client, token: str, target: str = SHOP) -> httpx.Response:
    page = client.get("/admin/login").text
    return client.post("/admin/login", data={"token": form_token(page), "admin_token": token, "next": target})


def test_the_token_lets_in_and_logging_out_ends_that(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with site(tmp_path, access_to("127.0.0.1:0", token=TOKEN)) as page, caplog.at_level(logging.INFO, "nsplugin.admin"):
        install_shop(page)
        client = page.client()
        wrong = log_in(client, "not the token")
        assert wrong.status_code == 403 and "That is not the token." in wrong.text
        assert "a wrong administration token came from 127.0.0.1" in caplog.messages
        assert client.get(SHOP).status_code == 303
        assert log_in(client, TOKEN).headers["location"] == SHOP
        kept = dict(client.cookies)
        assert client.get(SHOP).status_code == 200
        assert "Its tasks are kept" in post(client, f"{SHOP}/disable").text
        assert "administrator disabled shop" in caplog.messages
        assert client.get("/admin/login").headers["location"] == "/admin/plugins"
        post(client, "/admin/logout")
        assert client.get(SHOP).status_code == 303
        assert page.client(cookies=kept).get(SHOP).status_code == 303
        assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example", "/admin/plugins//evil", "/admin/plugins/\\evil", "/admin/plugins/a\r\nb", ""],
)
def test_a_login_leads_nowhere_else(tmp_path: Path, target: str) -> None:
    with site(tmp_path, access_to("127.0.0.1:0", token=TOKEN)) as page:
        assert log_in(page.client(), TOKEN, target).headers["location"] == "/admin/plugins"


def test_a_forged_login_is_refused(tmp_path: Path) -> None:
    """Login CSRF."""
    with site(tmp_path, access_to("127.0.0.1:0", token=TOKEN)) as page:
        answer = page.client().post("/admin/login", data={"admin_token": TOKEN})
        assert answer.status_code == 403 and "out of date" in answer.text


def test_behind_a_proxy_the_header_says_who_acts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    access = access_to("127.0.0.1:0", user_header="X-Forwarded-User", names=["jobs.example.org"])
    with site(tmp_path, access) as page, caplog.at_level(logging.INFO, "nsplugin.admin"):
        install_shop(page)
        nobody = page.client()
        refused = nobody.get(SHOP)
        assert refused.status_code == 403 and "say who you are in the header X-Forwarded-User" in text_of(refused.text)
        assert nobody.get("/admin/login").status_code == 404
        headers = {"X-Forwarded-User": "ada <b>", "Host": "jobs.example.org", "X-Forwarded-Proto": "https"}
        ada = page.client(headers=headers)
        seen = ada.get(SHOP)
        assert "ada &lt;b&gt;" in seen.text and "; Secure" in seen.headers["set-cookie"]
        own = {"token": form_token(seen.text)}
        cookies = {"cookie": seen.headers["set-cookie"].partition(";")[0], "Origin": "https://jobs.example.org"}
        assert ada.post(f"{SHOP}/disable", data=own, headers=cookies).status_code == 303
        assert "ada <b> disabled shop" in caplog.messages
        bob = page.client(headers=headers | {"X-Forwarded-User": "bob"})
        assert bob.post(f"{SHOP}/enable", data=own, headers=cookies).status_code == 403


def test_two_names_from_the_proxy_are_none(tmp_path: Path) -> None:
    access = access_to("127.0.0.1:0", user_header="X-Forwarded-User")
    with site(tmp_path, access) as page:
        client = page.client()
        assert client.get("/admin/plugins", headers=[("X-Forwarded-User", "bob")]).status_code == 200
        both = [("X-Forwarded-User", "bob"), ("X-Forwarded-User", "eve")]
        assert client.get("/admin/plugins", headers=both).status_code == 403


def test_only_a_proxy_that_is_named_is_believed(tmp_path: Path) -> None:
    access = access_to("127.0.0.1:0", user_header="X-Forwarded-User")
    with site(tmp_path, replace(access, proxies=())) as page:
        answer = page.client(headers={"X-Forwarded-User": "ada"}).get(SHOP)
        assert answer.status_code == 403 and "127.0.0.1 is none that --trusted-proxy names" in text_of(answer.text)


def test_a_fault_of_ours_shows_nothing_of_itself(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def broken(plugin: str) -> str:
        raise RuntimeError("secret inside")

    with site(tmp_path, notice=broken) as page:
        install_shop(page)
        answer = page.client().get("/admin/plugins")
    assert (answer.status_code, "secret" in answer.text) == (500, False)
    assert "That is a fault of nsplugin. The core's log says what happened." in text_of(answer.text)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "the administration page failed at GET /admin/plugins" in caplog.messages


def test_a_database_that_is_away_is_said_to_be(page: Site, client: httpx.Client) -> None:
    page.core.store.close()
    answer = client.get("/admin/plugins")
    assert (answer.status_code, "The database does not answer" in answer.text) == (503, True)
