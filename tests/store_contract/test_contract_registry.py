"""Installing and switching plugins, on both stores."""

from __future__ import annotations

import pytest

from engine_world import MINUTE, Ending, World, cogover, nextskin
from nsplugin_core.registry import NoTimezone, OtherPlatform
from nsplugin_core.store.errors import UnknownPlugin
from nsplugin_core.store.records import TaskFilter


def test_a_first_installation_names_the_site_s_zone_and_an_upgrade_keeps_it(core: World) -> None:
    with pytest.raises(NoTimezone, match="'shop' is not installed yet: name the site's time zone"):
        core.registry.install(nextskin())
    core.registry.install(nextskin(), timezone="Europe/Paris")
    assert core.registry.install(nextskin(jobs={"b": {}})).plugin.timezone == "Europe/Paris"


def test_an_upgrade_keeps_the_switch_and_the_date_of_installation(core: World) -> None:
    core.install(nextskin())
    installed_at = core.now
    core.registry.disable("shop")
    core.clock.advance_to(core.now + MINUTE)
    core.install(nextskin(jobs={"b": {}}))
    installed = core.store.registry.installed("shop")
    assert installed is not None
    assert (installed.plugin.enabled, installed.plugin.installed_at, installed.plugin.updated_at) == (
        False,
        installed_at,
        core.now,
    )
    assert [(job.name, job.max_attempts, job.timeout_ms) for job in installed.jobs] == [("b", 5, 60_000)]


def test_an_id_stays_on_its_platform(core: World) -> None:
    core.install(nextskin())
    with pytest.raises(OtherPlatform, match="'shop' is installed for the platform nextskin; uninstall it first"):
        core.registry.install(cogover("shop"), timezone="UTC")


@pytest.mark.parametrize("call", ["enable", "disable", "uninstall"])
def test_what_is_not_installed_can_t_be_switched(core: World, call: str) -> None:
    with pytest.raises(UnknownPlugin, match="no plugin 'shop' is installed here; `nsplugin install` installs one"):
        getattr(core.registry, call)("shop")
    with pytest.raises(UnknownPlugin):
        core.registry.set_timezone("shop", "UTC")


def test_plugins_are_listed_by_id(core: World) -> None:
    for plugin in ("zoo", "Abc", "mail"):
        core.install(nextskin(plugin))
    core.registry.disable("mail")
    listed = [(record.id, record.enabled) for record in core.store.registry.plugins()]
    assert listed == [("Abc", True), ("mail", False), ("zoo", True)]


def test_enabling_twice_changes_nothing(core: World) -> None:
    core.install(nextskin(cron=[{"schedule": "* * * * *", "job": "sync"}]))
    before = core.store.registry.schedules("shop")
    core.clock.advance_to(core.now + 10 * MINUTE)
    core.registry.enable("shop")
    assert core.store.registry.schedules("shop") == before


def test_uninstalling_removes_every_trace(core: World) -> None:
    core.install(cogover())
    core.install(nextskin())
    core.enqueue("orders", idempotencyKey="k")
    core.step()
    core.store.data.put("orders", "n", "k", "1", now=core.now)
    core.store.data.lock("orders", "l", "me", now=core.now, ttl_ms=1000)
    core.registry.uninstall("orders")
    core.install(cogover())
    assert core.store.tasks.recent("orders", 10) == []
    assert core.store.data.entry("orders", "n", "k", now=core.now) is None
    assert core.store.data.lock("orders", "l", "you", now=core.now, ttl_ms=1000) is not None
    assert core.enqueue("orders", idempotencyKey="k").duplicate is False


def test_much_that_a_plugin_left_is_removed_in_batches(core: World) -> None:
    """One transaction for all would keep every other plugin's claims and endings waiting (spec/core.md Q6)."""
    core.install(cogover())
    core.install(nextskin())
    for number in range(7):
        core.enqueue("orders", idempotencyKey=f"k{number}")
        core.enqueue(delaySec=60)
        core.store.data.put("orders", "n", f"k{number}", "1", now=core.now)
    core.step()
    core.enqueue("orders", idempotencyKey="waiting", delayMs=MINUTE)
    core.registry.uninstall("orders")
    swept = [core.store.tasks.sweep(now=core.now, limit=3).removed for _ in range(5)]
    assert swept == [1 + 3 + 3 + 3 + 3, 3 + 3 + 3 + 3, 1 + 1 + 2 + 1, 1, 0]
    assert [(depth.plugin, depth.tasks) for depth in core.store.tasks.depths()] == [("shop", 7)]


def test_a_plugin_that_was_uninstalled_shows_nothing_before_it_is_swept(core: World) -> None:
    core.install(cogover())
    task = core.enqueue("orders", idempotencyKey="k").task_id
    core.step()
    core.registry.uninstall("orders")
    assert core.store.tasks.task(task) is None
    assert core.store.tasks.depths() == core.store.tasks.page(TaskFilter(state="succeeded")) == []
    assert core.store.tasks.retry([task], plugin="orders", now=core.now) == {}


def test_what_was_installed_again_is_not_swept(core: World) -> None:
    core.install(cogover())
    core.enqueue("orders", idempotencyKey="k", delayMs=MINUTE)
    core.registry.uninstall("orders")
    core.install(cogover())
    kept = core.enqueue("orders", idempotencyKey="k", delayMs=MINUTE)
    assert kept.duplicate is False
    assert core.store.tasks.sweep(now=core.now, limit=10).total == 0
    assert core.task(kept.task_id).state == "queued"


def test_k3_an_upgrade_gives_a_task_that_runs_the_new_limits_for_its_next_attempts(core: World) -> None:
    core.install(nextskin(jobs={"sync": {"maxAttempts": 5}}))
    core.hosts.script = lambda attempt: Ending("failure", "boom", after=5)
    task = core.enqueue().task_id
    core.step()
    core.install(nextskin(jobs={"sync": {"maxAttempts": 2, "timeoutMs": 5_000}}))
    core.forward(5)
    assert (core.task(task).state, core.task(task).attempt, core.task(task).max_attempts) == ("queued", 1, 2)
    core.clock.advance_to(core.task(task).run_at)
    core.step()
    assert core.hosts.started[1].timeout_ms == 5_000
    core.forward(5)
    assert core.task(task).state == "dead"
