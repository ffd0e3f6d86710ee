"""What handlers log, read and answer with, at the edges: nothing is lost in silence, refusals name what the author wrote."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from nsplugin import Job, Response, define_plugin
from nsplugin.cogover import ValidationError, define_job
from nsplugin.context import Request
from nsplugin.manifest import Manifest
from nsplugin.planning import UnknownJob, plan
from nsplugin.platforms import load
from nsplugin.runtime.faults import CallError, Fault
from nsplugin.runtime.request import HttpRequest
from nsplugin.testing import Result, run_job


def nextskin(handler: Any) -> Result:
    return run_job(define_plugin(id="one", capabilities=["storage.kv"], jobs={"job": Job(handler)}))


class Unreadable(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("no")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no")

    def __len__(self) -> int:
        return 1

    def __str__(self) -> str:
        raise RuntimeError("no")


class Odd(int):
    def __lt__(self, other: object) -> bool:
        raise RuntimeError("no")

    __gt__ = __lt__


@pytest.mark.parametrize(
    ("args", "fields", "logged"),
    [
        ((), {"n": 10**5000}, {"n": "<int that can't be shown>"}),
        ((), {"n": [10**5000, 2**53]}, {"n": ["<int that can't be shown>", "9007199254740992"]}),
        ((Unreadable(),), {"a": 1}, {"value": "<Unreadable that can't be shown>", "a": 1}),
        ((), {"m": {"deep": Unreadable()}}, {"m": {"deep": "<Unreadable that can't be shown>"}}),
        ((), {"n": 10**30}, {"n": "1" + "0" * 30}),
        ((), {"n": Odd(5)}, {"n": "5"}),
        ((1, 2, {"a": 3}, 4), {}, {"value": 1, "value2": 2, "a": 3, "value3": 4}),
        (({"a": 1}, {"b": 2}), {"b": 3}, {"a": 1, "b": 3}),
        ((), {"n": float("nan"), "t": ("x", b"y")}, {"n": "nan", "t": ["x", "b'y'"]}),
    ],
)
def test_the_log_takes_everything_and_never_fails_the_attempt(args: Any, fields: Any, logged: Any) -> None:
    def logs(ctx: Any) -> None:
        ctx.log.info("m", *args, **fields)

    result = nextskin(logs)
    assert result.succeeded, result.error
    assert [(line.message, line.fields) for line in result.logs] == [("m", logged)]


@pytest.mark.parametrize("seconds", [0, -1, 1.5, "60", True, 31_536_001])
def test_a_lifetime_is_refused_by_the_name_and_in_the_unit_that_was_written(seconds: Any) -> None:
    def stores(ctx: Any) -> None:
        with pytest.raises(CallError, match=r"^kv\.set: ttl_sec must be a whole number of seconds from 1 to 31536000$"):
            ctx.kv.set("a", 1, ttl_sec=seconds).result()

    result = nextskin(stores)
    assert (result.error, result.kv) == (None, {})


def test_lifetimes_at_the_bounds_are_taken() -> None:
    async def stores(ctx: Any) -> None:
        await ctx.kv.set("a", 1, ttl_sec=1)
        await ctx.kv.set("b", 1, ttl_sec=31_536_000)
        await ctx.kv.set("c", 1, ttl_sec=None)
        await ctx.sleep(2)

    result = nextskin(stores)
    assert (result.error, result.kv) == (None, {"b": 1, "c": 1})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda data, state: data.object("o").records.create(fields=[]), "data.create: fields must be a mapping"),
        (lambda data, state: data.object("o").records.update("a", 5), "data.update: fields must be a mapping"),
        (lambda data, state: state.list(cursor=5), "state.list: cursor must be text"),
    ],
)
def test_refusals_name_the_arguments_that_the_author_wrote(call: Any, message: str) -> None:
    def calls(data: Any, state: Any) -> None:
        with pytest.raises(ValidationError, match=message):
            call(data, state).result()

    assert run_job(define_job({"key": "job"}, calls)).error is None


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"a": 5}, "a response's header is text, not int"),
        ({5: "a"}, "a response's header is text, not int"),
        ({"a": b"x"}, "a response's header is text, not bytes"),
        ([("a", "b")], "a response's headers are a mapping of text, not list"),
        (None, "a response's headers are a mapping of text, not NoneType"),
    ],
)
def test_headers_of_a_response_are_text(headers: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Response(b"", 200, headers)


def test_a_response_is_a_value() -> None:
    response = Response.json({"a": 1}, headers={"X-A": "b"})
    assert pickle.loads(pickle.dumps(response)) == response == copy.deepcopy(response)
    assert len({response, copy.copy(response), Response.json({"a": 1}, headers={"x-a": "b"})}) == 1
    headers: Any = response.headers
    with pytest.raises(TypeError):
        headers["x-b"] = "c"


@pytest.mark.parametrize(
    "body", [b"[NaN]", b"Infinity", b'{"a": -Infinity}', b"1e400", '"é"'.encode("utf-16"), b"\xff", b"{", b""]
)
def test_json_of_a_request_is_json(body: bytes) -> None:
    request: Request = HttpRequest(method="POST", path="/", body=body)
    with pytest.raises(ValueError, match=r"^the request's body is no JSON$"):
        request.json().result()


@pytest.mark.parametrize(
    ("body", "value"),
    [(b"[1.5, 1e3, -0.0]", [1.5, 1000.0, 0.0]), ('"é"'.encode(), "é"), ('"é"'.encode("utf-8-sig"), "é"), (b'"NaN"', "NaN")],
)
def test_other_bodies_are_read(body: bytes, value: Any) -> None:
    assert HttpRequest(method="POST", path="/", body=body).json().result() == value


def test_a_fault_outlives_pickling() -> None:
    fault = Fault("NOT_FOUND", "org: there is no user 'a'", id="a")
    again: Fault = pickle.loads(pickle.dumps(fault))
    assert (again.plain(), str(again)) == (fault.plain(), str(fault))
    assert copy.copy(fault).plain() == fault.plain()


def test_a_context_that_is_copied_says_what_it_lacks() -> None:
    def copies(ctx: Any) -> None:
        bare = object.__new__(type(ctx))
        assert not hasattr(bare, "kv")
        copy.copy(ctx)

    assert nextskin(copies).error is None


def test_a_plan_of_a_manifest_without_jobs_says_so() -> None:
    raw = {"manifestVersion": 1, "platform": "nextskin", "id": "a", "version": "1.0.0", "entry": "plugin:plugin"}
    manifest = Manifest.of(raw, load("nextskin"))
    with pytest.raises(UnknownJob, match=r"^a declares no job 'x'; it has none$"):
        plan(manifest, "x", timezone="UTC", after=0)
