"""Hosts that are held: what runs goes on, and none is started, as its code is known to be broken (``nsplugin dev``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import host_world
from host_world import QUICK, World
from nsplugin_core.admin.hosts import notice_of
from nsplugin_core.host.table import HostFailed
from waiting import until

CODE = host_world.plugin('"fine": Job(lambda: None), "exits": Job(lambda: os._exit(3)), "fills": Job(fills)', routes="{}")
FILLS = "def fills(): raise MemoryError\n"
WHY = "it has errors"


def held(world: World) -> None:
    world.hosts.hold(WHY)
    attempt = world.attempt("fine")
    world.hosts.start([attempt], world.deliver)
    outcome = world.outcome(attempt)
    assert (outcome.kind, outcome.error, world.hosts.free("p")) == ("deferred", WHY, 0)
    with pytest.raises(HostFailed, match=WHY):
        world.request("GET /a")


def test_a_plugin_whose_host_sleeps_is_not_woken_until_it_may(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w") as world:
        world.put(FILLS + CODE)
        held(world)
        world.hosts.wake("p")
        assert (world.status().state, world.status().held, world.status().exits) == ("stopped", WHY, 0)
        assert notice_of(world.status)("p") == (
            "The host of this plugin is not started now: it has errors. Its tasks wait, and no attempt is spent."
        )
        world.hosts.hold("")
        assert (world.run("fine").kind, notice_of(world.status)("p")) == ("success", None)


def test_a_host_that_runs_goes_on_and_does_not_go_to_sleep(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w", replace(QUICK, idle_s=0.2)) as world:
        world.put(FILLS + CODE)
        pid = world.ready().pid
        world.hosts.hold(WHY)
        assert world.run("fine").kind == "success"
        with pytest.raises(AssertionError, match="waited in vain"):
            until(lambda: world.status().pid != pid, "a host that sleeps", 0.6)
        world.hosts.hold("")
        until(lambda: world.status().state == "stopped", "a host that sleeps")


@pytest.mark.parametrize(("job", "says"), [("exits", "exit code 3"), ("fills", None)])
def test_a_host_that_ends_has_no_follower_until_it_may(tmp_path: Path, job: str, says: str | None) -> None:
    """Neither when its pause is over, nor when it was full and would have been replaced at once."""
    with host_world.world(tmp_path / "w", QUICK) as world:
        world.put(FILLS + CODE)
        world.ready()
        world.hosts.hold(WHY)
        world.run(job)
        until(lambda: world.status().state == "stopped", "the end of the host and of its pause")
        held(world)
        said = [f"its host has ended ({says}), and starts again later: {WHY}"] if says else []
        assert [line for line in world.lines("host") if "later" in line] == said
        world.hosts.hold("")
        assert world.run("fine").kind == "success"


def test_a_new_version_is_not_started_either(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w") as world:
        world.hosts.hold(WHY)
        world.put(FILLS + CODE)
        held(world)
        world.hosts.hold("")
        world.put(FILLS + CODE)
        assert world.run("fine").kind == "success"
