"""What authors annotate with and what they get: each method can be called as published (spec/nextskin.md E1, cogover.md H1)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest

from nsplugin import Context, Job, context, define_plugin
from nsplugin.cogover import JobContext, ValidationError, define_job, records, services
from nsplugin.cogover import context as cogover_context
from nsplugin.platforms import load
from nsplugin.runtime.calls import Call
from nsplugin.runtime.context import Context as RuntimeContext
from nsplugin.runtime.desk import Desk, Grants
from nsplugin.runtime.faults import CallError
from nsplugin.runtime.invocation import Facts, Run
from nsplugin.runtime.local import LocalCaller, VirtualTime
from nsplugin.runtime.memory import MemoryQueue, MemoryValues
from nsplugin.runtime.providers import Services
from nsplugin.runtime.records import Record
from nsplugin.runtime.request import HttpRequest
from nsplugin.runtime.services import Usage
from nsplugin.runtime.storage import Page
from nsplugin.testing import run_job


def runtime_context(name: str) -> Any:
    """A context of that platform with every field and capability."""
    platform, time = load(name), VirtualTime(0)
    facts = Facts(id="r", plugin="p", job="job", attempt=1, max_attempts=1)
    grants = Grants(jobs=frozenset({"job"}), capabilities=frozenset(platform.context.needs.values()), secrets={})
    desk = Desk(platform, grants, Services(values=MemoryValues(), queue=MemoryQueue(time.now_ms), now=time.now_ms))
    caller = LocalCaller(desk, desk.visit(facts), time, 1_000.0, lambda level, message, fields: None)
    run = Run(platform=platform, facts=facts, caller=caller, jobs=grants.jobs, capabilities=grants.capabilities)
    return RuntimeContext(run, dict.fromkeys((*platform.context.fields, *platform.handlers.job)))


def returned(protocol: Any, member: Any) -> Any:
    return get_type_hints(member.fget, vars(inspect.getmodule(protocol)))["return"]


def published() -> Iterator[tuple[str, Any, Any]]:
    """Each published protocol, where it was reached, and what stands there at run time."""
    cogover = runtime_context("cogover")
    status = cogover.data.object("order").fields.status
    seen: set[Any] = set()
    pending: list[tuple[str, Any, Any]] = [
        ("ctx", context.Context, runtime_context("nextskin")),
        ("context", cogover_context.JobContext, cogover),
        ("request", context.Request, HttpRequest(method="GET", path="/")),
        ("call", context.Call, Call("call")),
        ("lock", cogover_context.Lock, cogover.locks.acquire("a", lease_ms=1).result()),
        ("orders", records.DataObject, cogover.data.object("order")),
        ("status", records.Field, status),
        ("record", records.Record, Record(id="a")),
        ("page", records.Page, Page(items=[])),
        ("usage", services.Usage, Usage(used=1, limit=2)),
    ]
    while pending:
        path, protocol, value = pending.pop()
        if protocol not in seen:
            seen.add(protocol)
            yield path, protocol, value
        for name, member in vars(protocol).items():
            if isinstance(member, property):
                kind = returned(protocol, member)
                if getattr(kind, "_is_protocol", False):
                    pending.append((f"{path}.{name}", kind, getattr(value, name)))


def methods() -> Iterator[Any]:
    for path, protocol, value in published():
        for name, member in vars(protocol).items():
            if inspect.isfunction(member) and not name.startswith("_"):
                yield pytest.param(member, getattr(value, name), id=f"{path}.{name}")


@pytest.mark.parametrize(("method", "real"), list(methods()))
def test_a_published_method_can_be_called_as_it_is_written(method: Any, real: Any) -> None:
    parameters = list(inspect.signature(method).parameters.values())[1:]
    signature = inspect.signature(real)
    by_position = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    by_name = [each for each in parameters if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)]
    first = [each for each in by_position if each.kind is each.POSITIONAL_ONLY]
    signature.bind(*by_position, **{each.name: 0 for each in parameters if each.kind is each.KEYWORD_ONLY})
    signature.bind(*first, **{each.name: 0 for each in by_name})
    for each in by_name:
        own = signature.parameters.get(each.name)
        assert own is None or each.default in (own.default, ...), each
    needed = [each for each in (*first, *by_name) if each.default is each.empty]
    signature.bind(*(each for each in needed if each in first), **{each.name: 0 for each in needed if each not in first})


def test_every_field_of_a_context_is_published_with_a_type_of_its_own() -> None:
    for path, protocol, _ in published():
        for name, member in vars(protocol).items():
            if isinstance(member, property) and (path, name) != ("context", "payload"):
                assert returned(protocol, member) is not Any, f"{path}.{name}"


def test_every_published_type_and_method_says_what_it_is() -> None:
    for path, protocol, _ in published():
        assert protocol.__doc__, path
        for name, member in vars(protocol).items():
            if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                assert member.__doc__, f"{path}.{name}"


async def by_name(ctx: Context) -> None:
    await ctx.jobs.enqueue(name="job", payload={"a": 1}, options={"delaySec": 5}, dedupe_key="k")


def by_name_sync(jobs: Any) -> None:
    jobs.enqueue(key="job", payload={"a": 1}, options={"delayMs": 5}, idempotency_key="k").result()


def by_position(ctx: Context) -> None:
    ctx.jobs.enqueue("job", payload={"a": 1}, delay_sec=5, dedupe_key="k").result()


@pytest.mark.parametrize(
    ("target", "delay"),
    [
        (define_plugin(id="one", jobs={"job": Job(by_name)}), 5_000),
        (define_plugin(id="one", jobs={"job": Job(by_position)}), 5_000),
        (define_job({"key": "job"}, by_name_sync), 5),
    ],
)
def test_e1_enqueue_takes_its_arguments_by_name(target: Any, delay: int) -> None:
    result = run_job(target)
    assert result.succeeded, result.error
    assert [(each.job, each.payload, each.delay_ms, each.key) for each in result.enqueued] == [("job", {"a": 1}, delay, "k")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"options": {"delaySec": 5}, "delay_sec": 9},
            "ctx.jobs.enqueue: delaySec is given twice: in options and as delay_sec; write one of them",
        ),
        ({"options": [1]}, 'ctx.jobs.enqueue: options is an instance of list; write a mapping: {"delaySec": …} or delay_sec=…'),
        ({"options": {5: 1}}, "ctx.jobs.enqueue has no option 5; there are delaySec, dedupeKey"),
        ({"delay": 1}, "ctx.jobs.enqueue has no argument 'delay'; it has delay_sec, dedupe_key"),
    ],
)
def test_options_that_say_two_things_or_nothing_are_refused(arguments: dict[str, Any], message: str) -> None:
    def enqueues(ctx: Any) -> None:
        with pytest.raises(CallError, match=f"^{re.escape(message)}$"):
            ctx.jobs.enqueue("job", {}, **arguments)

    result = run_job(define_plugin(id="one", jobs={"job": Job(enqueues)}))
    assert (result.error, result.enqueued) == (None, ())


def test_cogovers_options_are_judged_alike() -> None:
    def enqueues(jobs: Any) -> None:
        with pytest.raises(ValidationError, match="delayMs is given twice: in options and as delay_ms; write one of them"):
            jobs.enqueue("job", options={"delayMs": 5}, delay_ms=9)

    result = run_job(define_job({"key": "job"}, enqueues))
    assert (result.error, result.enqueued) == (None, ())


def test_the_types_of_the_whole_context_are_exported() -> None:
    import nsplugin.cogover as public

    hints: set[str] = set()
    for name in vars(JobContext):
        member = getattr(JobContext, name)
        if isinstance(member, property):
            hints.add(returned(JobContext, member).__name__)
    assert hints - set(public.__all__) - {"Any"} == set()
    assert {"DataObject", "Page", "Record", "Records", "Usage", "Condition"} <= set(public.__all__)
