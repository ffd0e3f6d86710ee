"""Calls from a real host: the core enforces capabilities, limits and identity, whatever the host's own code lets through.

spec/core.md H3; spec/nextskin.md E; spec/cogover.md E, X1.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import host_world
from host_world import World
from nsplugin.runtime.providers import Access, Providers
from nsplugin.runtime.standins import LocalData, local_providers

CODE = '''
from nsplugin import Job, define_plugin

async def stores(ctx):
    await ctx.kv.set("a", {"n": [1, None, "ü"]})
    await ctx.kv.set("gone", 1, ttl_sec=1)
    print(await ctx.kv.get("a"), await ctx.kv.get("nope"), await ctx.kv.list())
    await ctx.kv.delete("a")
    await ctx.kv.delete("a")

async def enqueues(ctx, payload):
    print(await ctx.jobs.enqueue("stores", payload, delay_sec=60, dedupe_key="k"))

async def enqueues_nothing(ctx): await ctx.jobs.enqueue("stores")

async def tries(ctx, payload):
    """Make a call past all that the client's side checks."""
    try:
        print(await ctx.jobs._run.caller.call(payload[0], payload[1]))
    except Exception as error:
        print(type(error).__name__, error.code, "|", error)

async def refused(ctx, payload):
    value = {"set": {1}, "nan": float("nan"), "key": {1: 2}, "tuple": (1,), "deep": None}[payload]
    if payload == "deep":
        value = []
        for _ in range(100): value = [value]
    await ctx.kv.set("a", value)

async def big(ctx): await ctx.kv.set("a", "x" * 262_143)

plugin = define_plugin(id="p", capabilities=["storage.kv"], jobs={name.replace("_", "-"): Job(globals()[name]) for name in
    ("stores", "enqueues", "enqueues_nothing", "tries", "refused", "big")})
'''

BARE = """
from nsplugin import Job, define_plugin
async def uses(ctx): await ctx.kv.get("a")
async def sneaks(ctx): await ctx.log._run.caller.call("kv.get", {"key": "a"})
plugin = define_plugin(id="bare", jobs={"uses": Job(uses), "sneaks": Job(sneaks)})
"""

COGOVER = """
from nsplugin.cogover import define_job
async def many(jobs):
    for number in range(51): await jobs.enqueue("many", {"n": number})
async def twice(jobs):
    first = await jobs.enqueue("many", None, idempotency_key="k")
    print(first.duplicate, (await jobs.enqueue("many", None, {"idempotencyKey": "k"})).run_id == first.run_id)
async def reads(data, payload):
    view = {"own": data, "user": data.as_user(), "system": data.as_system()}[payload]
    print((await view.object("order").records.get("1")).fields)
async def secret(secrets, log):
    value = await secrets.get("KEY")
    log.info(f"the key is {value}", key=value)
    print(os.environ.get("KEY"))
    raise ValueError(f"no {value}")
async def state_and_locks(state, locks):
    entry = await state.set("a", 1, namespace="n")
    async with await locks.acquire("l", lease_ms=1000) as lock: token = lock.token
    again = await locks.acquire("l", lease_ms=1000)
    print((await state.get("a", namespace="n")).version == entry.version, again.token > token)
def in_sync(locks, state):
    with locks.acquire("sync", lease_ms=1000).result():
        print(state.update("n", lambda value: (value or 0) + 1).result().value)
async def waits_for_a_lock(locks):
    await locks.acquire("w", lease_ms=300)
    print((await locks.acquire("w", lease_ms=1000, wait_ms=5000)).name)
async def starts(processes): print(await processes.start("approve", on_complete="many"))
jobs = [define_job({"key": name}, globals()[name]) for name in
    ("many", "twice", "reads", "secret", "state_and_locks", "in_sync", "waits_for_a_lock", "starts")]
"""
COGOVER_JOBS = ("many", "twice", "reads", "secret", "state_and_locks", "in_sync", "waits_for_a_lock", "starts")


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Plugins of both platforms with stand-ins for all providers."""
    providers = local_providers(objects={"order": [{"id": "1", "total": 5}]}, processes={"approve": 1})
    with host_world.world(tmp_path_factory.mktemp("calls"), providers=providers) as world:
        world.put(CODE, jobs=["stores", "enqueues"])
        world.put(BARE, id="bare", jobs=["uses"], capabilities=())
        world.put(COGOVER, id="c", platform="cogover", jobs=COGOVER_JOBS, secrets={"KEY": "hunter2-hunter2"})
        world.put(COGOVER, id="system", platform="cogover", jobs=COGOVER_JOBS, allow_internal_system=True)
        world.put(COGOVER, id="off", platform="cogover", jobs=COGOVER_JOBS, jobs_enabled=False)
        yield world


def printed(world: World, job: str, payload: Any = None, **given: Any) -> list[str]:
    """What a successful attempt printed."""
    del world.logs[:]
    outcome = world.run(job, payload, **given)
    assert outcome.kind == "success", outcome
    return world.lines("stdout")


def test_kv_keeps_json_values(calls: World) -> None:
    assert printed(calls, "stores") == ["{'n': [1, None, 'ü']} None ['a', 'gone']"]


def test_e1_e5_enqueue_stores_the_task_before_it_returns(calls: World) -> None:
    calls.queue.accepted.clear()
    assert printed(calls, "enqueues", {"x": 1}, identity="ann") == ["None"]
    printed(calls, "enqueues", {"x": 2})
    (queued,) = calls.queue.accepted
    assert (queued.plugin, queued.order.job, queued.order.payload, queued.order.key) == ("p", "stores", '{"x":1}', "k")
    assert (queued.order.due_at - queued.accepted_at in range(59_000, 60_001), queued.user, queued.by) == (True, "ann", None)


def test_a_payload_left_out_is_an_empty_object_on_nextskin(calls: World) -> None:
    calls.queue.accepted.clear()
    printed(calls, "enqueues-nothing")
    assert calls.queue.accepted[0].order.payload == "{}"


@pytest.mark.parametrize(
    ("method", "arguments", "line"),
    [
        (
            "jobs.enqueue",
            {"job": "nope", "payload": {}, "options": {}},
            "CallError VALIDATION_ERROR | ctx.jobs.enqueue: no job 'nope' is declared; declared: enqueues, stores",
        ),
        (
            "jobs.enqueue",
            {"job": "stores", "payload": {}, "options": {"delaySec": -1}},
            "CallError VALIDATION_ERROR | ctx.jobs.enqueue: delaySec is -1; "
            "it must be a whole number of seconds from 0 to 2592000",
        ),
        (
            "jobs.enqueue",
            {"job": "stores", "payload": "x" * 65_535, "options": {}},
            "CallError VALIDATION_ERROR | ctx.jobs.enqueue: the payload has 65,537 bytes as JSON, 65,536 are allowed; "
            "store the data and enqueue a key to it",
        ),
        ("kv.get", {}, "CallError VALIDATION_ERROR | kv.get: key must be text"),
        (
            "kv.get",
            {"key": "a\0"},
            "CallError VALIDATION_ERROR | kv.get: key contains a NUL character or half of a surrogate pair",
        ),
        (
            "kv.list",
            {"prefix": "", "after": "", "limit": 0},
            "CallError VALIDATION_ERROR | kv.list: limit must be a whole number from 1 to 1000",
        ),
        ("state.get", {"namespace": "", "key": "a"}, "CallError UNKNOWN_CALL | NextSkin has no state.get"),
        ("secrets.get", {"name": "KEY"}, "CallError UNKNOWN_CALL | NextSkin has no secrets.get"),
        ("kv.destroy", {}, "CallError UNKNOWN_CALL | NextSkin has no kv.destroy"),
        ("time.sleep", {"ms": 1}, "CallError UNKNOWN_CALL | time is real here"),
        ("__class__", {}, "CallError UNKNOWN_CALL | NextSkin has no __class__"),
    ],
)
def test_h3_the_core_checks_again(calls: World, method: str, arguments: dict[str, Any], line: str) -> None:
    assert printed(calls, "tries", [method, arguments]) == [line]


def test_h3_what_is_not_declared_is_refused_on_both_sides(calls: World) -> None:
    for job, what in (("uses", "ctx.kv"), ("sneaks", "kv.get")):
        outcome = calls.run(job, plugin="bare")
        assert (outcome.kind, outcome.error_code) == ("failure", "CAPABILITY_UNDECLARED")
        assert outcome.error == (
            f'{what} needs the capability "storage.kv": add it to the plugin, define_plugin(…, capabilities=["storage.kv"])'
        )


@pytest.mark.parametrize("what", ["set", "nan", "key", "tuple", "deep"])
def test_a_value_that_json_would_change_is_refused_where_it_is_passed(calls: World, what: str) -> None:
    outcome = calls.run("refused", what)
    assert (outcome.kind, outcome.error_code) == ("failure", "VALIDATION_ERROR")
    assert str(outcome.error).startswith("kv.set: value")


def test_values_have_a_greatest_size(calls: World) -> None:
    assert calls.run("big").error == "kv.set: value has 262,145 bytes as JSON; 262,144 are allowed"


class Blocked(LocalData):
    """Records that come only when they are let go."""

    def __init__(self, let_go: threading.Event) -> None:
        super().__init__({"order": [{"id": "1"}]})
        self._let_go = let_go

    def get(self, access: Access, object: str, id: str, *, fields: Any) -> Any:
        """One record, later."""
        assert self._let_go.wait(20)
        return super().get(access, object, id, fields=fields)


MANY = """
from nsplugin.cogover import define_job
async def many(data, payload):
    records = data.object("order").records
    calls = [records.get("1") for _ in range(payload)]
    for call in calls: await call
jobs = [define_job({"key": "many"}, many)]
"""


def test_calls_under_way_at_once_have_a_limit_and_a_slow_provider_holds_up_nobody_else(tmp_path: Path) -> None:
    let_go = threading.Event()
    settings = replace(host_world.QUICK, calls_in_flight=3)
    with host_world.world(tmp_path / "w", settings, Providers(data=Blocked(let_go))) as world:
        world.put(MANY, id="c", platform="cogover")
        world.put(CODE, jobs=["stores", "enqueues"])
        (slow,) = world.start(world.attempt("many", 3, plugin="c", identity="ann"))
        assert world.run("stores").kind == "success"
        outcome = world.run("many", 4, plugin="c", identity="ann")
        assert (outcome.error_code, outcome.error) == (
            "TOO_MANY_CALLS",
            "3 calls are under way already: await some before you make more",
        )
        let_go.set()
        assert world.outcome(slow).kind == "success"


def test_e8_fifty_enqueues_an_invocation(calls: World) -> None:
    calls.queue.accepted.clear()
    outcome = calls.run("many", plugin="c")
    assert (outcome.kind, outcome.error_code, len(calls.queue.accepted)) == ("failure", "RATE_LIMITED", 50)


def test_e8_jobs_that_are_not_enabled(calls: World) -> None:
    outcome = calls.run("many", plugin="off")
    assert (outcome.error_code, outcome.error) == (
        "JOBS_DISABLED",
        "jobs.enqueue: background jobs are not enabled for this workspace",
    )


def test_e5_the_stored_run_is_returned(calls: World) -> None:
    calls.queue.accepted.clear()
    assert printed(calls, "twice", plugin="c") == ["False True"]


@pytest.mark.parametrize(
    ("plugin", "user", "mode", "granted"),
    [
        ("c", "ann", "own", True),
        ("c", "ann", "user", True),
        ("c", "ann", "system", False),
        ("c", None, "own", False),
        ("c", None, "user", False),
        ("system", None, "own", True),
        ("system", None, "user", False),
        ("system", "ann", "system", True),
    ],
)
def test_x1_identity_for_data(calls: World, plugin: str, user: str | None, mode: str, granted: bool) -> None:
    outcome = calls.run("reads", mode, plugin=plugin, identity=user)
    assert (outcome.kind, outcome.error_code) == (("success", None) if granted else ("failure", "PERMISSION_DENIED"))


def test_secrets_are_in_no_environment_log_or_error(calls: World) -> None:
    del calls.logs[:]
    outcome = calls.run("secret", plugin="c")
    assert outcome.error == "no •••"
    assert calls.lines("stdout") == ["None"]
    (record,) = [record for record in calls.logs if record.stream == "log"]
    assert (record.message, record.fields) == ("the key is •••", {"key": "•••"})
    assert not any("hunter2" in f"{record.message}{record.fields}" for record in calls.logs)


def test_state_and_locks(calls: World) -> None:
    assert printed(calls, "state_and_locks", plugin="c") == ["True True"]
    assert printed(calls, "in_sync", plugin="c") == ["1"]
    assert printed(calls, "waits_for_a_lock", plugin="c") == ["w"]


def test_x8_a_process_that_ends_is_a_run(calls: World) -> None:
    calls.queue.accepted.clear()
    assert printed(calls, "starts", plugin="c", identity="ann") == ["process-1"]
    (queued,) = calls.queue.accepted
    assert (queued.order.job, queued.user, queued.by) == ("many", "ann", "process:process-1")
