"""``nsplugin.testing``: an author's jobs under a fake platform with the real rules (the core's capabilities and policies)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from datetime import UTC, datetime
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel

from nsplugin import Context, DefinitionError, Job, Request, Response, Route, define_plugin
from nsplugin.cogover import define_job
from nsplugin.runtime.faults import CallError
from nsplugin.testing import Bench, retry_waits, run_job


class Expire(BaseModel):
    key: str
    seconds: int = 0


async def expire(payload: Expire, attempt: int, ctx: Context) -> None:
    await ctx.sleep(payload.seconds)
    await ctx.kv.delete(payload.key)
    ctx.log.info("expired", attempt=attempt)


def tidy(payload: Any, ctx: Context) -> None:
    for key in ctx.kv.list("old-").result():
        ctx.jobs.enqueue("expire", {"key": key}, delay_sec=60, dedupe_key=key)


async def post_expire(request: Request, ctx: Context) -> Response:
    body = await request.json()
    await ctx.jobs.enqueue("expire", body, delay_sec=60, dedupe_key=body["key"])
    return Response.json({"queued": True, "by": ctx.plugin_id}, status=202)


PLUGIN = define_plugin(
    id="cache-expiry",
    capabilities=["storage.kv"],
    jobs={"expire": Job(expire, payload=Expire, timeout_ms=5_000), "tidy": Job(tidy, max_attempts=2)},
    routes={"POST /expire": Route(post_expire, auth="user")},
)


def one(handler: Any, **options: Any) -> Any:
    """A NextSkin plugin with one job and nothing declared but it."""
    return define_plugin(id="one", jobs={"job": Job(handler, **options)})


def test_x2_a_normal_return_is_success() -> None:
    result = run_job(PLUGIN, "expire", {"key": "a"}, kv={"a": 1, "b": [2]})
    assert (result.succeeded, result.kv, result.waits_ms) == (True, {"b": [2]}, ())
    assert [(line.level, line.message, line.fields) for line in result.logs] == [("info", "expired", {"attempt": 1})]


def test_x3_x4_waits_are_the_platforms_and_the_last_failure_is_dead() -> None:
    result = run_job(PLUGIN, "expire", {"key": "a"}, fail=99)
    assert (result.state, result.waits_ms) == ("dead", (10_000, 20_000, 40_000, 80_000))
    assert [attempt.number for attempt in result.attempts] == [1, 2, 3, 4, 5]
    assert retry_waits(PLUGIN, "expire")[0] == (8_000, 12_000)
    drawn = run_job(PLUGIN, "expire", {"key": "a"}, fail=99, random=Random(7)).waits_ms
    assert drawn == run_job(PLUGIN, "expire", {"key": "a"}, fail=99, random=Random(7)).waits_ms != result.waits_ms


def test_an_attempt_that_was_told_to_fail_is_followed_by_the_real_ones() -> None:
    result = run_job(PLUGIN, "expire", {"key": "a"}, fail={1: "timeout", 2: ValueError("no")})
    assert [attempt.ending for attempt in result.attempts] == ["timeout", "failure", "success"]
    assert [attempt.message for attempt in result.attempts] == ["timed out after 5000 ms", "no", None]
    assert [attempt.started_at - result.attempts[0].started_at for attempt in result.attempts] == [0, 10_000, 30_000]


def test_fewer_attempts_leave_the_job_queued() -> None:
    assert run_job(PLUGIN, "expire", {"key": "a"}, fail=1, attempts=1).state == "queued"
    with pytest.raises(ValueError, match="attempts is 0; it must be at least 1"):
        run_job(PLUGIN, "expire", {"key": "a"}, attempts=0)


def test_sleep_is_virtual_and_the_time_out_ends_it() -> None:
    bench = Bench(target=PLUGIN, now=datetime(2026, 3, 1, tzinfo=UTC))
    assert bench.run("expire", {"key": "a", "seconds": 4}).attempts[0].ended_at == 1_772_323_204_000
    late = bench.run("expire", {"key": "a", "seconds": 3_600}, attempts=1)
    assert [(each.ending, each.message, each.ended_at - each.started_at) for each in late.attempts] == [
        ("timeout", "timed out after 5000 ms", 5_000)
    ]


def test_sleepers_side_by_side_wake_in_the_order_of_time() -> None:
    woken: list[float] = []

    async def sleeper(ctx: Context) -> None:
        async def one_sleep(seconds: float) -> None:
            await ctx.sleep(seconds)
            woken.append(seconds)

        await asyncio.gather(one_sleep(3), one_sleep(1), one_sleep(2))

    result = run_job(one(sleeper))
    assert (woken, result.attempts[0].ended_at - result.attempts[0].started_at) == ([1, 2, 3], 3_000)


def test_a_handler_that_swallows_its_time_out_has_timed_out_all_the_same() -> None:
    async def stubborn(ctx: Context) -> None:
        try:
            await ctx.sleep(100)
        except TimeoutError:
            assert ctx.signal.aborted

    assert run_job(one(stubborn, timeout_ms=50), attempts=1).attempts[0].ending == "timeout"


def test_real_waiting_is_cut_and_explained() -> None:
    async def waits() -> None:
        await asyncio.sleep(60)

    result = run_job(one(waits, timeout_ms=10), attempts=1)
    assert result.attempts[0].ending == "timeout"
    assert "still waited after 1 s of real time: in tests only ctx.sleep is virtual" in str(result.attempts[0].message)


def test_what_a_sync_handler_enqueued_without_awaiting_is_there() -> None:
    result = run_job(PLUGIN, "tidy", kv={"old-1": 1, "old-2": 2, "new": 3})
    assert [(each.job, each.payload, each.delay_ms, each.key) for each in result.enqueued] == [
        ("expire", {"key": "old-1"}, 60_000, "old-1"),
        ("expire", {"key": "old-2"}, 60_000, "old-2"),
    ]


def test_a_call_that_nobody_awaited_fails_the_attempt_when_it_fails() -> None:
    async def careless(ctx: Context) -> None:
        ctx.kv.get("")

    plugin = define_plugin(id="one", capabilities=["storage.kv"], jobs={"job": Job(careless)})
    error = run_job(plugin, attempts=1).error
    assert isinstance(error, CallError)
    assert str(error) == "kv.get: key has 0 characters; 1 to 512 are allowed"


def test_routes_are_called_with_a_request() -> None:
    bench = Bench(target=PLUGIN)
    response = bench.request("POST /expire", json={"key": "a"})
    assert (response.status, response.body) == (202, b'{"queued":true,"by":"cache-expiry"}')
    assert [(each.job, each.key) for each in bench.enqueued] == [("expire", "a")]
    bench.request("POST /expire", json={"key": "a"})
    assert len(bench.enqueued) == 1
    with pytest.raises(ValueError, match="the request's body is no JSON"):
        bench.request("POST /expire", body=b"{")
    with pytest.raises(KeyError, match="no route 'GET /x'; there are POST /expire"):
        bench.request("GET /x")


def test_a_payload_that_does_not_fit_the_model_fails_the_attempt_by_its_fields() -> None:
    error = run_job(PLUGIN, "expire", {"kye": "a"}, attempts=1).error
    assert "key: Field required" in str(error)


def test_h3_an_undeclared_capability_raises_and_says_where_to_declare_it() -> None:
    async def uses_kv(ctx: Context) -> None:
        await ctx.kv.get("a")

    error = run_job(one(uses_kv), attempts=1).error
    assert isinstance(error, CallError)
    assert error.code == "CAPABILITY_UNDECLARED"
    assert str(error) == (
        'ctx.kv needs the capability "storage.kv": add it to the plugin, define_plugin(…, capabilities=["storage.kv"])'
    )


def test_the_context_names_what_it_has() -> None:
    async def asks(ctx: Any) -> None:
        ctx.data  # noqa: B018

    error = run_job(one(asks), attempts=1).error
    assert str(error) == "the context has no 'data'; it has jobs, kv, log, signal, plugin_id, sleep"


@pytest.mark.parametrize(
    ("name", "payload", "options", "message"),
    [
        ("expier", {}, {}, "ctx.jobs.enqueue: no job 'expier' is declared; did you mean 'expire'?"),
        ("x", {}, {}, "ctx.jobs.enqueue: no job 'x' is declared; declared: expire, tidy"),
        ("expire", {}, {"delay_sec": 2_592_001}, "delaySec is 2592001; it must be a whole number of seconds from 0 to 2592000"),
        ("expire", {}, {"delay_sec": True}, "delaySec is True; it must be a whole number of seconds"),
        ("expire", {}, {"dedupe_key": " a"}, "dedupeKey ' a' begins or ends with white space"),
        ("expire", {}, {"dedupe_key": "\ufeffa"}, "begins or ends with white space"),
        ("expire", {}, {"dedupe_key": ""}, "dedupeKey '' has 0 characters; 1 to 255 are allowed"),
        ("expire", {}, {"dedupe_key": "😀" * 256}, "has 256 characters; 1 to 255 are allowed"),
        ("expire", {}, {"dedupe_key": "a\0b"}, "contains a NUL character"),
        ("expire", {}, {"dedupe_key": "\ud800"}, "contains half of a surrogate pair"),
        ("expire", {}, {"dedupe_kee": "a"}, "ctx.jobs.enqueue has no argument 'dedupe_kee'; it has delay_sec, dedupe_key"),
        ("expire", {"a": {1, 2}}, {}, "ctx.jobs.enqueue: the payload at /a:"),
        ("expire", "x" * 65_535, {}, "the payload has 65,537 bytes as JSON, 65,536 are allowed"),
    ],
)
def test_e1_to_e4_are_checked_before_the_call(name: str, payload: Any, options: dict[str, Any], message: str) -> None:
    caught: list[Exception] = []

    async def enqueues(ctx: Any) -> None:
        try:
            ctx.jobs.enqueue(name, payload, **options)
        except CallError as error:
            caught.append(error)

    plugin = define_plugin(id="p", jobs={"expire": Job(enqueues), "tidy": Job(tidy)})
    assert run_job(plugin, "expire").enqueued == ()
    assert message in str(caught[0])


def test_e2_e4_at_the_limits_everything_is_accepted() -> None:
    async def enqueues(ctx: Context) -> None:
        await ctx.jobs.enqueue("job", "x" * 65_534, {"delaySec": 2_592_000, "dedupeKey": "😀" * 255})

    (queued,) = run_job(one(enqueues)).enqueued
    assert (len(queued.payload), queued.delay_ms, len(queued.key or "")) == (65_534, 2_592_000_000, 255)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Ho_Chi_Minh", "UTC"])
def test_a_time_without_a_zone_is_utc_on_every_machine(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert Bench(target=PLUGIN, now=datetime(2026, 1, 1)).time.now_ms() == 1_767_225_600_000
        assert Bench(target=PLUGIN, now=datetime(2026, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo"))).time.now_ms() == 1_767_193_200_000
    finally:
        monkeypatch.undo()
        time.tzset()


def test_it_runs_inside_an_asynchronous_test_too() -> None:
    async def test() -> bool:
        return run_job(PLUGIN, "expire", {"key": "a"}).succeeded

    assert asyncio.run(test())


def test_a_faulty_definition_is_told() -> None:
    with pytest.raises(DefinitionError):
        run_job([define_job({"key": "a"}, tidy), define_job({"key": "A"}, tidy)], "a")
    with pytest.raises(KeyError, match="no job 'nope'; there are expire, tidy"):
        run_job(PLUGIN, "nope")


def test_it_needs_nothing_of_the_core() -> None:
    code = """
import sys, nsplugin.testing
heavy = {name.partition(".")[0] for name in sys.modules} & {"nsplugin_core", "nsplugin_cli", "starlette", "structlog", "jinja2"}
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
