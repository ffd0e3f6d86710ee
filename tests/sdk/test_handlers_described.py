"""``handler_objects.describe``: what a handler can be called with, found without calling it (spec/sdk.md, NSP106)."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import pytest

from nsplugin.handler_objects import describe
from nsplugin.handlers import Handler
from untouchable import Never, untouchable


def plain(payload: Any, attempt: int = 1, *, ctx: Any) -> None: ...


async def coroutine(payload: Any) -> None: ...


def positional(payload: Any, /, ctx: Any) -> None: ...


def anything(*args: Any, **kwargs: Any) -> None: ...


class Callable:
    def __call__(self, payload: Any, ctx: Any) -> None: ...

    def method(self, payload: Any) -> None: ...

    @classmethod
    def of_class(cls, payload: Any) -> None: ...

    @staticmethod
    def static(payload: Any) -> None: ...


def names(handler: Handler) -> str:
    """Parameters in a line: ``payload*`` is required, ``/`` marks positional ones, ``**`` takes any name."""
    shown = [
        f"{item.name}{'*' if item.required else ''}{'/' if item.positional_only else ''}" for item in handler.parameters or ()
    ]
    return " ".join([*shown, "**"] if handler.any_name else shown)


@pytest.mark.parametrize(
    ("handler", "described", "parameters"),
    [
        (plain, "function plain", "payload* attempt ctx*"),
        (coroutine, "async function coroutine", "payload*"),
        (positional, "function positional", "payload*/ ctx*"),
        (anything, "function anything", "**"),
        (lambda payload: None, "a lambda", "payload*"),
        (functools.partial(plain, 1), "partial of function plain", "attempt ctx*"),
        (functools.partial(plain, ctx=1), "partial of function plain", "payload* attempt"),
        (functools.partial(functools.partial(plain, 1), 2), "partial of function plain", "ctx*"),
        (Callable(), "an instance of Callable", "payload* ctx*"),
        (Callable().method, "method Callable.method", "payload*"),
        (Callable.of_class, "method Callable.of_class", "payload*"),
        (Callable.static, "function static", "payload*"),
        (staticmethod(plain), "function plain", "payload* attempt ctx*"),
        (functools.cache(plain), "an instance of _lru_cache_wrapper", "payload* attempt ctx*"),
        (print, "built-in print", "sep end file flush"),
    ],
)
def test_says_what_a_callable_takes(handler: Any, described: str, parameters: str) -> None:
    known = describe(handler)
    assert (known.described, names(known), known.callable, known.refused) == (described, parameters, True, None)


def _generator(payload: Any) -> Any:
    yield payload


async def _async_generator(payload: Any) -> Any:
    yield payload


@pytest.mark.parametrize(
    ("handler", "described", "reason"),
    [
        (_generator, "function _generator", "it contains yield, so calling it would run none of its code"),
        (_async_generator, "function _async_generator", "it contains yield, so calling it would run none of its code"),
        (functools.partial(_generator, 1), "partial of function _generator", "it contains yield"),
        (Callable, "class Callable", "calling it would make an instance and throw it away"),
        (min, "built-in min", "its parameters cannot be known"),
        (str.upper, "an instance of method_descriptor", "its parameters cannot be known"),
    ],
)
def test_says_why_a_callable_is_no_handler(handler: Any, described: str, reason: str) -> None:
    known = describe(handler)
    assert (known.described, known.callable) == (described, True)
    assert (known.refused or "").startswith(reason)


@pytest.mark.parametrize(
    ("value", "described"),
    [
        (None, "None"),
        ("expire", 'the string "expire"'),
        ("a\nb", 'the string "a\\nb"'),
        ("x" * 100, f'the string "{"x" * 59}…"'),
        (5, "the value 5"),
        (True, "the value True"),
        pytest.param(10**6000, "an instance of int", id="6,000 digits"),
        (object(), "an instance of object"),
        ([], "an instance of list"),
    ],
)
def test_names_what_cannot_be_called(value: Any, described: str) -> None:
    known = describe(value)
    assert (known.described, known.callable, known.missing) == (described, False, False)


def _wrapped(inner: Any, outer: Any) -> Any:
    return functools.wraps(inner)(outer)


def test_a_wrapper_that_takes_any_name_is_called_with_the_names_of_what_it_wraps() -> None:
    known = describe(_wrapped(plain, lambda *args, **kwargs: None))
    assert (names(known), known.chosen(["payload", "attempt", "ctx"])) == ("payload attempt ctx", ("payload", "attempt", "ctx"))
    assert known.chosen(["request", "ctx"]) == ("ctx",)


def test_a_wrapper_that_supplies_an_argument_needs_it_from_nobody() -> None:
    def with_connection(payload: Any, connection: Any) -> None: ...

    assert names(describe(_wrapped(with_connection, lambda **kwargs: None))) == "payload connection"


def test_a_wrapper_with_parameters_of_its_own_is_taken_at_its_word() -> None:
    assert names(describe(_wrapped(plain, lambda ctx: None))) == "ctx*"


def test_a_genuine_signature_attribute_counts() -> None:
    def handler(*args: Any, **kwargs: Any) -> None: ...

    handler.__signature__ = inspect.signature(coroutine)
    assert names(describe(handler)) == "payload*"


def test_wrappers_without_end_are_given_up_on() -> None:
    def handler(**kwargs: Any) -> None: ...

    handler.__wrapped__ = handler
    assert describe(handler).callable
    nested: Any = plain
    for _ in range(100):
        nested = functools.partial(functools.partial, nested).func
        nested = staticmethod(nested)
    assert describe(nested).refused is not None


def hostile() -> dict[str, Any]:
    """Objects that raise whenever any of their code runs. (Made in a function: pytest looks at what a module holds.)"""

    class _HostileType(type):
        def __getattribute__(cls, name: str) -> Any:
            raise Never

        def __instancecheck__(cls, instance: Any) -> bool:
            raise Never

    class Hostile(type(untouchable())):
        __slots__ = ()

        def __hash__(self) -> int:
            raise Never

        def __bool__(self) -> bool:
            raise Never

        def __call__(self, payload: Any) -> None:
            raise Never

    class HostileClass(metaclass=_HostileType):
        pass

    class HostileSignature:
        @property
        def __signature__(self) -> Any:
            raise Never

        @property
        def __wrapped__(self) -> Any:
            raise Never

        @property
        def __call__(self) -> Any:
            raise Never

    class HostileText(str):
        def __str__(self) -> str:
            raise Never

        def __len__(self) -> int:
            raise Never

    return {
        "object": Hostile(),
        "class": HostileClass,
        "instance": HostileClass(),
        "signature": HostileSignature(),
        "text": HostileText("x"),
    }


@pytest.mark.parametrize(
    ("which", "described", "parameters"),
    [
        ("object", "an instance of Hostile", "payload*"),
        ("class", "class HostileClass", ""),
        ("instance", "an instance of HostileClass", ""),
        ("signature", "an instance of HostileSignature", ""),
        ("text", 'the string "x"', ""),
    ],
)
def test_runs_no_code_of_a_hostile_object(which: str, described: str, parameters: str) -> None:
    known = describe(hostile()[which])
    assert (known.described, names(known)) == (described, parameters)
