"""Where the administration page is served and to whom (spec/core.md Administration page)."""

from __future__ import annotations

import pytest

from nsplugin_core.admin.access import AccessRefused, access_to

TOKEN = "correct-horse-battery"
NO_ADDRESS = "is no HOST:PORT for the administration page; write 127.0.0.1:8080, or [::1]:8080"


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "127.8.9.1:0", "core.localhost:1"])
def test_loopback_needs_nothing(address: str) -> None:
    assert not access_to(address).asks


@pytest.mark.parametrize(
    "address", ["0.0.0.0:8080", "[::]:8080", "10.0.0.7:8080", "jobs.example.org:80", "localhost.example.org:80"]
)
def test_elsewhere_nothing_is_served_without_a_token_or_a_proxy(address: str) -> None:
    with pytest.raises(AccessRefused, match=r"open to everyone who reaches .*--admin-token.*--trusted-user-header.*SSH"):
        access_to(address)
    assert access_to(address, token=TOKEN).asks
    assert access_to(address, user_header="X-Forwarded-User").asks


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("8080", "'8080' is no HOST:PORT for the administration page; write 127.0.0.1:8080, or [::1]:8080"),
        (":8080", "':8080' is no HOST:PORT for the administration page; write 127.0.0.1:8080, or [::1]:8080"),
        ("::1:8080", "'::1:8080' is no HOST:PORT for the administration page; write 127.0.0.1:8080, or [::1]:8080"),
        (
            "localhost:65536",
            "'localhost:65536' is no HOST:PORT for the administration page; write 127.0.0.1:8080, or [::1]:8080",
        ),
        ("[local]:80", "'local' is no IPv6 address; write [::1]:8080"),
        ("ü.localhost:80", "'ü.localhost' can't be listened at: write the name as DNS has it (xn--...), or 127.0.0.1:8080"),
    ],
)
def test_an_address_that_is_none_is_refused(address: str, message: str) -> None:
    with pytest.raises(AccessRefused) as refused:
        access_to(address)
    assert str(refused.value) == message


@pytest.mark.parametrize("token", ["", "short", "with a space in it somewhere", "ümlaut-ümlaut-ümlaut", "line-in-the-token\n"])
def test_a_weak_token_is_refused(token: str) -> None:
    with pytest.raises(AccessRefused, match="at least 16 characters of printable ASCII without spaces; make one: python3 -c"):
        access_to("127.0.0.1:0", token=token)


def test_what_else_is_misspelt_is_refused_with_an_example() -> None:
    with pytest.raises(AccessRefused, match=r"'X User:' is no name of an HTTP header; write .* X-Forwarded-User"):
        access_to("127.0.0.1:0", user_header="X User:")
    with pytest.raises(AccessRefused, match=r"'https://x' is no host name; write .*--admin-name jobs\.example\.org"):
        access_to("127.0.0.1:0", names=["https://x"])
    with pytest.raises(AccessRefused, match=r"'proxy' is no address of a proxy; write --trusted-proxy 10\.0\.0\.5"):
        access_to("127.0.0.1:0", proxies=["proxy"])


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1", True), ("127.0.0.1:99", True), ("[::1]:8080", True), ("localhost:8080", True), ("LOCALHOST", True),
        ("x.localhost:1", True), ("10.0.0.7:8080", True), ("jobs.example.org", True), ("jobs.example.org.:443", True),
        ("evil.example:8080", False), ("", False), ("localhost.evil.example", False), ("127.0.0.1.evil.example", False),
        ("evil.example/127.0.0.1", False), ("2130706433", False), ("jobs.example.org@evil.example", False), ("[::1", False),
    ],
)  # fmt: skip
def test_only_names_that_nobody_else_can_point_here_are_known(host: str, known: bool) -> None:
    """DNS rebinding: an address or localhost is not looked up in anybody's DNS."""
    assert access_to("127.0.0.1:8080", names=["Jobs.example.org"]).is_named(host) is known


@pytest.mark.parametrize(
    ("peer", "value", "user"),
    [
        ("127.0.0.1", "ada", None), ("::1", "ada", None), ("10.0.0.5", " ada ", "ada"), ("::ffff:10.0.0.5", "ada", "ada"),
        ("10.0.0.6", "ada", None), (None, "ada", None), ("testclient", "ada", None), ("10.0.0.5", "  ", None),
        ("10.0.0.5", None, None),
    ],
)  # fmt: skip
def test_a_proxy_s_word_is_taken_from_a_proxy_only(peer: str | None, value: str | None, user: str | None) -> None:
    access = access_to("0.0.0.0:80", user_header="X-Forwarded-User", proxies=["10.0.0.5"])
    assert access.proxied_user(peer, value) == user


@pytest.mark.parametrize(("peer", "user"), [("127.0.0.1", "ada"), ("::1", "ada"), ("10.0.0.5", None)])
def test_where_no_proxy_is_named_it_is_on_this_machine(peer: str, user: str | None) -> None:
    assert access_to("127.0.0.1:80", user_header="X-Forwarded-User").proxied_user(peer, "ada") == user


def test_without_a_configured_header_no_header_names_a_user() -> None:
    assert access_to("127.0.0.1:80", token=TOKEN).proxied_user("127.0.0.1", "ada") is None
