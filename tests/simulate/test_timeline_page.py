"""The timeline as a page: one file, no script, nothing of a plugin's taken as HTML; judged by axe in a browser."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from browser_pages import tab
from nsplugin_core import timeline
from nsplugin_core.simulation import Simulation, simulate
from nsplugin_core.simulation.scenario import EnqueueOrder, Hits, Scenario, SimulatedPlugin
from simulated import at, nextskin, run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
IMAGES = Path(__file__).parents[2] / "docs/images"


def _simulation() -> Simulation:
    manifest = nextskin([("30 2 * * *", "sync")], sync={"maxAttempts": 2}, tidy={})
    job = ("stock", "sync")
    return run(
        manifest, "2026-03-07T00:00", "2026-03-10T00:00", timezone="America/New_York", fail={job: Hits(chance=0.6)},
        outages=((at("2026-03-09T06:00"), at("2026-03-09T07:00")),), exits={job: 1},
    )  # fmt: skip


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_the_page_stands_alone() -> None:
    page = _Page(timeline.render_html(_simulation()))
    assert {"html", "title", "svg", "desc", "table", "th", "caption", "main", "h1"} <= set(page.tags)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    loads = [value for name, value in page.attributes if name in ("src", "href") and not (value or "").startswith("#")]
    assert loads == []
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


def test_it_says_what_the_text_says() -> None:
    simulation = _simulation()
    page = timeline.render_html(simulation)
    assert "The core is down" in page and "02:30 does not exist and runs at 03:00" in page
    assert f"<dt>Attempts</dt><dd>{simulation.summary.attempts}</dd>" in page


def test_an_error_message_is_never_html(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text(
        f"from nsplugin import define_plugin\ndef sync(): raise OSError({EVIL!r})\n"
        "plugin = define_plugin({'id': 'stock', 'jobs': {'sync': {'handler': sync}}})\n"
    )
    order = EnqueueOrder(at=at("2026-03-07T00:00"), job=("stock", "sync"), payload={})
    plugin = SimulatedPlugin(manifest=nextskin(sync={}), folder=tmp_path)
    found = simulate(Scenario(plugins=(plugin,), start=order.at, end=order.at + 60_000, timezone="UTC", enqueues=(order,)))
    page = timeline.render_html(found)
    assert "&lt;script&gt;alert(1)" in page
    assert not {"script", "img"} & set(_Page(page).tags)


def test_days_of_failures_make_a_page_of_bounded_size() -> None:
    job = ("stock", "sync")
    found = run(nextskin([("*/10 * * * *", "sync")]), "2026-06-01T00:00", "2026-06-06T00:00", fail={job: Hits(chance=0.9)})
    page = timeline.render_html(found)
    assert "The first 2,000 entries are listed" in page
    assert len(page) < 800_000


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_the_page_works_by_keyboard(
    tmp_path: Path, browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    """`make update` keeps the picture of the light one for the docs; otherwise it is taken and thrown away."""
    from axe_playwright_python.sync_playwright import Axe

    file = tmp_path / "page.html"
    file.write_text(timeline.render_html(_simulation()), encoding="utf-8")
    picture = (IMAGES if os.environ.get("NSPLUGIN_UPDATE") and scheme == "light" else tmp_path) / "simulation.png"
    with tab(browser, color_scheme=scheme, bypass_csp=True, viewport={"width": 1100, "height": 760}) as page:
        page.goto(file.as_uri())
        page.screenshot(path=picture)
        found = Axe().run(page).response["violations"]
        focused = []
        for _ in range(3):
            page.keyboard.press("Tab")
            focused.append(
                page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")
            )
    assert [each["id"] for each in found] == []
    assert focused == ["Skip to what happened", "Timeline, drawn", "Saturday 2026-03-07"]
    assert picture.read_bytes().startswith(b"\x89PNG")
