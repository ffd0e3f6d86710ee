"""How handlers are called and what their attempts come to, in a real host.

spec/nextskin.md D7, X2; spec/cogover.md H1-H3, X4.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

import host_world
from host_world import World
from waiting import until

NEXTSKIN = """
from pydantic import BaseModel
from nsplugin import Job, define_plugin
SEEN = []

class Model(BaseModel):
    key: str
    count: int = 1

async def names_all(payload, attempt, ctx): ctx.log.info("all", payload=payload, attempt=attempt, plugin=ctx.plugin_id)
def names_some(attempt): print(attempt)
def names_none(): print("none")
async def takes_more(**given): print(sorted(given))
def has_defaults(payload, other=3): print(payload, other)
lambda_job = lambda payload: waits(payload)
async def waits(payload): print("waited", payload)
class Callable:
    async def __call__(self, payload): print("called", payload)
class Base:
    def method(self, payload): print("method", payload)

async def modelled(payload: Model): print(type(payload).__name__, payload.key, payload.count)
def fails(payload): raise _error(payload)
def _error(kind):
    class Odd(Exception):
        def __str__(self): raise RuntimeError("no text")
    class Coded(Exception):
        code = "CLASS"
        def __init__(self): super().__init__("coded"); self.code = "LIMIT"
    return {
        "value": ValueError("boom"), "empty": ValueError(), "exit": SystemExit(3), "interrupt": KeyboardInterrupt(),
        "base": BaseException("base"), "cancel": asyncio.CancelledError(), "odd": Odd(), "coded": Coded(),
        "group": ExceptionGroup("several", [ValueError("a")]), "surrogate": ValueError("a\\ud800\\0b"),
        "generator": GeneratorExit(), "deep": RecursionError("deep"),
    }[kind]
async def fails_later(payload):
    await asyncio.sleep(0)
    raise _error(payload)
def recurses(): recurses()
async def careless(ctx): ctx.kv.set("a", 1)
def sync_calls(ctx):
    assert ctx.kv.set("b", [1]).result() is None
    print(ctx.kv.get("b").result())
async def forgets_to_await(ctx):
    if ctx.kv.get("a"): pass
async def blocks_its_loop(ctx): ctx.kv.get("a").result()
async def keeps_calling(ctx):
    async def later():
        await asyncio.sleep(0.05)
        try: await ctx.kv.get("a")
        except Exception as error: print(type(error).__name__, error.code)
    global task
    task = asyncio.get_running_loop().create_task(later())
def loops_of_its_own(ctx):
    async def work(): return await ctx.kv.get("b")
    print("own loop", asyncio.run(work()))
async def side_by_side(ctx):
    await asyncio.gather(*(ctx.kv.set(f"k{n}", n) for n in range(20)))
    print(len(await ctx.kv.list("k")))
async def sleeps(ctx):
    started = time.monotonic()
    await ctx.sleep(0.05)
    print("slept", time.monotonic() - started >= 0.045)
def slow(payload): time.sleep(payload)
async def slow_async(payload): await asyncio.sleep(payload)
async def unusual_payload(payload): print(payload is None)

base = Base()
named = {"called": Callable(), "method": base.method}
jobs = {name.replace("_", "-"): Job(value) for name, value in list(globals().items())
        if callable(value) and getattr(value, "__module__", "") == "main" and not isinstance(value, type) and name[0] != "_"}
jobs |= {name: Job(value) for name, value in named.items()}
jobs["modelled"] = Job(modelled, payload=Model)
plugin = define_plugin(id="p", capabilities=["storage.kv"], jobs=jobs)
"""

COGOVER = """
from nsplugin.cogover import RetryableError, define_job
def plain(payload, job, log): log.info("plain", payload=payload, id=job.id, attempt=job.attempt, of=job.max_attempts,
    source=job.source, run_at=job.run_at, enqueued_at=job.enqueued_at, key=job.key)
async def whole(context): context.log.info("whole", {"identity": context.invocation.identity, "user": context.invocation.user})
async def who(invocation): print(invocation.identity, invocation.user, invocation.enqueued_by)
def retry(): raise RetryableError("smtp is down", {"host": "a"})
def swallowed():
    try: retry()
    except RetryableError: raise ValueError("no")
def subclass():
    class Mine(RetryableError): pass
    raise Mine("mine")
names = ("plain", "whole", "who", "retry", "swallowed", "subclass")
jobs = [define_job({"key": name}, globals()[name]) for name in names]
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A NextSkin plugin and a Cogover project."""
    with host_world.world(tmp_path_factory.mktemp("both")) as world:
        world.put(NEXTSKIN)
        world.put(COGOVER, id="c", platform="cogover")
        yield world


def printed(world: World, job: str, payload: Any = None, **given: Any) -> list[str]:
    """What a successful attempt printed."""
    del world.logs[:]
    outcome = world.run(job, payload, **given)
    assert outcome.kind == "success", outcome
    return world.lines("stdout")


@pytest.mark.parametrize(
    ("job", "lines"),
    [
        ("names-some", ["3"]),
        ("names-none", ["none"]),
        ("takes-more", ["['attempt', 'ctx', 'payload']"]),
        ("has-defaults", ["{'a': 1} 3"]),
        ("lambda-job", ["waited {'a': 1}"]),
        ("called", ["called {'a': 1}"]),
        ("method", ["method {'a': 1}"]),
    ],
)
def test_d7_a_handler_is_called_with_what_it_names(both: World, job: str, lines: list[str]) -> None:
    assert printed(both, job, {"a": 1}, attempt=3) == lines


def test_d7_payload_attempt_and_context(both: World) -> None:
    printed(both, "names-all", [1, None, "ü"], attempt=2)
    (record,) = [record for record in both.logs if record.stream == "log"]
    assert (record.message, record.job, record.attempt) == ("all", "names-all", 2)
    assert record.fields == {"payload": [1, None, "ü"], "attempt": 2, "plugin": "p"}


def test_a_payload_model_is_applied_before_the_call(both: World) -> None:
    assert printed(both, "modelled", {"key": "a", "count": 2}) == ["Model a 2"]
    outcome = both.run("modelled", {"count": "many"})
    assert (outcome.kind, outcome.error_code) == ("failure", "PayloadMismatch")
    assert outcome.error is not None
    assert "key: Field required" in outcome.error
    assert "count: Input should be a valid integer" in outcome.error
    assert "many" not in outcome.error


@pytest.mark.parametrize("job", ["fails", "fails-later"])
@pytest.mark.parametrize(
    ("kind", "error", "code"),
    [
        ("value", "boom", "ValueError"),
        ("empty", "ValueError", "ValueError"),
        ("exit", "3", "SystemExit"),
        ("interrupt", "KeyboardInterrupt", "KeyboardInterrupt"),
        ("base", "base", "BaseException"),
        ("cancel", "CancelledError", "CancelledError"),
        ("odd", "Odd", "Odd"),
        ("coded", "coded", "LIMIT"),
        ("group", "several (1 sub-exception)", "ExceptionGroup"),
        ("surrogate", "a\ufffd\ufffdb", "ValueError"),
        ("generator", "GeneratorExit", "GeneratorExit"),
        ("deep", "deep", "RecursionError"),
    ],
)
def test_x2_whatever_is_raised_fails_that_attempt_and_nothing_else(
    both: World, job: str, kind: str, error: str, code: str
) -> None:
    pid = both.ready().pid
    outcome = both.run(job, kind)
    assert (outcome.kind, outcome.error, outcome.error_code) == ("failure", error, code)
    assert both.status().pid == pid


def test_a_failure_leaves_its_traceback_in_the_log_from_the_plugins_code_on(both: World) -> None:
    del both.logs[:]
    both.run("fails", "value")
    (record,) = [record for record in both.logs if record.stream == "traceback"]
    lines = record.message.splitlines()
    assert (lines[0], lines[-1], record.job) == ("Traceback (most recent call last):", "ValueError: boom", "fails")
    assert "main.py" in lines[1]
    assert both.run("recurses").error_code == "RecursionError"


def test_a_call_that_nobody_awaited_is_made_before_the_attempt_ends(both: World) -> None:
    assert both.run("careless").kind == "success"
    assert both.values.entry("p", "", "a", now=0) is not None


def test_a_sync_handler_waits_for_calls_with_result(both: World) -> None:
    assert printed(both, "sync-calls") == ["[1]"]
    assert printed(both, "loops-of-its-own") == ["own loop [1]"]


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("forgets-to-await", "kv.get(…) has no value yet: write `await kv.get(…)`, or `.result()` in a sync handler"),
        ("blocks-its-loop", "kv.get: write `await kv.get(…)` in async code; .result() would block its event loop"),
    ],
)
def test_misused_calls_say_what_to_write(both: World, job: str, message: str) -> None:
    assert both.run(job).error == message


def test_x2_after_the_end_of_an_attempt_its_calls_are_refused(both: World) -> None:
    assert both.run("keeps-calling").kind == "success"
    until(lambda: "CallError ATTEMPT_OVER" in both.lines("stdout"), "the late call")


def test_calls_run_side_by_side_and_sleep_is_real(both: World) -> None:
    assert printed(both, "side-by-side") == ["20"]
    assert printed(both, "sleeps") == ["slept True"]


@pytest.mark.parametrize("job", ["slow", "slow-async"])
def test_attempts_run_side_by_side(both: World, job: str) -> None:
    """Eight attempts of 0.3 s in eight slots take much less than 2.4 s, and more than one attempt's time."""
    both.ready()
    started = time.monotonic()
    attempts = both.start(*(both.attempt(job, 0.3) for _ in range(8)))
    assert {both.outcome(attempt).kind for attempt in attempts} == {"success"}
    assert 0.3 <= time.monotonic() - started < 1.5


def test_h3_no_payload_is_none(both: World) -> None:
    assert printed(both, "unusual-payload", payload_json=None) == ["True"]


def test_a_stored_payload_that_is_no_json_fails_its_attempt_only(both: World) -> None:
    outcome = both.run("names-none", payload_json="{broken")
    assert (outcome.kind, outcome.error_code) == ("failure", "PAYLOAD_BROKEN")
    assert str(outcome.error).startswith("the stored payload is no JSON: Expecting property name")


def test_a_job_that_the_code_lacks_is_told(both: World) -> None:
    assert both.run("gone").error == (
        "the plugin's code has no job 'gone', which its installed manifest declares: upgrade the plugin"
    )


def test_h2_cogover_job_info(both: World) -> None:
    del both.logs[:]
    both.run("plain", {"a": 1}, plugin="c", attempt=2, max_attempts=4, enqueued_at=5, run_at=6)
    both.run("plain", plugin="c", source="schedule", payload_json=None)
    first, second = (record.fields for record in both.logs if record.stream == "log")
    assert dict(first) | {"id": ""} == {
        "payload": {"a": 1},
        "id": "",
        "attempt": 2,
        "of": 4,
        "source": "enqueue",
        "run_at": 6,
        "enqueued_at": 5,
        "key": "plain",
    }
    assert (second["payload"], second["source"], second["enqueued_at"]) == (None, "schedule", None)


def test_h1_the_whole_context_is_the_only_argument(both: World) -> None:
    del both.logs[:]
    both.run("whole", plugin="c", identity="ann")
    (record,) = [record for record in both.logs if record.stream == "log"]
    assert record.fields == {"identity": "user", "user": "ann"}


def test_x1_x8_who_a_run_is_for(both: World) -> None:
    assert printed(both, "who", plugin="c", identity="root", enqueued_by="management") == ["user root management"]
    assert printed(both, "who", plugin="c") == ["system None None"]


@pytest.mark.parametrize(
    ("job", "kind", "error", "code"),
    [
        ("retry", "retryable", "smtp is down", "RETRYABLE"),
        ("subclass", "retryable", "mine", "RETRYABLE"),
        ("swallowed", "failure", "no", "ValueError"),
    ],
)
def test_x4_only_a_retryable_error_asks_for_another_attempt(both: World, job: str, kind: str, error: str, code: str) -> None:
    outcome = both.run(job, plugin="c")
    assert (outcome.kind, outcome.error, outcome.error_code) == (kind, error, code)
