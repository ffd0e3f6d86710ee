"""Cron rows that can't be reckoned here and now: they wait, and make nothing wrong later (spec/core.md K1, K2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine_world import MINUTE, NOON, SECOND, World, cogover, nextskin
from nsplugin.manifest import Manifest
from nsplugin.record import replace
from nsplugin_core.scheduler import AGAIN_MS, Scheduler
from nsplugin_core.store.records import Installed, Schedule

EVERY_MINUTE = [{"schedule": "* * * * *", "job": "sync"}]


def rows(core: World, plugin: str, change: Callable[[Schedule], Schedule]) -> None:
    """Change the stored cron rows of a plugin, as no installation would."""

    def plan(before: Installed | None) -> Installed:
        assert before is not None
        return replace(before, schedules=[change(each) for each in before.schedules])

    core.store.registry.change(plugin, plan, now=core.now)


def lost_zone(core: World, plugin: str = "mail") -> None:
    """Its zone was in tzdata when it was installed."""
    rows(core, plugin, lambda each: replace(each, timezone="Mars/Base"))


def found_zone(core: World, plugin: str = "mail") -> None:
    rows(core, plugin, lambda each: replace(each, timezone="UTC"))


def fires(core: World, plugin: str = "mail") -> list[int | None]:
    return [event.due for event in core.events if event.type in ("fire", "catch-up") and event.plugin == plugin]


def test_it_does_not_hold_up_the_others(core: World, caplog: pytest.LogCaptureFixture) -> None:
    for plugin in ("shop", "mail"):
        core.install(nextskin(plugin, cron=EVERY_MINUTE))
    lost_zone(core)
    core.forward(3 * MINUTE, by=MINUTE)
    assert [(row.fires, row.next_fire) for row in core.store.registry.schedules("shop")] == [(3, NOON + 4 * MINUTE)]
    assert [(row.fires, row.next_fire) for row in core.store.registry.schedules("mail")] == [(0, NOON + MINUTE)]
    assert [record.message for record in caplog.records] == [
        "mail /cron/0: '* * * * *' in Mars/Base makes no task, next try in 5 min: \"Mars/Base\" is not a time zone of the IANA"
        " list; write an IANA id or a fixed offset, such as `Asia/Ho_Chi_Minh`, `UTC` or `UTC+07:00`"
    ]


@pytest.mark.parametrize(
    ("manifest", "made"),
    [
        (nextskin("mail", cron=[{"schedule": "0 13 * * *", "job": "sync"}]), [NOON + 60 * MINUTE]),
        (cogover("mail", jobs=[{"key": "sync", "schedule": {"cron": "0 13 * * *"}}]), []),
    ],
    ids=["nextskin", "cogover"],
)
def test_once_it_can_be_reckoned_again_only_its_own_instants_get_tasks(
    core: World, manifest: Manifest, made: list[int]
) -> None:
    """C6 makes up the fire that was missed; spec/cogover.md C1 does not. Neither fires at the moment of the next try."""
    core.install(manifest)
    lost_zone(core)
    core.forward(60 * MINUTE + 37 * SECOND, by=MINUTE)
    found_zone(core)
    core.forward(2 * AGAIN_MS, by=MINUTE)
    assert fires(core) == made
    (row,) = core.store.registry.schedules("mail")
    assert row.next_fire == NOON + (24 + 1) * 60 * MINUTE


def test_a_core_that_can_reckon_it_goes_on_meanwhile(core: World) -> None:
    core.install(nextskin("mail", cron=EVERY_MINUTE))
    lost_zone(core)
    other = Scheduler(store=core.store, observe=core.events.append)
    for _ in range(3):
        core.clock.advance_to(core.now + MINUTE)
        core.scheduler.run_once(core.now)
        found_zone(core)
        other.run_once(core.now)
        lost_zone(core)
        core.step()
    assert fires(core) == [NOON + MINUTE, NOON + 2 * MINUTE, NOON + 3 * MINUTE]


def test_more_of_them_than_fit_into_a_round_end_the_round(core: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsplugin_core.scheduler.BATCH", 2)
    for plugin in ("a", "b", "c", "d", "e", "shop"):
        core.install(nextskin(plugin, cron=EVERY_MINUTE))
    for plugin in ("a", "b", "c", "d", "e"):
        lost_zone(core, plugin)
    core.forward(MINUTE)
    assert fires(core, "shop") == [NOON + MINUTE]
    assert core.scheduler.next_due() == NOON + 2 * MINUTE
    core.forward(2 * AGAIN_MS)
    assert fires(core, "shop") == [NOON + MINUTE, NOON + MINUTE + 2 * AGAIN_MS]


def test_a_row_that_no_transaction_survives_does_not_hold_up_the_others(core: World, caplog: pytest.LogCaptureFixture) -> None:
    """Its job is gone, which an installation would have refused."""
    for plugin in ("a", "mail", "shop"):
        core.install(nextskin(plugin, cron=EVERY_MINUTE))
    rows(core, "mail", lambda each: replace(each, job="gone"))
    core.forward(MINUTE)
    assert fires(core, "a") == fires(core, "shop") == [NOON + MINUTE]
    core.forward(MINUTE)
    assert fires(core, "a") == fires(core, "shop") == [NOON + MINUTE, NOON + 2 * MINUTE]
    assert fires(core, "mail") == []
    (told,) = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert told.startswith(
        "mail /cron/0: '* * * * *' in UTC makes no task, next try in 5 min: plugin 'mail' declares no job 'gone'"
    )


def test_a_stored_fire_that_a_new_tzdata_moved_is_not_taken_for_one(core: World) -> None:
    core.install(nextskin("mail", cron=[{"schedule": "0 13 * * *", "job": "sync"}]))
    rows(core, "mail", lambda each: replace(each, next_fire=NOON + 7 * MINUTE + 3))
    core.forward(30 * MINUTE, by=MINUTE)
    assert fires(core) == []
    (row,) = core.store.registry.schedules("mail")
    assert (row.next_fire, row.skipped, row.caught_up) == (NOON + 60 * MINUTE, 0, 0)
