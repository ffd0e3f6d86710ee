"""How handlers are called: by name, on a loop or in a thread, and with the whole context alone (spec/sdk.md, NSP106)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from nsplugin import Job, define_plugin
from nsplugin.cogover import define_job
from nsplugin.handler_objects import describe
from nsplugin.platforms import load
from nsplugin.runtime.bound import bind_job
from nsplugin.testing import run_job

SEEN: list[Any] = []


async def by_keyword(*, context: Any) -> None:
    SEEN.append(context)


def after_others(*args: Any, context: Any) -> None:
    SEEN.append(context)


def by_position(context: Any, /) -> None:
    SEEN.append(context)


def plain(context: Any) -> None:
    SEEN.append(context)


@functools.wraps(plain)
def wrapper(**kwargs: Any) -> None:
    plain(**kwargs)


class Method:
    def run(self, *, context: Any) -> None:
        SEEN.append(context)


@pytest.mark.parametrize(
    "handler",
    [by_keyword, after_others, by_position, plain, wrapper, Method().run, functools.partial(by_keyword)],
    ids=lambda handler: getattr(handler, "__name__", "partial"),
)
def test_h1_the_whole_context_reaches_its_parameter_of_whatever_kind(handler: Callable[..., Any]) -> None:
    SEEN.clear()
    result = run_job(define_job({"key": "job"}, handler))
    assert result.succeeded, result.error
    (context,) = SEEN
    assert context.job.key == "job"


class Stars:
    def run(*args: Any, payload: Any) -> None:
        SEEN.append(payload)

    def __call__(*args: Any, payload: Any) -> None:
        SEEN.append(payload)


def stars(*args: Any, payload: Any) -> None:
    SEEN.append(payload)


@pytest.mark.parametrize("handler", [Stars().run, Stars(), functools.partial(stars, 1)], ids=["method", "instance", "partial"])
def test_binding_takes_only_what_stands_by_position(handler: Callable[..., Any]) -> None:
    SEEN.clear()
    assert [item.name for item in describe(handler).parameters or ()] == ["payload"]
    assert run_job(define_plugin(id="one", jobs={"job": Job(handler)}), payload={"a": 1}).succeeded
    assert SEEN == [{"a": 1}]


class Asynchronous:
    async def __call__(self, payload: Any) -> None: ...


class Inherits(Asynchronous): ...


class Static:
    @staticmethod
    async def __call__(payload: Any) -> None: ...


async def coroutine(payload: Any) -> None: ...


@functools.wraps(coroutine)
def around(*args: Any, **kwargs: Any) -> Any:
    return coroutine(*args, **kwargs)


@pytest.mark.parametrize(
    "handler",
    [coroutine, around, Asynchronous(), Inherits(), Static(), functools.partial(Inherits()), functools.partial(coroutine)],
)
def test_what_answers_with_a_coroutine_runs_on_the_loop(handler: Callable[..., Any]) -> None:
    assert bind_job(handler, load("nextskin").handlers).asynchronous


@pytest.mark.parametrize("handler", [plain, Stars().run, Stars(), print])
def test_others_run_in_a_thread(handler: Callable[..., Any]) -> None:
    assert not bind_job(handler, load("nextskin").handlers).asynchronous
