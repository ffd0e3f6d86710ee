"""NSP106 over what is known of handlers, NSP503 over routes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from manifest_samples import codes, cogover, found, nextskin, only, problems
from nsplugin.handler_objects import describe
from nsplugin.handlers import MISSING, Handler


def job(handler: Any) -> Any:
    return only(nextskin(), handlers={"/jobs/expire": describe(handler)})


def finds(raw: dict[str, Any], pointer: str, handler: Any) -> list[tuple[str, str]]:
    return found(raw, handlers={pointer: handler if isinstance(handler, Handler) else describe(handler)})


def no_parameters() -> None: ...
def all_parameters(payload: Any, attempt: int, ctx: Any) -> None: ...
def some_parameters(ctx: Any, payload: Any) -> None: ...
def optional_parameter(payload: Any, retries: int = 3) -> None: ...
def any_parameters(**given: Any) -> None: ...
def keywords(*, payload: Any, ctx: Any) -> None: ...
def variadic(*things: Any) -> None: ...
async def asynchronous(payload: Any) -> None: ...
def another_parameter(event: Any, ctx: Any) -> None: ...
def two_others(event: Any, data: Any) -> None: ...
def positional(payload: Any, /) -> None: ...
def optional_positional(payload: Any = None, /) -> None: ...
def near_parameter(payloads: Any) -> None: ...


GOOD = [no_parameters, all_parameters, some_parameters, optional_parameter, any_parameters, keywords, variadic, asynchronous]
GOOD += [optional_positional, functools.partial(another_parameter, None), lambda payload: None]


@pytest.mark.parametrize("handler", GOOD)
def test_a_handler_names_what_it_wants_of_the_call(handler: Callable[..., Any]) -> None:
    """spec/nextskin.md D7; spec/sdk.md."""
    assert finds(nextskin(), "/jobs/expire", handler) == []


BAD = [
    (another_parameter, 'the handler of job "expire" requires the parameter `event`, which it is not called with'),
    (two_others, 'the handler of job "expire" requires the parameters `event` and `data`, which it is not called with'),
    (positional, 'the handler of job "expire" takes the parameter `payload` by position only, but is called by name'),
    ("expire", 'the handler of job "expire" must be a function, not the string "expire"'),
    (None, 'the handler of job "expire" must be a function, not None'),
]


@pytest.mark.parametrize(("handler", "message"), BAD)
def test_what_cannot_be_called_is_one_finding(handler: Any, message: str) -> None:
    problem = job(handler)
    assert (problem.code, problem.pointer, problem.message) == ("NSP106", "/jobs/expire/handler", message)
    assert problem.hint


def test_a_near_parameter_gets_the_one_that_was_meant() -> None:
    assert job(near_parameter).hint == "did you mean `payload`?"


def test_a_class_or_generator_is_refused_with_its_reason() -> None:
    def generator(payload: Any) -> Any:
        yield payload

    for handler in (dict, generator):
        assert job(handler).code == "NSP106"


def test_a_missing_handler_is_said() -> None:
    assert finds(nextskin(), "/jobs/expire", MISSING) == [("NSP106", "/jobs/expire/handler")]
    assert codes(nextskin()) == []  # a manifest has none


def test_nothing_is_said_of_a_handler_that_is_not_known() -> None:
    assert finds(nextskin(), "/jobs/expire", Handler(described="expire", callable=True, parameters=None)) == []


def test_a_route_handler_gets_request_and_ctx() -> None:
    """spec/nextskin.md D2."""
    raw = nextskin(routes={"POST /a/b": {"auth": "user"}})
    pointer = "/routes/POST ~1a~1b"
    assert finds(raw, pointer, lambda request, ctx: None) == []
    assert finds(raw, pointer, lambda payload: None) == [("NSP106", pointer + "/handler")]
    problem = only(raw, handlers={pointer: describe(lambda payload: None)})
    assert problem.message.startswith('the handler of route "POST /a/b" requires the parameter `payload`')


COGOVER_FIELDS = (
    "job payload invocation data schema log state locks notifications email jobs secrets crypto org limits processes agents"
)


def test_a_cogover_handler_gets_the_fields_of_the_context() -> None:
    """spec/cogover.md H1: there is no input, request, response, push."""
    for name in COGOVER_FIELDS.split():
        assert finds(cogover(), "/jobs/0", eval(f"lambda {name}: None")) == []
    for name in ("input", "request", "response", "push"):
        assert finds(cogover(), "/jobs/0", eval(f"lambda {name}: None")) == [("NSP106", "/jobs/0/handler")]


def test_the_whole_cogover_context_is_the_only_parameter() -> None:
    """spec/sdk.md."""
    assert finds(cogover(), "/jobs/0", lambda context: None) == []
    assert finds(cogover(), "/jobs/0", lambda context, payload: None) == [("NSP106", "/jobs/0/handler")]
    assert finds(nextskin(), "/jobs/expire", lambda context: None) == [("NSP106", "/jobs/expire/handler")]
    assert 'job "sync"' in only(cogover(), handlers={"/jobs/0": describe(lambda push: None)}).message


def route(key: Any, auth: Any = "user") -> dict[str, Any]:
    return nextskin(routes={key: {"auth": auth}})


@pytest.mark.parametrize(
    "key", ["GET /", "POST /expire", "DELETE /a/:id", "PATCH /a/{id}", "OPTIONS /a-b_c.d~e", "PUT /é", "HEAD /a//"]
)
def test_a_route_is_a_method_and_a_path(key: str) -> None:
    """spec/nextskin.md D2."""
    assert codes(route(key)) == []


BAD_ROUTES = [
    ("/expire", 'a route is "METHOD /path", not "/expire"', 'for example "POST /expire"'),
    ("POST", 'a route is "METHOD /path", not "POST"', 'for example "POST /expire"'),
    ("", 'a route is "METHOD /path", not ""', 'for example "POST /expire"'),
    ("post /expire", '"post" in route "post /expire" is no method', 'did you mean "POST"?'),
    ("PSOT /expire", '"PSOT" in route "PSOT /expire" is no method', 'did you mean "POST"?'),
    ("FETCH /expire", '"FETCH" in route "FETCH /expire" is no method', None),
    ("POST expire", '"expire" in route "POST expire" is no path', None),
    ("POST  /expire", '" /expire" in route "POST  /expire" is no path', None),
    ("POST /expire\n", '"/expire\\n" in route "POST /expire\\n" is no path', None),
    ("POST /a b", '"/a b" in route "POST /a b" is no path', None),
    ("POST /a?b=1", '"/a?b=1" in route "POST /a?b=1" is no path', None),
    ("POST /a#b", '"/a#b" in route "POST /a#b" is no path', None),
    (" POST /a", '"" in route " POST /a" is no method', None),
    ("POST\t/a", 'a route is "METHOD /path", not "POST\\t/a"', 'for example "POST /expire"'),
]


@pytest.mark.parametrize(("key", "message", "hint"), BAD_ROUTES)
def test_what_is_no_route_is_said(key: str, message: str, hint: str | None) -> None:
    first, *others = problems(route(key))
    assert first.message.startswith(message)
    assert first.hint == hint
    assert {(problem.code, problem.target) for problem in (first, *others)} == {("NSP503", "key")}


AUTHS = [("usr", 'did you mean "user"?'), ("admin", 'write "auth": "user"'), ("", 'write "auth": "user"')]


@pytest.mark.parametrize(("auth", "hint"), AUTHS)
def test_auth_is_one_that_the_platform_has(auth: str, hint: str) -> None:
    problem = only(route("GET /", auth))
    assert (problem.code, problem.pointer, problem.hint) == ("NSP503", "/routes/GET ~1/auth", hint)


def test_a_method_and_a_path_are_two_faults() -> None:
    assert codes(route("FETCH expire")) == ["NSP503", "NSP503"]


def test_capabilities_that_are_not_known_pass() -> None:
    """The source names one capability by example; the platform may have others."""
    assert codes(nextskin(capabilities=["storage.kv", "mail.send"])) == []


def test_the_whole_context_stands_alone() -> None:
    """`context` takes everything, so that it takes no others beside it (spec/sdk.md Cogover)."""

    def handler(context: Any, log: Any) -> None: ...

    (problem,) = problems(cogover({"key": "sync"}), handlers={"/jobs/0": describe(handler)})
    assert problem.message == 'the handler of job "sync" has parameters beside `context`, which must stand alone'
    assert (problem.hint or "").startswith("`context` holds all of ")


async def _nothing() -> None: ...


class _Keeper:
    def keep(self, ctx: Any) -> None: ...


CALLED = "give the function itself, without calling it: leave out the parentheses"


@pytest.mark.parametrize(
    ("handler", "hint"),
    [
        (None, CALLED),
        (_Keeper.keep, "give the method of an instance: K().method, not K.method"),
        (len, "write a function that calls it; it is called with those of payload, attempt, ctx that it names"),
    ],
)
def test_a_handler_that_is_nearly_one_is_told_how_to_be_one(handler: Any, hint: str) -> None:
    """spec/nextskin.md D7: the hint says what to write instead."""
    assert job(handler).hint == hint


def test_a_coroutine_is_a_function_that_was_called() -> None:
    """spec/nextskin.md D7."""
    coroutine = _nothing()
    try:
        assert job(coroutine).hint == CALLED
    finally:
        coroutine.close()
