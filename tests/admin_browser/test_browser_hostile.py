"""What a plugin, or another site, does to the page: nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

from playwright.sync_api import Browser, expect

from admin_world import HOSTILE_ERROR, MARKUP, Site, install_shop, site
from browser_pages import tab
from engine_world import Ending
from nsplugin_core.admin.access import access_to

SHOP = "/admin/plugins/shop"
TOKEN = "correct-horse-battery-staple"


class Evil(BaseHTTPRequestHandler):
    page: ClassVar[str] = ""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.page.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def other_site(markup: str) -> Iterator[str]:
    """Another site's page: ``localhost`` is no part of ``127.0.0.1``."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Other", (Evil,), {"page": markup}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def enabled(page_site: Site) -> bool:
    installed = page_site.core.store.registry.installed("shop")
    assert installed is not None
    return installed.plugin.enabled


def test_a_payload_and_an_error_made_of_html_are_text(browser: Browser, page_site: Site) -> None:
    page_site.core.hosts.script = lambda attempt: Ending("failure", error=HOSTILE_ERROR)
    task = page_site.core.enqueue(payload={"markup": MARKUP, "</pre><script>document.title='owned'</script>": 1}).task_id
    page_site.core.step()
    with tab(browser, base_url=page_site.base) as page:
        for path in (SHOP, f"{SHOP}/tasks/{task}?payload=shown", f"{SHOP}/tasks?state=dead"):
            page.goto(path)
            expect(page.get_by_text(MARKUP).first).to_be_visible()
            expect(page).not_to_have_title("owned")
            assert page.locator("main img, main script").count() == 0
        expect(page.get_by_text("<U+202E>gnp.exe<U+001B>[31m").first).to_be_visible()


def test_a_script_that_got_in_would_not_run(browser: Browser, page_site: Site) -> None:
    """The policy is the second wall."""
    with tab(browser, base_url=page_site.base, complaints=True) as page:
        page.goto(SHOP)
        blocked = page.evaluate(
            """async () => {
                const blocked = [];
                document.addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
                const holder = document.createElement("div");
                holder.innerHTML = "<img src=x onerror='document.title=1'><p style='color:red'>x</p>";
                document.body.append(holder);
                const script = document.createElement("script");
                script.textContent = "document.title = 'owned'";
                document.body.append(script);
                const frame = document.createElement("iframe");
                frame.src = "https://evil.example/";
                document.body.append(frame);
                await new Promise((done) => setTimeout(done, 300));
                return [...new Set(blocked)].sort();
            }"""
        )
        assert {"script-src-attr", "script-src-elem", "style-src-attr", "frame-src"} <= set(blocked)
        expect(page).to_have_title("shop – nsplugin")


def test_a_forged_post_of_another_site_does_nothing(browser: Browser, page_site: Site) -> None:
    forged = f"""<form method=post action="{page_site.base}{SHOP}/disable"><input name=token value={"0" * 64}></form>
        <script>document.forms[0].submit()</script>"""
    with other_site(forged) as evil, tab(browser, complaints=True) as page:
        page.goto(page_site.base + SHOP)
        page.goto(evil)
        expect(page.get_by_role("heading", level=1)).to_have_text("This form was sent by another site")
        assert enabled(page_site)


def test_a_forged_post_with_a_stolen_token_does_nothing(browser: Browser, page_site: Site) -> None:
    """Neither by form nor by script, and not by way of a page that is framed."""
    with tab(browser, complaints=True) as page:
        page.goto(page_site.base + SHOP)
        token = page.locator("input[name=token]").first.get_attribute("value")
        markup = f"""<iframe src="{page_site.base}{SHOP}"></iframe><script>
            const send = () => fetch("{page_site.base}{SHOP}/disable", {{
              method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({{token: "{token}"}}),
            }}).then(() => document.title = "sent", () => document.title = "failed");
            send();
        </script>"""
        with other_site(markup) as evil:
            page.goto(evil)
            page.wait_for_function("document.title === 'sent' || document.title === 'failed'")
            framed = page.frames[1]
            assert "shop" not in framed.locator("body").inner_text()
        assert enabled(page_site)


def test_another_site_cannot_read_the_page(browser: Browser, page_site: Site) -> None:
    markup = f"""<script>
        fetch("{page_site.base}{SHOP}", {{credentials: "include"}}).then((answer) => answer.text())
          .then(() => document.title = "read", () => document.title = "kept");
    </script>"""
    with other_site(markup) as evil, tab(browser, complaints=True) as page:
        page.goto(evil)
        page.wait_for_function("document.title !== ''")
        expect(page).to_have_title("kept")


def test_the_token_lets_a_browser_in_and_out(browser: Browser, tmp_path: Path) -> None:
    with site(tmp_path, access_to("127.0.0.1:0", token=TOKEN)) as page_site:
        install_shop(page_site)
        with tab(browser, base_url=page_site.base, complaints=True) as page:
            page.goto(SHOP)
            expect(page.get_by_label("Administration token")).to_be_focused()
            page.keyboard.type("wrong")
            page.keyboard.press("Enter")
            expect(page.get_by_role("alert")).to_contain_text("That is not the token.")
            page.get_by_label("Administration token").fill(TOKEN)
            page.keyboard.press("Enter")
            expect(page.get_by_role("heading", level=1)).to_contain_text("shop")
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
            page.goto(SHOP)
            expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
