"""What commands and the administration page do with a core, on both stores."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from engine_world import DAY, HOUR, SECOND, Ending, World, cogover, nextskin
from nsplugin_core.clock import VirtualClock
from nsplugin_core.operations import STATES, Deleted, NotFound, Operations, Retried, TaskQuery, Unacceptable, state_named
from nsplugin_core.store.records import Enqueued
from nsplugin_core.views import Counts, TaskPage, plain

ONCE = {"sync": {"maxAttempts": 1}}
SECRET = "never in a listing"


def operations(core: World) -> Operations:
    return Operations.on(core.store, core.clock, core.enqueuer)


def bury(core: World, count: int, **options: object) -> list[str]:
    """Dead letters, the oldest first."""
    core.hosts.script = lambda attempt: Ending("failure", error="the mail server is away")
    ids = []
    for number in range(count):
        ids.append(core.enqueue(payload={"number": number, "text": SECRET}, **options).task_id)
        core.step()
        core.forward(SECOND)
    return ids


def every(core: World, query: TaskQuery) -> list[str]:
    """The ids of all pages."""
    ids: list[str] = []
    after = None
    while True:
        page = operations(core).tasks(replace(query, after=after))
        ids += [task.id for task in page.items]
        if page.next is None:
            return ids
        after = page.next


def test_a_listing_pages_through_every_state_once(core: World) -> None:
    core.install(nextskin(jobs={"sync": {"maxAttempts": 1}, "mail": {}}))
    dead = bury(core, 3)
    core.hosts.script = lambda attempt: None
    running = [core.enqueue(payload=None).task_id for _ in range(2)]
    core.step()
    waiting = [core.enqueue(job="mail", payload=None, delaySec=seconds).task_id for seconds in (30, 10, 20)]
    expected = [*sorted(running), waiting[1], waiting[2], waiting[0], *reversed(dead)]
    assert every(core, TaskQuery()) == expected
    assert every(core, TaskQuery(limit=1)) == expected
    assert every(core, TaskQuery(limit=3, plugin="shop")) == expected
    assert every(core, TaskQuery(limit=2, job="mail", plugin="shop")) == [waiting[1], waiting[2], waiting[0]]
    assert every(core, TaskQuery(limit=2, states=["dead"])) == list(reversed(dead))


def test_a_page_that_is_just_full_is_the_last(core: World) -> None:
    core.install(nextskin())
    core.enqueue(payload=None)
    assert operations(core).tasks(TaskQuery(limit=1)).next is None


@pytest.mark.parametrize(
    "after", ["nonsense", "queued.1", "queued..X", "queued.99999999999999999.X", "gone.1.X", "dead.1.X", "queued.1.\0"]
)
def test_a_place_that_no_page_gave_is_refused(core: World, after: str) -> None:
    with pytest.raises(Unacceptable, match="is no place in this list"):
        operations(core).tasks(TaskQuery(states=["queued"], after=after))


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_page_has_a_size(core: World, limit: int) -> None:
    with pytest.raises(Unacceptable, match="ask for 1 to 1000"):
        operations(core).tasks(TaskQuery(limit=limit))


def test_listings_never_show_payloads_and_a_task_shows_it_when_asked(core: World) -> None:
    """spec/cogover.md X7"""
    core.install(nextskin(jobs=ONCE))
    (task_id,) = bury(core, 1)
    ops = operations(core)
    page = ops.tasks(TaskQuery())
    listed = [page, ops.plugins(), ops.jobs("shop"), ops.schedules(), ops.recent("shop"), ops.task(task_id)]
    assert SECRET not in json.dumps(plain(listed))
    shown = ops.task(task_id, payload=True)
    assert shown.payload is not None
    assert json.loads(shown.payload) == {"number": 0, "text": SECRET}
    assert page.items[0].payload_bytes == len(shown.payload.encode())


def test_states_are_called_by_the_platform_s_words(core: World) -> None:
    """spec/cogover.md X7"""
    core.install(cogover(jobs=[{"key": "sync", "maxAttempts": 1}]))
    core.hosts.script = lambda attempt: Ending("failure", error="no")
    ops = operations(core)
    failed = core.enqueue("orders").task_id
    core.step()
    core.hosts.script = lambda attempt: Ending()
    done = core.enqueue("orders").task_id
    core.step()
    core.hosts.script = lambda attempt: None
    running = core.enqueue("orders").task_id
    core.step()
    waiting = core.enqueue("orders", delayMs=5).task_id
    words = {task.id: task.status for task in ops.tasks(TaskQuery()).items}
    assert words == {failed: "FAILED", done: "SUCCEEDED", running: "RUNNING", waiting: "PENDING"}
    assert ops.plugin("orders").words.task == "run"
    assert ops.plugin("orders").counts == Counts(queued=1, running=1, succeeded=1, dead=1)


def test_a_state_is_named_in_anybody_s_words() -> None:
    assert [state_named(word) for word in ("queued", "PENDING", "failed", "Dead", "SUCCEEDED", "running")] == [
        "queued", "queued", "dead", "dead", "succeeded", "running",
    ]  # fmt: skip
    with pytest.raises(Unacceptable, match="there is no state 'queud'; did you mean 'queued'"):
        state_named("queud")


def test_an_unknown_plugin_is_named_with_the_one_that_was_meant(core: World) -> None:
    ops = operations(core)
    with pytest.raises(NotFound, match="nor any other; `nsplugin install` installs one"):
        ops.plugin("shop")
    core.install(nextskin())
    with pytest.raises(NotFound, match="no plugin 'shpo' is installed here; did you mean 'shop'"):
        ops.enable("shpo")
    for call in (ops.plugin, ops.jobs, ops.schedules, ops.recent, ops.enable, ops.disable, ops.uninstall, ops.retry_all):
        with pytest.raises(NotFound, match="is installed here; there are: shop"):
            call("x\0\ud800")


def test_an_unknown_job_is_named_with_the_one_that_was_meant(core: World) -> None:
    core.install(nextskin())
    with pytest.raises(NotFound, match="declares no job 'snyc'; did you mean 'sync'"):
        operations(core).tasks(TaskQuery(plugin="shop", job="snyc"))
    with pytest.raises(NotFound, match="declares no job 'snyc'; did you mean 'sync'"):
        operations(core).enqueue("shop", "snyc")


def test_a_job_that_only_old_tasks_name_is_listed(core: World) -> None:
    core.install(nextskin(jobs={"sync": {}, "old": {}}))
    core.enqueue(job="old", payload=None, delaySec=60)
    core.install(nextskin())
    old, new = operations(core).jobs("shop")
    assert (old.name, old.declared, old.counts) == ("old", False, Counts(queued=1))
    assert (new.name, new.declared, new.max_attempts) == ("sync", True, 5)
    assert len(operations(core).tasks(TaskQuery(plugin="shop", job="old")).items) == 1


def test_an_administrator_s_run_is_the_administrator_s(core: World) -> None:
    """spec/cogover.md X1, X6"""
    core.install(cogover())
    ops = operations(core)
    made = ops.enqueue("orders", "sync", {"a": 1}, {"idempotencyKey": "k"}, user="ada")
    again = ops.enqueue("orders", "sync", {"a": 2}, {"idempotencyKey": "k"}, user="ada")
    assert again == Enqueued(task_id=made.task_id, duplicate=True)
    stored = core.task(made.task_id)
    assert (stored.enqueued_by, stored.identity, stored.budget) == ("management", "ada", 10)


def test_what_may_not_be_enqueued_is_refused_in_words(core: World) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    core.install(nextskin(jobs={"sync": {"payloadSchema": schema}}))
    ops = operations(core)
    with pytest.raises(Unacceptable, match="the payload does not fit the job 'sync' at /id"):
        ops.enqueue("shop", "sync", {"id": "seven"})
    with pytest.raises(Unacceptable, match="no option 'delayMs'; there are delaySec, dedupeKey"):
        ops.enqueue("shop", "sync", {"id": 7}, {"delayMs": 5})
    with pytest.raises(Unacceptable, match="delaySec is -1"):
        ops.enqueue("shop", "sync", {"id": 7}, {"delaySec": -1})
    assert ops.tasks(TaskQuery()).items == []
    assert not ops.enqueue("shop", "sync", {"id": 7}).duplicate


def test_retry_starts_anew_and_drops_a_duplicate(core: World) -> None:
    """spec/nextskin.md A1, A2"""
    core.install(nextskin(jobs=ONCE))
    first, second = bury(core, 2, dedupeKey="k")
    (third,) = bury(core, 1)
    result = operations(core).retry([first, third, second, "TSKNONE", "\0"])
    assert result.queued == [first, third] or result.queued == [third, second]
    assert len(result.dropped) == 1
    assert list(result.missing) == ["TSKNONE", "\0"]
    assert core.task(result.queued[0]).attempt == 0
    assert operations(core).retry([third]).missing == [third]


def test_dead_letters_of_another_plugin_are_left_alone(core: World) -> None:
    core.install(nextskin(jobs=ONCE))
    core.install(nextskin("other"))
    (dead,) = bury(core, 1)
    ops = operations(core)
    assert ops.retry([dead], plugin="other").missing == [dead]
    assert ops.delete([dead], plugin="other").missing == [dead]
    with pytest.raises(NotFound):
        ops.task(dead, plugin="other")
    assert ops.delete([dead]).deleted == [dead]


def test_all_dead_letters_of_a_job_go_at_once(core: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsplugin_core.operations.BATCH", 2)
    core.install(nextskin(jobs={"sync": {"maxAttempts": 1}, "mail": {"maxAttempts": 1}}))
    dead = bury(core, 5)
    (mail,) = bury(core, 1, job="mail")
    ops = operations(core)
    assert sorted(ops.retry_all("shop", job="sync").queued) == sorted(dead)
    assert [task.id for task in ops.tasks(TaskQuery(states=["dead"])).items] == [mail]
    core.step()
    assert sorted(ops.delete_all("shop").deleted) == sorted([mail, *dead])
    assert ops.tasks(TaskQuery()).items == []


def test_an_id_that_is_named_twice_counts_once(core: World) -> None:
    core.install(nextskin(jobs=ONCE))
    first, second = bury(core, 2)
    ops = operations(core)
    assert ops.retry([first, first, "TSKNONE", "TSKNONE"]) == Retried(queued=[first], dropped=[], missing=["TSKNONE"])
    assert ops.delete([second, second]) == Deleted(deleted=[second], missing=[])


def test_all_means_letters_of_a_core_whose_clock_is_ahead_too(core: World) -> None:
    core.install(nextskin(jobs=ONCE))
    dead = bury(core, 1)
    behind = replace(operations(core), clock=VirtualClock(core.now - HOUR))
    assert behind.retry_all("shop").queued == dead


def test_disabling_keeps_tasks_and_uninstalling_removes_them(core: World) -> None:
    """spec/nextskin.md A4"""
    core.install(nextskin(jobs=ONCE, cron=[{"schedule": "0 3 * * *", "job": "sync"}]))
    bury(core, 2)
    waiting = core.enqueue(payload=None).task_id
    ops = operations(core)
    assert (ops.disable("shop"), ops.disable("shop")) == (True, False)
    core.step()
    assert core.task(waiting).state == "queued"
    assert ops.plugin("shop").next_fire is None
    assert [row.active for row in ops.schedules("shop")] == [False]
    assert (ops.enable("shop"), ops.enable("shop")) == (True, False)
    assert ops.uninstall("shop") == Counts(queued=1, dead=2)
    assert ops.plugins() == []
    assert ops.tasks(TaskQuery()) == TaskPage(items=[], next=None)


def test_deactivating_a_cogover_project_removes_its_schedules(core: World) -> None:
    """spec/cogover.md D9"""
    core.install(cogover(jobs=[{"key": "sync", "schedule": {"cron": "0 2 * * *", "timezone": "UTC+7"}}]))
    ops = operations(core)
    assert [row.timezone for row in ops.schedules("orders")] == ["UTC+07:00"]
    ops.disable("orders")
    assert ops.schedules("orders") == []
    ops.enable("orders")
    assert len(ops.schedules("orders")) == 1


def test_schedules_come_in_words_with_their_next_fires(core: World) -> None:
    core.registry.install(nextskin(cron=[{"schedule": "30 3 * * 1", "job": "sync"}]), timezone="Europe/Berlin")
    (row,) = operations(core).schedules(fires=2)
    assert plain(row) == {
        "plugin": "shop",
        "pointer": "/cron/0",
        "expression": "30 3 * * 1",
        "words": row.words,
        "timezone": "Europe/Berlin",
        "job": "sync",
        "active": True,
        "nextFire": "2026-06-08T01:30:00Z",
        "nextFires": [
            {"at": "2026-06-08T01:30:00Z", "local": "2026-06-08 03:30 CEST"},
            {"at": "2026-06-15T01:30:00Z", "local": "2026-06-15 03:30 CEST"},
        ],
        "lastFire": None,
        "lastTask": None,
        "fires": 0,
        "skipped": 0,
        "caughtUp": 0,
    }
    assert "03:30" in row.words and "Monday" in row.words


def test_a_task_tells_of_its_attempts(core: World) -> None:
    core.install(nextskin(jobs={"sync": {"maxAttempts": 2}}))
    core.hosts.script = lambda attempt: Ending("failure", error=f"try {attempt.attempt}")
    task_id = core.enqueue(payload=None).task_id
    core.step()
    core.forward(HOUR, by=SECOND)
    detail = operations(core).task(task_id)
    assert [(each.number, each.outcome, each.error) for each in detail.attempts] == [
        (1, "failure", "try 1"), (2, "failure", "try 2"),
    ]  # fmt: skip
    assert (detail.task.state, detail.task.last_error, detail.task.last_error_code) == ("dead", "try 2", "HANDLER_ERROR")
    assert detail.task.keep_until == (detail.task.finished_at or 0) + 30 * DAY
    assert [each.number for each in operations(core).recent("shop", limit=1)] == [2]


def test_the_order_of_states_names_each_once() -> None:
    assert sorted(STATES) == ["dead", "queued", "running", "succeeded"]
