"""``nsplugin dev`` in real processes: routes, log, reload, refusals, and Ctrl-C without a lost task."""

from __future__ import annotations

import contextlib
import random
import re
import signal
import socket
import subprocess
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

import developing
import fixture_runs
from browser_pages import tab
from developing import SOURCE, diary, queued, running
from service_world import NSPLUGIN
from waiting import descendants, ended, until

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return developing.write(tmp_path / "shop")


def test_the_whole_system_in_one_command(folder: Path) -> None:
    """Routes with a stand-in for the user, the page, schedules in the site's zone, and a log of every attempt and wait."""
    with running(folder) as dev:
        answer = dev.post("/notes", {"n": 1})
        assert (answer.status_code, answer.json()) == (202, {"queued": 1, "user": "dev"})
        assert answer.headers["x-nsplugin-development-user"] == "dev"
        until(lambda: diary(folder) == ["1 1"], "the task")
        page = httpx.get(f"{dev.pages}/admin/plugins/shop", timeout=20).text
        assert "Europe/Paris" in page
        dev.post("/fail")
        until(lambda: dev.events("dead"), "a dead letter", 60)
        (retry,), failures = dev.events("retry"), dev.events("failure")
        assert [each["attempt"] for each in failures] == [1, 2] and failures[0]["error"] == "the shop is down"
        assert retry["wait"].endswith(" s") and retry["due"]
        assert [each["attempt"] for each in dev.events("attempt") if each["job"] == "fails"] == [1, 2]
        assert dev.interrupt() == 0


def test_a_dead_letter_is_mended_and_tried_again(folder: Path) -> None:
    """docs/tutorial.md: it fails, is given up, the handler is mended while ``dev`` runs, and a retry succeeds."""
    database = f"sqlite:///{folder / '.nsplugin' / 'core.db'}"
    with running(folder) as dev:
        dev.post("/fail")
        until(lambda: dev.events("dead"), "a dead letter", 60)
        (folder / "plugin.py").write_text(SOURCE.replace('raise RuntimeError("the shop is down")', "pass"))
        dev.says("loaded anew")
        code, out, err = fixture_runs.call(["dead", "retry", "--all", "--plugin", "shop", "--database", database])
        assert code == 0, out + err
        until(lambda: [each for each in dev.events("success") if each["job"] == "fails"], "the retry")
        assert dev.events("attempt")[-1]["attempt"] == 1


def test_what_no_route_answers_says_what_there_is(folder: Path) -> None:
    with running(folder) as dev:
        missing, wrong = dev.post("/note", {}), httpx.get(f"{dev.url}/notes", timeout=20)
        assert missing.status_code == 404
        assert missing.json()["error"] == (
            "no plugin has a route '/note'; there are POST /fail, POST /notes, POST /shop/fail, POST /shop/notes; "
            f"the administration page is {dev.pages}/admin/plugins"
        )
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
        failed = dev.post("/notes", {})
        assert (failed.status_code, failed.json()["code"]) == (500, "KeyError")
        assert httpx.get(dev.url, timeout=20, follow_redirects=True).status_code == 200


def test_other_sites_can_not_act_as_the_development_user(folder: Path) -> None:
    with running(folder) as dev:
        forged = dev.post("/notes", {"n": 5}, Origin="https://evil.example")
        rebound = dev.post("/notes", {"n": 6}, Host="evil.example")
        local = dev.post("/notes", {"n": 7}, Origin="http://localhost:3000")
        assert (forged.status_code, rebound.status_code, local.status_code) == (403, 403, 202)
        until(lambda: diary(folder) == ["1 7"], "the one task")


def test_a_syntax_error_saved_on_the_way_costs_no_task(folder: Path) -> None:
    """The version before goes on; what is queued runs with the code that is there when it is due."""
    with running(folder) as dev:
        dev.post("/notes", {"n": 1, "later": 3})
        (folder / "plugin.py").write_text(SOURCE + "def broken(:\n")
        dev.says("waiting for a change; the version before goes on meanwhile")
        assert "plugin.py:" in dev.text() and "NSP003" in dev.text()
        assert dev.post("/notes", {"n": 2}).status_code == 202
        until(lambda: "1 2" in diary(folder), "the old version at work")
        (folder / "plugin.py").write_text(SOURCE.replace("VERSION = 1", "VERSION = 2"))
        dev.says("plugin shop was loaded anew; its queue is kept")
        dev.post("/notes", {"n": 3})
        until(lambda: "2 3" in diary(folder), "the new version at work")
        until(lambda: any(line.endswith(" 1") for line in diary(folder)), "the task that was queued")
        assert dev.interrupt() == 0


def test_a_failing_plugin_shows_its_diagnostics_and_waits(folder: Path) -> None:
    (folder / "plugin.py").write_text(SOURCE.replace("0 3 * * *", "0 25 * * *"))
    with running(folder) as dev:
        assert "error NSP203 cron-value-out-of-range" in dev.text() and "waiting for a change" in dev.text()
        (folder / "plugin.py").write_text(SOURCE)
        dev.says("loaded anew")
        assert dev.post("/notes", {"n": 1}).status_code == 202


def test_routes_of_a_plugin_that_was_never_built_show_its_diagnostics(folder: Path) -> None:
    (folder / "plugin.py").write_text(SOURCE.replace("0 3 * * *", "0 25 * * *"))
    with running(folder) as dev:
        answer = dev.post("/notes", {"n": 1})
        assert (answer.status_code, answer.headers["content-type"]) == (503, "text/plain; charset=utf-8")
        assert answer.text.startswith("The plugin has errors, and nothing of it runs until they are mended.\n\n")
        assert "/plugin.py:" in answer.text and "error NSP203 cron-value-out-of-range" in answer.text
        assert "\x1b" not in answer.text
        (folder / "plugin.py").write_text(SOURCE)
        dev.says("loaded anew")
        assert (dev.post("/notes", {"n": 1}).status_code, dev.post("/note", {}).status_code) == (202, 404)


EXITS = """

async def post_exit(request, ctx):
    os._exit(3)
"""


def test_a_route_whose_host_exited_says_when_to_ask_again(folder: Path) -> None:
    source = SOURCE.replace("\n\nplugin =", f"{EXITS}\n\nplugin =")
    source = source.replace("routes={", 'routes={"POST /exit": Route(post_exit, auth="user"), ')
    (folder / "plugin.py").write_text(source)
    with running(folder) as dev:
        until(lambda: dev.post("/exit").status_code != 502, "a host that exited")
        away = dev.post("/notes", {"n": 1})
        assert (away.status_code, away.json()["code"]) == (503, "HOST_UNAVAILABLE")
        wait = int(away.headers["retry-after"])
        assert away.json()["error"] == (
            f"plugin shop cannot answer now: its host exited (exit code 3) and starts again in {wait} s; ask again then"
        )
        until(lambda: dev.post("/notes", {"n": 2}).status_code == 202, "the next host", wait + 20)


def test_routes_go_on_while_the_plugin_is_loaded_anew(folder: Path) -> None:
    """A request that meets the host which is just leaving is answered by the one after it."""
    with running(folder) as dev:
        answers: list[int] = []

        def _noted_by(version: int) -> bool:
            answers.append(dev.post("/notes", {"n": 1}).status_code)
            return f"{version} 1" in diary(folder)

        for version in range(2, 5):
            (folder / "plugin.py").write_text(SOURCE.replace("VERSION = 1", f"VERSION = {version}"))
            until(partial(_noted_by, version), "the new version at work")
        assert set(answers) == {202}


def test_a_disabled_plugins_routes_say_so(folder: Path) -> None:
    database = f"sqlite:///{folder / '.nsplugin' / 'core.db'}"
    with running(folder) as dev:
        assert dev.post("/notes", {"n": 1}).status_code == 202
        assert fixture_runs.call(["disable", "shop", "--database", database])[0] == 0
        until(lambda: dev.post("/notes", {"n": 2}).status_code == 503, "the plugin to stop")
        assert dev.post("/notes", {"n": 3}).json()["error"] == (
            "plugin shop does not run: it is disabled, or could not be installed (the terminal says so); "
            f"{dev.pages}/admin/plugins enables it"
        )


def test_a_new_time_zone_in_the_project_file_is_taken_up(folder: Path) -> None:
    """spec/core.md K3: next fires are computed anew."""
    with running(folder) as dev:
        assert "schedules in Europe/Paris" in dev.text()
        project = folder / "nsplugin.toml"
        project.write_text(project.read_text().replace("Europe/Paris", "Mars/Base"))
        dev.says("is no time zone")
        project.write_text(project.read_text().replace("Mars/Base", "Asia/Tokyo"))
        dev.says("schedules in Asia/Tokyo")
        until(lambda: "Asia/Tokyo" in httpx.get(f"{dev.pages}/admin/plugins/shop", timeout=20).text, "the page")
    with running(folder, "--timezone", "Asia/Seoul") as dev:
        assert "schedules in Asia/Seoul" in dev.text()


def test_plugins_and_the_administration_page_are_of_two_origins(folder: Path) -> None:
    """What a plugin's route sends to a browser must not be able to read the page, nor to act on it."""
    with running(folder) as dev:
        assert dev.url != dev.pages
        assert httpx.get(f"{dev.url}/admin/plugins", timeout=20).status_code == 404
        with httpx.Client(base_url=dev.pages, timeout=20) as browser:
            token = re.search(r'name="token" value="([^"]+)"', browser.get("/admin/plugins/shop").text)
            assert token is not None
            forged = {"Origin": dev.url, "Sec-Fetch-Site": "same-site"}
            form = {"token": token[1]}
            assert browser.post("/admin/plugins/shop/disable", data=form, headers=forged).status_code == 403
            assert browser.post("/admin/plugins/shop/disable", data=form, headers={"Origin": dev.url}).status_code == 403
            assert browser.post("/admin/plugins/shop/disable", data=form, headers={"Origin": dev.pages}).status_code == 303
            assert "access-control-allow-origin" not in browser.get("/admin/plugins", headers={"Origin": dev.url}).headers


def test_plugins_with_a_route_in_common_are_told_apart(folder: Path) -> None:
    other = developing.write(folder.parent / "store", SOURCE.replace('id="shop"', 'id="store"').replace("/fail", "/break"))
    with running(folder.parent) as dev:
        listed = sorted(line["event"].removeprefix("route POST ") for line in dev.records() if "route POST" in line["event"])
        assert listed == [f"{dev.url}{path}" for path in ("/break", "/fail", "/shop/notes", "/store/notes")]
        assert dev.post("/store/notes", {"n": 1}).status_code == 202
        assert dev.post("/notes", {"n": 2}).json()["error"] == (
            "several plugins have POST /notes; put the plugin's id in front: /<id>/notes"
        )
        until(lambda: diary(other) == ["1 1"], "the task of the plugin that was named")


def test_a_plugin_that_changes_its_id_leaves_no_second_one_running(folder: Path) -> None:
    with running(folder) as dev:
        (folder / "plugin.py").write_text(SOURCE.replace('id="shop"', 'id="store"'))
        dev.says("plugin shop is not here any more; it is disabled, its tasks are kept")
        assert dev.post("/store/notes", {"n": 1}).status_code == 202
        (folder / "plugin.py").write_text(SOURCE)
        dev.says("plugin store is not here any more")
        assert dev.post("/shop/notes", {"n": 2}).status_code == 202
        until(lambda: sorted(diary(folder)) == ["1 1", "1 2"] or "1 2" in diary(folder), "the plugin's task")


PAGE = """

async def get_page(request, ctx):
    pages = request.query["pages"] + "/admin/plugins/shop"
    script = f"fetch('{pages}', {{credentials: 'include'}}).then(() => document.title = 'read', () => document.title = 'kept')"
    return Response(body=f"<script>{script}</script>", headers={"content-type": "text/html"})
"""


@pytest.mark.browser
def test_a_page_of_a_plugin_can_not_read_the_administration_page(folder: Path, browser: Browser) -> None:
    """In a browser that has a session there; the page of the plugin itself runs as its author wrote it."""
    source = SOURCE.replace("\n\nplugin =", f"{PAGE}\n\nplugin =")
    (folder / "plugin.py").write_text(source.replace("routes={", 'routes={"GET /page": Route(get_page, auth="user"), '))
    with running(folder) as dev, tab(browser, complaints=True) as page:
        page.goto(f"{dev.pages}/admin/plugins/shop")
        assert page.title() == "shop – nsplugin"
        page.goto(f"{dev.url}/page?pages={dev.pages}")
        page.wait_for_function("document.title !== ''")
        assert page.title() == "kept"
        page.goto(f"{dev.url}/page?pages={dev.url}")
        page.wait_for_function("document.title !== ''")
        assert page.title() == "read"


def test_the_administration_page_is_at_the_next_port(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with running(folder, ports=("--port", str(port))) as dev:
        assert f"administration page: http://127.0.0.1:{port + 1}/admin/plugins" in dev.text()


def _refused(folder: Path, *arguments: str) -> str:
    done = subprocess.run([*NSPLUGIN, "dev", str(folder), *arguments], capture_output=True, timeout=60)
    assert done.returncode == 2
    return done.stderr.decode()


def test_a_taken_port_is_said_with_what_to_do(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert _refused(folder, "--port", str(port)) == (
            f"Error: --port: 127.0.0.1:{port} is taken by another program; name another port, or 0 for any free one\n"
        )
        assert _refused(folder, "--port", "0", "--admin-port", str(port)) == (
            f"Error: --admin-port: 127.0.0.1:{port} is taken by another program; name another port, or 0 for any free one\n"
        )


def test_two_on_one_folder_are_refused(folder: Path) -> None:
    with running(folder) as dev:
        state = folder / ".nsplugin"
        assert _refused(folder, "--port", "0", "--reset") == (
            f"Error: process {dev.process.pid} runs `nsplugin dev` here already (its state is {state}); stop it first\n"
        )
        assert dev.post("/notes", {"n": 1}).status_code == 202
        dev.process.kill()
        dev.process.wait()
    with running(folder) as after:
        assert after.url


def test_a_killed_one_leaves_its_tasks_and_reset_forgets_them(folder: Path) -> None:
    with running(folder) as dev:
        dev.post("/notes", {"n": 1, "later": 3_600})
        dev.process.kill()
        dev.process.wait()
    assert queued(folder) == [1]
    assert (folder / ".nsplugin" / ".gitignore").read_text().endswith("*\n")
    with running(folder, "--reset") as dev:
        dev.interrupt()
    assert queued(folder) == []


@pytest.mark.parametrize("after_s", [0.2, 0.6, 1.0])
def test_ctrl_c_while_it_starts_ends_it_and_frees_the_folder(folder: Path, after_s: float) -> None:
    with running(folder, ready=False) as dev:
        time.sleep(after_s)
        code = dev.interrupt()
        if code != -signal.SIGINT:  # then it hit the interpreter itself, which was still starting
            assert code in (0, 130)
            assert "Traceback" not in dev.text()
    with running(folder) as after:
        assert after.post("/notes", {"n": 1}).status_code == 202


HANGS = """\
import os
from pathlib import Path

(Path(__file__).parent / "pid.txt").write_text(str(os.getpid()))
while True:
    pass
"""


@pytest.mark.parametrize("first", [True, False])
def test_ctrl_c_does_not_wait_for_an_import_that_hangs(folder: Path, first: bool) -> None:
    """Neither that of the first build nor one that a change began; the process that imports ends too."""
    if first:
        (folder / "plugin.py").write_text(HANGS)
    with running(folder, ready=not first) as dev:
        (folder / "plugin.py").write_text(HANGS)
        pid = folder / "pid.txt"
        until(lambda: pid.exists() and pid.read_text() != "", "the import")
        started = descendants(dev.process.pid)
        began = time.monotonic()
        assert started and dev.interrupt() == 0
        assert time.monotonic() - began < 5
        until(lambda: ended(*started), "the end of the import")


def _post_until_it_ends(dev: developing.Dev, numbers: range, accepted: list[int]) -> None:
    with httpx.Client(timeout=20) as client:
        for number in numbers:
            with contextlib.suppress(httpx.HTTPError):
                if client.post(f"{dev.url}/notes", json={"n": number}).status_code == 202:
                    accepted.append(number)
                    continue
            return


@pytest.mark.slow
def test_ctrl_c_at_any_moment_loses_no_task(folder: Path) -> None:
    """Every task that a route accepted has run, or is queued, whenever Ctrl-C came, once or twice."""
    source = random.Random(11)
    accepted: list[int] = []
    for round_ in range(5):
        with running(folder) as dev:
            numbers = range(round_ * 1000, round_ * 1000 + 999)
            poster = threading.Thread(target=_post_until_it_ends, args=(dev, numbers, accepted))
            poster.start()
            until(partial(accepted.__contains__, numbers.start), "the first task")
            time.sleep(source.random() * 0.8)
            dev.process.send_signal(signal.SIGINT)
            if round_ % 2:
                time.sleep(source.random() * 0.05)
                with contextlib.suppress(ProcessLookupError):
                    dev.process.send_signal(signal.SIGINT)
            assert dev.process.wait(30) == 0
            poster.join(30)
        done = {int(line.split()[1]) for line in diary(folder)}
        assert set(accepted) - done - set(queued(folder)) == set()
    with running(folder):
        until(lambda: set(accepted) <= {int(line.split()[1]) for line in diary(folder)}, "all that was accepted")
    assert len(accepted) >= 5
