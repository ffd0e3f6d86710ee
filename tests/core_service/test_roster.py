"""The roster: which plugins run here, from which folder, in which version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine_world import World, cogover, nextskin
from nsplugin_core.attempts import Attempt, Deliver
from nsplugin_core.host.settings import PluginSource
from nsplugin_core.roster import Roster


@dataclass
class Pool:
    """Notes what it is told."""

    told: list[str] = field(default_factory=list)
    sources: dict[str, PluginSource] = field(default_factory=dict)

    def put(self, source: PluginSource) -> None:
        self.told.append(f"put {source.id} {source.manifest.get('version')}")
        self.sources[source.id] = source

    def remove(self, plugin: str) -> None:
        self.told.append(f"remove {plugin}")

    def free(self, plugin: str) -> int:
        return 3

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        self.told += [f"start {attempt.plugin}" for attempt in attempts]

    def cancel(self, task_id: str, claim: int) -> None:
        self.told.append(f"cancel {task_id} {claim}")


def test_hosts_follow_what_is_installed(core: World, tmp_path: Path) -> None:
    pool = Pool()
    roster = Roster(core.store, pool, {"NSPLUGIN_SECRET_ORDERS__KEY": "s3cret", "NSPLUGIN_SECRET_SHOP__KEY": "other"})
    core.registry.install(cogover(), timezone="UTC", folder=str(tmp_path), internal_system=True)
    roster.run_once(core.now)
    source = pool.sources["orders"]
    assert (source.platform, source.directory, source.entry) == ("cogover", tmp_path, "main:jobs")
    assert (source.secrets, source.allow_internal_system) == ({"KEY": "s3cret"}, True)
    roster.run_once(core.now)
    core.forward(1000)
    core.registry.install(cogover())
    roster.run_once(core.now)
    core.registry.disable("orders")
    roster.run_once(core.now)
    core.registry.enable("orders")
    roster.run_once(core.now)
    core.registry.uninstall("orders")
    roster.run_once(core.now)
    assert pool.told == ["put orders None", "put orders None", "remove orders", "put orders None", "remove orders"]
    assert pool.sources["orders"].allow_internal_system


def test_a_plugin_whose_code_is_not_here_is_left_to_others(core: World, tmp_path: Path) -> None:
    pool = Pool()
    roster = Roster(core.store, pool, {})
    core.install(nextskin())
    core.registry.install(nextskin("far"), timezone="UTC", folder=str(tmp_path / "far"))
    roster.run_once(core.now)
    assert pool.told == []
    assert roster.elsewhere == {
        "shop": "nobody said where its code lies: install it again with --code FOLDER",
        "far": f"there is no folder {tmp_path / 'far'} on this machine",
    }
    (tmp_path / "far").mkdir()
    roster.run_once(core.now)
    (tmp_path / "far").rmdir()
    core.forward(1000)
    core.registry.set_timezone("far", "Asia/Tokyo")
    roster.run_once(core.now)
    core.registry.disable("far")
    roster.run_once(core.now)
    assert pool.told == ["put far 1.0.0", "remove far"]
    assert sorted(roster.elsewhere) == ["shop"]


def test_a_folder_that_may_not_be_read_keeps_nobody_else_from_running(
    core: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, real = Pool(), Path.stat

    def stat(path: Path, **given: Any) -> Any:
        if path.name == "private":
            raise PermissionError(13, "Permission denied")
        return real(path, **given)

    core.registry.install(nextskin("aaa"), timezone="UTC", folder=str(tmp_path / "private"))
    core.registry.install(nextskin("bbb"), timezone="UTC", folder=str(tmp_path))
    roster = Roster(core.store, pool, {})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", stat)
        roster.run_once(core.now)
    assert pool.told == ["put bbb 1.0.0"]
    assert roster.elsewhere == {"aaa": f"folder {tmp_path / 'private'} can't be looked at: Permission denied"}
    (tmp_path / "private").mkdir()
    roster.run_once(core.now)
    assert (pool.told, roster.elsewhere) == (["put bbb 1.0.0", "put aaa 1.0.0"], {})


def test_what_fails_for_one_plugin_is_said_once_and_tried_again(
    core: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Full(Pool):
        def put(self, source: PluginSource) -> None:
            if source.id == "aaa" and full:
                raise RuntimeError("can't start new thread")
            super().put(source)

    pool, full = Full(), [True]
    for name in ("aaa", "bbb"):
        core.registry.install(nextskin(name), timezone="UTC", folder=str(tmp_path))
    roster = Roster(core.store, pool, {})
    roster.run_once(core.now)
    roster.run_once(core.now)
    assert pool.told == ["put bbb 1.0.0"]
    assert roster.elsewhere == {"aaa": "the core failed over it: can't start new thread"}
    assert [record.levelname for record in caplog.records if record.levelname != "INFO"] == ["ERROR"]
    full.clear()
    roster.run_once(core.now)
    assert (pool.told, roster.elsewhere) == (["put bbb 1.0.0", "put aaa 1.0.0"], {})


def test_an_attempt_of_a_version_that_is_not_known_yet_makes_for_a_look(core: World, tmp_path: Path) -> None:
    """spec/cogover.md D9: a run executes the version that is active when it executes."""
    pool = Pool()
    roster = Roster(core.store, pool, {})
    core.registry.install(nextskin(), timezone="UTC", folder=str(tmp_path))
    roster.run_once(core.now)
    core.forward(1000)
    core.install(nextskin(jobs={"sync": {}, "more": {}}))
    core.enqueue(payload=None)
    (attempt,) = core.store.tasks.claim({"shop": 1}, now=core.now, grace_ms=1000, claimer="here")
    assert attempt.version == core.now
    roster.start([attempt], lambda outcomes: None)
    roster.start([attempt], lambda outcomes: None)
    roster.cancel(attempt.task_id, attempt.claim)
    assert pool.told == [
        "put shop 1.0.0", "put shop 1.0.0", "start shop", "start shop", f"cancel {attempt.task_id} {attempt.claim}",
    ]  # fmt: skip
    assert roster.free("shop") == 3
    assert roster.platform("shop") == "nextskin"
