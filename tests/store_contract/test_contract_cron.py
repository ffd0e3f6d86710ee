"""Schedules, on both stores: spec/nextskin.md C, spec/cogover.md C, spec/core.md K."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from engine_world import DAY, HOUR, MINUTE, SECOND, Ending, World, at, cogover, nextskin
from nsplugin_core.store.records import Schedule

NEW_YORK = "America/New_York"


def cron(*entries: str, job: str = "sync") -> list[dict[str, str]]:
    return [{"schedule": entry, "job": job} for entry in entries]


def fires(core: World, *kinds: str) -> list[str]:
    wanted = kinds or ("fire", "catch-up")
    return [_utc(event.due) for event in core.events if event.type in wanted]


def _utc(moment: int | None) -> str:
    return "never" if moment is None else datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%dT%H:%M")


def row(core: World, position: int = 0, plugin: str = "shop") -> Schedule:
    return core.store.registry.schedules(plugin)[position]


def down(core: World, ms: int) -> None:
    """Nobody looks for a while."""
    core.clock.advance_to(core.now + ms)
    core.step()


def test_k1_a_due_row_makes_one_task_and_moves_on_strictly_after_now(core: World) -> None:
    core.install(nextskin(cron=cron("0 13 * * *")))
    assert _utc(row(core).next_fire) == "2026-06-01T13:00"
    core.forward(HOUR - 1)
    assert core.hosts.started == []
    core.forward(1)
    core.step()
    (attempt,) = core.hosts.started
    assert (attempt.source, attempt.run_at, attempt.enqueued_at) == ("schedule", core.now, None)
    after = row(core)
    assert (_utc(after.next_fire), after.last_fire, after.last_task) == ("2026-06-02T13:00", core.now, attempt.task_id)
    assert (after.fires, after.skipped, after.caught_up) == (1, 0, 0)


def test_c6_several_missed_fires_are_made_up_once(core: World) -> None:
    core.install(nextskin(cron=cron("*/10 * * * *")))
    down(core, 5 * HOUR + 7 * MINUTE)
    assert fires(core, "catch-up") == ["2026-06-01T17:00"]
    assert len(core.hosts.started) == 1
    assert (row(core).fires, row(core).caught_up, _utc(row(core).next_fire)) == (1, 1, "2026-06-01T17:10")


def test_c6_one_missed_fire_is_made_up_and_said_to_be_late(core: World) -> None:
    core.install(nextskin(cron=cron("0 13 * * *")))
    down(core, 9 * HOUR)
    assert fires(core, "catch-up") == ["2026-06-01T13:00"]


def test_c7_a_fire_is_skipped_while_the_last_task_is_queued_or_running(core: World) -> None:
    core.install(nextskin(jobs={"sync": {"timeoutMs": 600_000}}, cron=cron("* * * * *")))
    core.hosts.script = lambda attempt: None
    core.hosts.slots["shop"] = 0
    core.forward(2 * MINUTE, by=MINUTE)
    assert (row(core).fires, row(core).skipped) == (1, 1), "queued"
    core.hosts.slots["shop"] = 1
    core.forward(3 * MINUTE, by=MINUTE)
    assert (row(core).fires, row(core).skipped) == (1, 4), "running"
    core.hosts.end(core.hosts.started[0], "success")
    core.step()
    core.forward(MINUTE)
    assert (row(core).fires, row(core).skipped) == (2, 4)
    assert core.types("skip") == ["skip"] * 4


def test_c7_a_dead_letter_is_no_unfinished_task(core: World) -> None:
    core.install(nextskin(jobs={"sync": {"maxAttempts": 1}}, cron=cron("* * * * *")))
    core.hosts.script = lambda attempt: Ending("failure")
    core.forward(3 * MINUTE, by=MINUTE)
    assert (row(core).fires, row(core).skipped) == (3, 0)


def test_c7_only_the_entry_s_own_task_holds_it_up(core: World) -> None:
    core.install(nextskin(cron=cron("* * * * *", "* * * * *")))
    core.hosts.script = lambda attempt: None
    core.enqueue()
    core.forward(MINUTE)
    assert [each.fires for each in core.store.registry.schedules("shop")] == [1, 1]


def test_c7_a_skipped_catch_up_counts_as_one_skip(core: World) -> None:
    core.install(nextskin(jobs={"sync": {"timeoutMs": 600_000}}, cron=cron("* * * * *")))
    core.hosts.slots["shop"] = 0
    core.forward(MINUTE)
    down(core, 30 * MINUTE)
    assert (row(core).fires, row(core).skipped, row(core).caught_up) == (1, 1, 0)


def test_c9_an_absent_payload_is_an_empty_object_and_null_stays_null(core: World) -> None:
    entries = [{"schedule": "* * * * *", "job": "sync", **extra} for extra in ({}, {"payload": None}, {"payload": {"k": "ü"}})]
    core.install(nextskin(cron=entries))
    core.forward(MINUTE)
    assert sorted(attempt.payload_json or "absent" for attempt in core.hosts.started) == ["null", '{"k":"ü"}', "{}"]


def test_c10_a_scheduled_task_is_retried_like_any_other(core: World) -> None:
    core.install(nextskin(cron=cron("0 13 * * *")))
    core.hosts.script = lambda attempt: Ending("failure") if attempt.attempt < 3 else Ending()
    core.forward(3 * HOUR, by=SECOND * 30)
    assert [attempt.attempt for attempt in core.hosts.started] == [1, 2, 3]


def test_c4_a_changed_site_zone_recomputes_next_fires(core: World) -> None:
    core.install(nextskin(cron=cron("0 13 * * *")), timezone="UTC")
    core.registry.set_timezone("shop", NEW_YORK)
    assert (_utc(row(core).next_fire), row(core).timezone) == ("2026-06-01T17:00", NEW_YORK)
    core.forward(DAY, by=HOUR)
    assert fires(core) == ["2026-06-01T17:00"]


def test_c4_a_changed_expression_recomputes_and_keeps_the_last_task_in_mind(core: World) -> None:
    core.install(nextskin(jobs={"sync": {"timeoutMs": 600_000}}, cron=cron("* * * * *")))
    core.hosts.script = lambda attempt: None
    core.forward(MINUTE)
    before = row(core)
    core.install(nextskin(jobs={"sync": {"timeoutMs": 600_000}}, cron=cron("*/2 * * * *")))
    assert (row(core).id, row(core).last_task, row(core).fires) == (before.id, before.last_task, 1)
    core.forward(MINUTE)
    assert row(core).skipped == 1


def test_k3_an_unchanged_entry_keeps_its_place_wherever_it_stands_in_the_new_manifest(core: World) -> None:
    core.install(nextskin(cron=cron("0 13 * * *", "*/7 * * * *")))
    core.forward(10 * MINUTE, by=MINUTE)
    old = {each.expression: each for each in core.store.registry.schedules("shop")}
    core.clock.advance_to(core.now + 30 * MINUTE)
    core.install(nextskin(cron=cron("5 5 * * *", "*/7 * * * *", "0 13 * * *")))
    new = {each.expression: each for each in core.store.registry.schedules("shop")}
    for expression in old:
        assert new[expression].id == old[expression].id
        assert new[expression].next_fire == old[expression].next_fire
        assert new[expression].fires == old[expression].fires
    assert [each.pointer for each in core.store.registry.schedules("shop")] == ["/cron/0", "/cron/1", "/cron/2"]
    core.step()
    assert fires(core, "catch-up") == ["2026-06-01T12:35"], "the upgrade has not swallowed a missed fire"


def test_k3_a_changed_payload_leaves_the_place(core: World) -> None:
    core.install(nextskin(cron=[{"schedule": "0 13 * * *", "job": "sync", "payload": 1}]))
    before = row(core)
    core.install(nextskin(cron=[{"schedule": "0 13 * * *", "job": "sync", "payload": 2}]))
    assert (row(core).id, row(core).next_fire, row(core).payload) == (before.id, before.next_fire, "2")


def test_k3_a_removed_entry_fires_no_more(core: World) -> None:
    core.install(nextskin(cron=cron("* * * * *")))
    core.install(nextskin())
    core.forward(5 * MINUTE, by=MINUTE)
    assert core.store.registry.schedules("shop") == []
    assert core.hosts.started == []


def test_a4_a_disabled_plugin_s_schedules_rest_and_nothing_is_made_up_for_that(core: World) -> None:
    core.install(nextskin(cron=cron("*/10 * * * *")))
    core.registry.disable("shop")
    core.forward(3 * HOUR, by=MINUTE)
    assert fires(core) == []
    core.registry.enable("shop")
    core.step()
    assert fires(core) == []
    core.forward(10 * MINUTE, by=MINUTE)
    assert fires(core) == ["2026-06-01T15:10"]


def test_c8_minutes_that_a_clock_change_skips_are_deferred_to_one_fire_after_the_gap(core: World) -> None:
    core.clock.advance_to(at("2027-03-13T12:00"))
    core.install(nextskin(cron=cron("30 2 * * *", "*/20 2 * * *")), timezone=NEW_YORK)
    core.forward(DAY, by=5 * MINUTE)
    assert fires(core) == ["2027-03-14T07:00", "2027-03-14T07:00"], "03:00 EDT, once for each entry"


def test_c8_a_repeated_minute_fires_at_its_first_occurrence_only(core: World) -> None:
    core.clock.advance_to(at("2026-10-31T12:00"))
    core.install(nextskin(cron=cron("30 1 * * *")), timezone=NEW_YORK)
    core.forward(DAY, by=5 * MINUTE)
    assert fires(core) == ["2026-11-01T05:30"]


def scheduled(expression: str, timezone: str = "UTC") -> dict[str, object]:
    return {"key": "sync", "schedule": {"cron": expression, "timezone": timezone}}


def test_cogover_c1_a_run_for_each_instant_in_the_schedule_s_own_zone(core: World) -> None:
    core.install(cogover(jobs=[scheduled("0 2 * * *", "Asia/Ho_Chi_Minh")]), timezone="Europe/Paris")
    core.forward(2 * DAY, by=HOUR)
    assert fires(core) == ["2026-06-01T19:00", "2026-06-02T19:00"]
    (first, _) = core.hosts.started
    assert (first.payload_json, first.source, first.identity, first.budget) == (None, "schedule", None, 10)


def test_cogover_c1_an_instant_reached_late_still_gets_its_run(core: World) -> None:
    core.install(cogover(jobs=[scheduled("* * * * *")]))
    down(core, MINUTE + 59_999)
    assert fires(core) == ["2026-06-01T12:01"]


def test_cogover_c2_missed_times_are_not_made_up(core: World) -> None:
    core.install(cogover(jobs=[scheduled("* * * * *"), {"key": "b", "schedule": {"cron": "30 12 * * *"}}]))
    down(core, 3 * HOUR)
    assert fires(core) == ["2026-06-01T15:00"]
    assert _utc(row(core, 1, "orders").next_fire) == "2026-06-02T12:30"


def test_cogover_c2_d9_deactivating_removes_the_schedules_and_activating_starts_them_anew(core: World) -> None:
    core.install(cogover(jobs=[scheduled("* * * * *")]))
    core.registry.disable("orders")
    assert core.store.registry.schedules("orders") == []
    core.clock.advance_to(core.now + HOUR + 30 * SECOND)
    core.install(cogover(jobs=[scheduled("* * * * *")]))
    assert core.store.registry.schedules("orders") == [], "an upgrade does not activate"
    core.registry.enable("orders")
    core.step()
    assert fires(core) == []
    core.forward(30 * SECOND)
    assert fires(core) == ["2026-06-01T13:01"]


def test_cogover_c3_a_run_is_made_though_the_last_is_unfinished(core: World) -> None:
    core.install(cogover(jobs=[{**scheduled("* * * * *"), "timeoutMs": 60_000}]))
    core.hosts.slots["orders"] = 0
    core.forward(3 * MINUTE, by=MINUTE)
    assert (row(core, 0, "orders").fires, row(core, 0, "orders").skipped) == (3, 0)


def test_cogover_c4_f3_skipped_minutes_never_fire_and_repeated_ones_twice(core: World) -> None:
    core.clock.advance_to(at("2026-10-31T12:00"))
    core.install(cogover(jobs=[scheduled("30 1 * * *", NEW_YORK)]))
    core.forward(DAY, by=5 * MINUTE)
    assert fires(core) == ["2026-11-01T05:30", "2026-11-01T06:30"]
    core.clock.advance_to(at("2027-03-13T12:00"))
    core.step()
    core.events.clear()
    core.install(cogover(jobs=[scheduled("30 2 * * *", NEW_YORK)]))
    core.forward(DAY, by=5 * MINUTE)
    assert fires(core) == []


def test_cogover_a_moved_site_does_not_move_schedules_with_their_own_zone(core: World) -> None:
    core.install(cogover(jobs=[scheduled("0 13 * * *", "UTC+07:00")]))
    before = row(core, 0, "orders")
    core.registry.set_timezone("orders", NEW_YORK)
    assert row(core, 0, "orders") == before


def test_e8_scheduled_runs_count_as_unfinished_and_are_never_refused(core: World) -> None:
    from nsplugin.platforms import load
    from nsplugin.runtime.enqueueing import checked
    from nsplugin.runtime.faults import Fault

    core.install(cogover(jobs=[scheduled("* * * * *")]))
    platform = load("cogover")
    core.hosts.slots["orders"] = 0
    order = checked(platform, {"sync"}, "sync", None, {}, core.now)
    core.enqueuer.accept(platform, "orders", [order] * (platform.enqueue.max_unfinished - 1))
    core.forward(2 * MINUTE, by=MINUTE)
    assert row(core, 0, "orders").fires == 2
    with pytest.raises(Fault):
        core.enqueue("orders")


def test_a_schedule_that_never_fires_again_rests(core: World) -> None:
    core.clock.advance_to(at("2099-12-31T00:00"))
    core.install(nextskin(cron=cron("0 0 29 2 *")))
    assert _utc(row(core).next_fire) == "2104-02-29T00:00"
    assert core.scheduler.next_due() == row(core).next_fire


def test_many_due_rows_are_taken_in_batches(core: World) -> None:
    core.install(nextskin(cron=cron(*["* * * * *"] * 250)))
    core.clock.advance_to(core.now + MINUTE)
    assert core.scheduler.run_once(core.now) == 250
    assert core.scheduler.run_once(core.now) == 0
    assert sum(depth.tasks for depth in core.store.tasks.depths()) == 250


def test_next_due_is_the_earliest_fire_of_an_enabled_plugin(core: World) -> None:
    assert core.scheduler.next_due() is None
    core.install(nextskin(cron=cron("0 13 * * *")))
    core.install(nextskin("mail", jobs={"sync": {}}, cron=cron("30 12 * * *")))
    assert _utc(core.scheduler.next_due()) == "2026-06-01T12:30"
    core.registry.disable("mail")
    assert _utc(core.scheduler.next_due()) == "2026-06-01T13:00"


def test_the_manifest_is_stored_as_it_was_built(core: World) -> None:
    manifest = nextskin(cron=cron("0 13 * * *"))
    core.install(manifest)
    (record,) = core.store.registry.plugins()
    assert json.loads(record.manifest) == manifest.value
    assert (record.digest, record.version, record.enabled) == (manifest.digest, "1.0.0", True)
