"""A real Chromium, and tabs in it that complain about what the console complains about."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = ("chromium", "chromium-browser")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE_MS = 20_000
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 320, "height": 640}


def chromium() -> str:
    """Where the Debian package's Chromium is; skips without."""
    found = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no chromium here: nothing is known about the page in a browser; install the Debian package chromium")
    return found


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def tab(browser: Browser, *, complaints: bool = False, **options: Any) -> Iterator[Page]:
    """A tab with cookies of its own. What its console says fails the test, unless it may complain."""
    context = browser.new_context(**{"viewport": WIDE, **options})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    try:
        yield page
    finally:
        context.close()
    assert complaints or said == []


def ask_again(page: Page) -> None:
    """Let the page look at the core now, as it does when its tab is shown again."""
    with page.expect_response(lambda answer: "x-nsplugin-fragment" in answer.request.headers):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def overflow(page: Page) -> int:
    """How many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
