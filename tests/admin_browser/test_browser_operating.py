"""Listing, retrying, deleting, switching: by mouse, by keyboard alone, and without JavaScript."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from admin_scenery import furnish
from admin_world import Site
from browser_pages import tab
from engine_world import nextskin

SHOP = "/admin/plugins/shop"
STEPS = 200
LIMIT_S = 0.3


def states(site: Site, ids: list[str]) -> list[str | None]:
    tasks = [site.core.store.tasks.task(each) for each in ids]
    return [task and task.state for task in tasks]


def name_of(element: Locator) -> str:
    return " ".join((element.get_attribute("aria-label") or element.text_content() or "").split())


def walk_to(page: Page, name: str) -> None:
    """Press Tab until the element of that accessible name has the focus."""
    for _ in range(STEPS):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() and name_of(focused) == name:
            return
    raise AssertionError(f"no way to {name!r} by Tab")


@pytest.fixture(params=[True, False], ids=["script", "no-script"])
def page(browser: Browser, request: pytest.FixtureRequest, page_site: Site) -> Page:
    """A tab on the plugin's page, with JavaScript and without."""
    context = tab(browser, java_script_enabled=request.param, base_url=page_site.base)
    made = context.__enter__()
    request.addfinalizer(lambda: context.__exit__(None, None, None))
    return made


def test_plugins_are_listed_and_lead_to_their_pages(page: Page, page_site: Site) -> None:
    furnish(page_site)
    page.goto("/admin")
    rows = page.get_by_role("table", name="Installed plugins").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("Disabled")
    page.get_by_role("link", name="orders", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("orders")
    expect(page.get_by_role("heading", name="FAILED runs 1")).to_be_visible()
    page.get_by_role("link", name="3 SUCCEEDED", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("SUCCEEDED runs")
    expect(page.get_by_role("table").get_by_role("row")).to_have_count(4)


def test_a_dead_letter_is_retried(page: Page, page_site: Site) -> None:
    ids = page_site.bury(2)
    page.goto(SHOP)
    page.get_by_role("button", name=f"Retry sync {ids[0]}").click()
    expect(page.get_by_role("status")).to_have_text("1 dead letter was queued again.")
    assert states(page_site, ids) == ["queued", "dead"]
    expect(page.get_by_role("link", name="1 queued", exact=True)).to_be_visible()


def test_selected_dead_letters_are_deleted_once_confirmed(page: Page, page_site: Site) -> None:
    ids = page_site.bury(3)
    page.goto(SHOP)
    for task in ids[:2]:
        page.get_by_role("checkbox", name=f"Select sync {task}").check()
    page.get_by_role("button", name="Delete selected…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Delete 2 dead letters?")
    page.get_by_role("link", name="Cancel").click()
    assert states(page_site, ids) == ["dead"] * 3
    page.get_by_role("button", name=f"Delete sync {ids[2]}…").click()
    page.get_by_role("button", name="Delete 1 dead letter").click()
    expect(page.get_by_role("status")).to_have_text("1 dead letter was deleted.")
    assert states(page_site, ids) == ["dead", "dead", None]


def test_a_plugin_is_disabled_enabled_and_uninstalled(page: Page, page_site: Site) -> None:
    page.goto(SHOP)
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Disabled")
    page.get_by_role("button", name="Enable").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Enabled")
    page.get_by_role("link", name="Uninstall…").click()
    page.get_by_label("Type shop to confirm").fill("shopp")
    page.get_by_role("button", name="Uninstall shop").click()
    expect(page.get_by_role("status")).to_have_text("Nothing was removed: what was typed is not the plugin's id, shop.")
    page.get_by_label("Type shop to confirm").fill("shop")
    page.get_by_role("button", name="Uninstall shop").click()
    expect(page.get_by_text("No plugin is installed in this core.")).to_be_visible()
    assert page_site.core.store.registry.installed("shop") is None


def test_a_payload_is_shown_on_demand(page: Page, page_site: Site) -> None:
    (task,) = page_site.bury(1)
    page.goto(SHOP)
    page.get_by_role("link", name=re.compile(f"Show the payload of {task}")).click()
    expect(page.get_by_role("region", name="Payload")).to_contain_text('"number": 0')
    page.get_by_role("link", name="Hide the payload").click()
    expect(page.get_by_text('"number": 0')).to_have_count(0)


def test_the_keyboard_alone_does_it_all(page: Page, page_site: Site) -> None:
    first, second, third = page_site.bury(3)
    page.goto(SHOP)
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    page.keyboard.press("Enter")
    walk_to(page, f"Select sync {second}")
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    expect(page.get_by_role("checkbox", name=f"Select sync {second}")).to_be_checked()
    assert states(page_site, [first, second, third]) == ["dead"] * 3
    walk_to(page, "Retry selected")
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_have_text("1 dead letter was queued again.")
    walk_to(page, f"Delete sync {first}…")
    page.keyboard.press("Enter")
    walk_to(page, "Delete 1 dead letter")
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_have_text("1 dead letter was deleted.")
    assert states(page_site, [first, second, third]) == [None, "queued", "dead"]
    walk_to(page, "Disable shop")
    page.keyboard.press("Space")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Disabled")


def test_what_has_the_focus_is_seen_to_have_it(page: Page, page_site: Site) -> None:
    page_site.bury(1)
    page.goto(SHOP)
    seen = set()
    for _ in range(STEPS):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if not focused.count():
            break
        if focused.evaluate("node => node === document.activeElement && node.tagName !== 'BODY'"):
            style = focused.evaluate("node => getComputedStyle(node).outlineStyle + getComputedStyle(node).outlineWidth")
            seen.add(style)
    assert seen == {"solid3px"}


def test_ten_thousand_dead_letters_come_in_pages(page: Page, page_site: Site) -> None:
    """A page of 10,000 dead letters opens in 300 ms; the best of many loads, since other work goes on beside this."""
    page_site.core.install(nextskin("shop", jobs={"sync": {"maxAttempts": 1}}))
    page_site.bury_many(10_000)
    took: list[float] = []
    while len(took) < 3 or (min(took) >= LIMIT_S and len(took) < 50):
        started = time.perf_counter()
        page.goto(SHOP, wait_until="commit")
        took.append(time.perf_counter() - started)
    expect(page.get_by_role("navigation", name="Pages of dead letters")).to_contain_text("1–50 of 10,000")
    expect(page.get_by_role("checkbox", name="Select sync")).to_have_count(50)
    page.get_by_role("link", name="Next page").click()
    expect(page.get_by_role("navigation", name="Pages of dead letters")).to_contain_text("51–100 of 10,000")
    page.get_by_role("link", name="First page").click()
    expect(page.get_by_role("navigation", name="Pages of dead letters")).to_contain_text("1–50 of 10,000")
    assert min(took) < LIMIT_S
