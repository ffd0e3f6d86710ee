"""The roster: which plugins run here, from which folder, in which version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
