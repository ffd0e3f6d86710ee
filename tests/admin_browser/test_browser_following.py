"""With JavaScript a page follows the core by itself, and leaves its reader's place alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from admin_world import Site
from browser_pages import ask_again, tab

SHOP = "/admin/plugins/shop"


@pytest.fixture
def page(browser: Browser, page_site: Site) -> Iterator[Page]:
    """A tab on the plugin's page."""
    with tab(browser, base_url=page_site.base) as made:
        yield made


def fetched_by(page: Page) -> list[str]:
    """The pages that the script asks for from now on."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.resource_type == "fetch" else None)
    return asked


def test_a_new_dead_letter_appears_by_itself(page: Page, page_site: Site) -> None:
    page_site.bury(1)
    page.goto(SHOP)
    (new,) = page_site.bury(1)
    expect(page.get_by_role("checkbox", name=f"Select sync {new}")).to_be_visible()
    expect(page.get_by_role("heading", name="Dead letters 2")).to_be_visible()
    expect(page.locator("#announcer")).to_have_text("0 queued, 0 running, 2 dead")


def test_focus_ticks_and_open_lists_stay(page: Page, page_site: Site) -> None:
    first, second = page_site.bury(2)
    page.goto(SHOP)
    page.get_by_role("checkbox", name=f"Select sync {first}").check()
    button = page.get_by_role("button", name=f"Retry sync {second}")
    button.focus()
    page.evaluate("window.kept = document.activeElement")
    page_site.bury(2)
    ask_again(page)
    expect(page.get_by_role("checkbox", name="Select sync")).to_have_count(4)
    expect(page.get_by_role("checkbox", name=f"Select sync {first}")).to_be_checked()
    expect(button).to_be_focused()
    assert page.evaluate("window.kept === document.activeElement")


def test_a_list_that_is_being_chosen_from_is_left_alone(page: Page, page_site: Site) -> None:
    page_site.bury(1)
    page.goto(SHOP)
    page.get_by_label("Job", exact=True).focus()
    page.get_by_label("Job", exact=True).select_option("mail")
    page_site.bury(1)
    ask_again(page)
    expect(page.get_by_role("link", name="2 dead", exact=True)).to_be_visible()
    expect(page.get_by_label("Job", exact=True)).to_have_value("mail")
    expect(page.get_by_role("checkbox", name="Select sync")).to_have_count(1)


def test_text_that_is_being_copied_stays_selected(page: Page, page_site: Site) -> None:
    page_site.bury(1, error="copy me")
    page.goto(SHOP)
    page.locator("#dead-letters .error").select_text()
    page_site.bury(1)
    ask_again(page)
    expect(page.get_by_role("link", name="2 dead", exact=True)).to_be_visible()
    assert page.evaluate("getSelection().toString()") == "copy me"


def test_focus_is_not_lost_with_what_had_it(page: Page, page_site: Site) -> None:
    first, _ = page_site.bury(2)
    page.goto(SHOP)
    page.get_by_role("button", name=f"Retry sync {first}").focus()
    page_site.core.store.tasks.delete([first], plugin="shop")
    ask_again(page)
    expect(page.locator("#dead-letters")).to_be_focused()


def test_updates_can_be_paused_and_resumed(page: Page, page_site: Site) -> None:
    page.goto(SHOP)
    page.get_by_role("button", name="Pause updates").click()
    page_site.bury(1)
    asked = fetched_by(page)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    page.wait_for_timeout(300)
    assert asked == []
    page.reload()
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    page_site.bury(1)
    page.get_by_role("button", name="Resume updates").click()
    expect(page.get_by_role("heading", name="Dead letters 2")).to_be_visible()


def test_a_hidden_page_asks_for_nothing(page: Page, page_site: Site) -> None:
    page.goto(SHOP)
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true, configurable: true})")
    asked = fetched_by(page)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(300)
    assert asked == []
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => false})")
    ask_again(page)
    assert len(asked) == 1


def test_an_uninstalled_plugin_s_page_says_so_and_asks_no_more(browser: Browser, page_site: Site) -> None:
    with tab(browser, base_url=page_site.base, complaints=True) as page:
        page.goto(SHOP)
        page_site.core.registry.uninstall("shop")
        ask_again(page)
        expect(page.locator("#announcer")).to_have_text("This is not here any more")
        expect(page.get_by_role("button", name="Pause updates")).to_be_hidden()


def test_a_core_that_does_not_answer_is_said_not_to(browser: Browser, page_site: Site) -> None:
    with tab(browser, base_url=page_site.base, complaints=True) as page:
        page.goto(SHOP)
        page.context.set_offline(True)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.locator("[data-refresh-state]")).to_have_text("The core does not answer; trying again")
        page.context.set_offline(False)
        ask_again(page)
        expect(page.locator("[data-refresh-state]")).to_have_text("Live")


def test_a_payload_that_is_shown_stays_and_is_not_fetched_again(page: Page, page_site: Site) -> None:
    (task,) = page_site.bury(1)
    page.goto(f"{SHOP}/tasks/{task}?payload=shown")
    asked = fetched_by(page)
    ask_again(page)
    assert asked == [f"{page_site.base}{SHOP}/tasks/{task}"]
    expect(page.get_by_role("region", name="Payload")).to_contain_text('"number": 0')


def test_all_on_a_page_are_ticked_at_once(page: Page, page_site: Site) -> None:
    ids = page_site.bury(3)
    page.goto(SHOP)
    page.get_by_label("Select all on this page").check()
    for task in ids:
        expect(page.get_by_role("checkbox", name=f"Select sync {task}")).to_be_checked()
    page.get_by_role("checkbox", name=f"Select sync {ids[0]}").uncheck()
    assert page.get_by_label("Select all on this page").evaluate("node => node.indeterminate")
    page.get_by_role("button", name="Retry selected").click()
    expect(page.get_by_role("status")).to_have_text("2 dead letters were queued again.")
