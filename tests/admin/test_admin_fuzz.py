"""Whatever is asked for, the page answers, and never with a fault of its own."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, urlencode

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admin_world import Site, form_token, install_orders, install_shop, site

SHOP = "/admin/plugins/shop"
ODD = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["", "\0", "..", "/", "%2e%2e", "shop", "sync", "dead", "queued", "'", '"><b>', "\u202e", "0", "-1", "9" * 30]
    ),
)
QUERY = st.dictionaries(st.sampled_from(["job", "state", "after", "from", "payload", "next"]), ODD, max_size=4)
FIELDS = st.lists(
    st.tuples(st.sampled_from(["task", "one", "job", "confirmed", "typed", "from", "admin_token"]), ODD), max_size=8
)
LETTERS = tuple(f"dead-letters/{each}" for each in ("retry", "retry-all", "delete", "delete-all"))
ACTIONS = ("enable", "disable", "uninstall", *LETTERS)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a page over a core with two plugins."""
    with site(tmp_path_factory.mktemp("core")) as made:
        _fill(made)
        yield made.client()


def _fill(made: Site) -> None:
    install_shop(made)
    install_orders(made)
    made.bury(3)
    made.core.enqueue("orders", "sync", {"a": 1}, delayMs=60_000)


@settings(max_examples=120, deadline=None)
@given(st.lists(ODD, max_size=4), QUERY)
def test_no_address_makes_it_fail(asked: httpx.Client, parts: list[str], query: dict[str, str]) -> None:
    path = "/".join(("/admin/plugins", *(quote(part.encode("utf-8", "replace"), safe="") for part in parts)))
    answer = asked.get(f"{path}?{urlencode(query, errors='replace')}")
    assert answer.status_code in (200, 303, 307, 400, 404)


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(ACTIONS), FIELDS)
def test_no_form_makes_it_fail(asked: httpx.Client, action: str, fields: list[tuple[str, str]]) -> None:
    token = form_token(asked.get("/admin/plugins/orders/uninstall").text)
    body = urlencode([("token", token), *fields], errors="replace")
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = asked.post(f"{SHOP}/{action}", content=body, headers=kind)
    assert answer.status_code in (200, 303, 400, 404)
