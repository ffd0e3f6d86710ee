"""How the page looks and reads: axe without findings, narrow windows, light and dark, and the pictures of the docs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from admin_world import HOSTILE_ERROR, Site
from browser_pages import NARROW, WIDE, overflow, tab
from engine_world import Ending

SHOP = "/admin/plugins/shop"
IMAGES = Path(__file__).parents[2] / "docs/images"
PAGES = {
    "plugins": "/admin/plugins",
    "shop": SHOP,
    "orders": "/admin/plugins/orders",
    "disabled": "/admin/plugins/newsletter",
    "queued": f"{SHOP}/tasks?state=queued",
    "task": f"{SHOP}/tasks/{{task}}?payload=shown",
    "uninstall": f"{SHOP}/uninstall",
    "refusal": "/admin/plugins/shpo",
}
PICTURES = {"admin-plugins": ("plugins", "light"), "admin-plugin": ("shop", "light"), "admin-plugin-dark": ("orders", "dark")}


def findings(page: Page) -> list[str]:
    """What axe finds, however small: the rule, and where."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{each['id']}: {[node['html'] for node in each['nodes']][:3]}" for each in found]


@pytest.mark.parametrize("window", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, furnished: tuple[Site, list[str]], scheme: str, window: dict[str, int]) -> None:
    site, dead = furnished
    found = {}
    with tab(browser, base_url=site.base, color_scheme=scheme, viewport=window, complaints=True, bypass_csp=True) as page:
        for name, path in PAGES.items():
            page.goto(path.format(task=dead[-1]))
            found[name] = findings(page)
        page.goto(SHOP)
        page.get_by_label("Select all on this page").check()
        page.get_by_role("button", name="Delete selected…").click()
        found["confirm"] = findings(page)
    assert {name: each for name, each in found.items() if each} == {}


def test_axe_would_find_something(browser: Browser, furnished: tuple[Site, list[str]]) -> None:
    site, _ = furnished
    with tab(browser, base_url=site.base, bypass_csp=True) as page:
        page.goto(SHOP)
        page.evaluate("document.querySelector('main h2').style.color = '#ccc'; document.getElementById('job').id = 'other'")
        assert sorted(each.partition(":")[0] for each in findings(page)) == ["color-contrast", "select-name"]


def test_nothing_is_wider_than_a_window_of_320_pixels(browser: Browser, furnished: tuple[Site, list[str]]) -> None:
    site, dead = furnished
    with tab(browser, base_url=site.base, viewport=NARROW, complaints=True) as page:
        for path in PAGES.values():
            page.goto(path.format(task=dead[-1]))
            assert (path, overflow(page)) == (path, 0)


def test_long_words_break(browser: Browser, page_site: Site) -> None:
    page_site.core.hosts.script = lambda attempt: Ending("failure", error="x" * 490)
    page_site.core.enqueue(payload={"k" * 300: "v" * 3000}, dedupeKey="ổ" * 255)
    page_site.core.step()
    page_site.bury(1, error=HOSTILE_ERROR)
    with tab(browser, base_url=page_site.base, viewport=NARROW) as page:
        for path in (SHOP, f"{SHOP}/tasks?state=dead"):
            page.goto(path)
            assert overflow(page) == 0
            page.get_by_role("link", name="TSK").first.click()
            page.get_by_role("link", name="Show the payload").click()
            assert overflow(page) == 0


def test_a_narrow_table_is_still_a_table_to_those_who_hear_it(browser: Browser, furnished: tuple[Site, list[str]]) -> None:
    site, _ = furnished
    with tab(browser, base_url=site.base, viewport=NARROW) as page:
        page.goto(SHOP)
        table = page.get_by_role("table", name="Jobs, their limits and their tasks by state")
        expect(table.get_by_role("columnheader")).to_have_count(6)
        expect(table.get_by_role("row")).to_have_count(4)
        expect(table.get_by_role("rowheader", name="cache-expiry")).to_be_visible()
        expect(table.get_by_role("row").nth(1).get_by_role("cell")).to_have_count(5)


def test_dark_is_dark(browser: Browser, furnished: tuple[Site, list[str]]) -> None:
    site, _ = furnished
    grounds = []
    for scheme in ("light", "dark"):
        with tab(browser, base_url=site.base, color_scheme=scheme) as page:
            page.goto("/admin/plugins")
            grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(246, 246, 243)", "rgb(20, 24, 26)"]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_the_docs(browser: Browser, furnished: tuple[Site, list[str]], tmp_path: Path, name: str) -> None:
    """`make update` writes them to docs/images; otherwise they are taken and thrown away."""
    site, _ = furnished
    path, scheme = PICTURES[name]
    folder = IMAGES if os.environ.get("NSPLUGIN_UPDATE") else tmp_path
    folder.mkdir(exist_ok=True)
    with tab(browser, base_url=site.base, color_scheme=scheme) as page:
        page.goto(PAGES[path])
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        page.screenshot(path=folder / f"{name}.png")
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
