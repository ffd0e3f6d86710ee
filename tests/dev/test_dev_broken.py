"""``nsplugin dev`` over files that are broken for a while: hosts come and go, and nothing is lost or spent meanwhile."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

import developing
import fixture_runs
from developing import SOURCE, Dev, diary, running
from nsplugin.manifest import Manifest
from nsplugin.platforms import load
from nsplugin_core.development.run import Development, Ready, ReadyPlugin, develop
from nsplugin_core.registry import Registry
from nsplugin_core.store.errors import StoreUnavailable
from waiting import until

EXITS = """

async def post_exit(request, ctx):
    os._exit(3)


plugin ="""
WITH_EXIT = SOURCE.replace("\n\nplugin =", EXITS).replace("routes={", 'routes={"POST /exit": Route(post_exit, auth="user"), ')
BROKEN = WITH_EXIT.replace("0 3 * * *", "0 25 * * *").replace("VERSION = 1", "VERSION = 2")
"""Its code can be loaded, and would run; its schedule is none."""

RAW = {
    "manifestVersion": 1, "platform": "nextskin", "id": "shop", "entry": "plugin:plugin", "capabilities": [],
    "jobs": {}, "cron": [], "routes": {},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return developing.write(tmp_path / "shop", WITH_EXIT)


def _waits(dev: Dev) -> None:
    answer = dev.post("/notes", {"n": 9})
    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/plain; charset=utf-8")
    assert answer.text.startswith("The plugin has errors, and nothing of it runs until they are mended.\n\n")
    assert "error NSP203 cron-value-out-of-range" in answer.text


def test_a_host_that_exits_after_a_broken_save_waits_for_the_next_one(folder: Path) -> None:
    """A new host could only load the broken file: with another version's jobs, or at the cost of attempts."""
    with running(folder) as dev:
        assert dev.post("/notes", {"n": 1, "later": 2}).status_code == 202
        (folder / "plugin.py").write_text(BROKEN)
        dev.says("waiting for a change; the version before goes on meanwhile")
        assert dev.post("/notes", {"n": 2}).status_code == 202
        until(lambda: "1 2" in diary(folder), "the version before at work")
        assert dev.post("/exit").status_code == 502
        dev.says("its host has ended (exit code 3), and starts again later: the plugin as it was saved last has errors")
        _waits(dev)
        assert "NSP203" in dev.text() and dev.post("/note").status_code == 404
        with pytest.raises(AssertionError, match="waited in vain"):
            until(lambda: "2 1" in diary(folder), "the queued task", 3)
        (folder / "plugin.py").write_text(WITH_EXIT.replace("VERSION = 1", "VERSION = 3"))
        until(lambda: "3 1" in diary(folder), "the queued task with the mended version")
        assert dev.post("/notes", {"n": 4}).status_code == 202
        assert {each["attempt"] for each in dev.events("attempt")} == {1}
        assert dev.interrupt() == 0


def test_what_is_queued_waits_when_it_starts_with_broken_files(folder: Path) -> None:
    with running(folder) as dev:
        assert dev.post("/notes", {"n": 1, "later": 1}).status_code == 202
        assert dev.interrupt() == 0
    (folder / "plugin.py").write_text(BROKEN)
    with running(folder) as dev:
        _waits(dev)
        with pytest.raises(AssertionError, match="waited in vain"):
            until(lambda: diary(folder), "the queued task", 3)
        (folder / "plugin.py").write_text(WITH_EXIT)
        until(lambda: diary(folder) == ["1 1"], "the queued task")
        assert [each["attempt"] for each in dev.events("attempt")] == [1]


def test_a_plugin_that_dev_itself_put_aside_comes_back_after_a_restart(folder: Path) -> None:
    """Its id was misspelt for a moment; what the author has disabled stays so."""
    database = f"sqlite:///{folder / '.nsplugin' / 'core.db'}"
    with running(folder) as dev:
        (folder / "plugin.py").write_text(WITH_EXIT.replace('id="shop"', 'id="shpo"'))
        dev.says("plugin shop is not here any more; it is disabled, its tasks are kept")
        assert dev.interrupt() == 0
    (folder / "plugin.py").write_text(WITH_EXIT)
    with running(folder) as dev:
        assert dev.post("/shop/notes", {"n": 1}).status_code == 202
        until(lambda: diary(folder) == ["1 1"], "the task")
        assert fixture_runs.call(["disable", "shop", "--database", database])[0] == 0
        assert dev.interrupt() == 0
    with running(folder) as dev:
        assert dev.post("/shop/notes", {"n": 2}).status_code == 503
        assert "plugin shop is disabled; enable it on the administration page" in dev.text()


def test_a_database_that_is_away_when_a_file_is_saved_only_delays_the_new_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, where the database can be made to be away."""
    real, versions = Registry.install, list[str]()

    def install(registry: Registry, manifest: Manifest, **given: Any) -> Any:
        versions.append(str(manifest.version))
        if versions.count("2.0.0") == 1:
            raise StoreUnavailable("the database is locked")
        return real(registry, manifest, **given)

    def build() -> Ready:
        raw = RAW | {"version": "2.0.0" if "VERSION = 2" in (folder / "plugin.py").read_text() else "1.0.0"}
        return Ready(plugins=[ReadyPlugin(manifest=Manifest.of(raw, load("nextskin")), folder=folder)], timezone="UTC")

    def save_and_stop() -> None:
        until(lambda: versions, "the first build")
        (folder / "plugin.py").write_text(WITH_EXIT.replace("VERSION = 1", "VERSION = 2"))
        with contextlib.suppress(AssertionError):
            until(lambda: versions.count("2.0.0") == 2, "the second try")
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Registry, "install", install)
    saving = threading.Thread(target=save_and_stop)
    saving.start()
    (state := folder / ".nsplugin").mkdir()
    assert develop(Development(folders=(folder,), state=state, port=0, admin_port=0), build) == 0
    saving.join()
    assert versions == ["1.0.0", "2.0.0", "2.0.0"]
    assert "the database is locked; the plugins are loaded as soon as it is back" in capsys.readouterr().err
