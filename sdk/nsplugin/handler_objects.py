"""What is known of a handler from its function object, found without calling it or running any of its code."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, Final

from nsplugin.handlers import YIELDS, Handler, Parameter, class_name, clipped, is_a, type_attribute, type_name
from nsplugin.record import replace

_DEPTH: Final = 20
"""How many wrappers (partials, bound methods, ``functools.wraps``) are looked through."""
_OPAQUE: Final = "its parameters cannot be known"


def describe(value: Any) -> Handler:
    """What is known of ``value`` as a handler. Never calls it, runs none of its code, and never raises."""
    try:
        return _described(value, _DEPTH)
    except Exception:
        return Handler(described=f"an instance of {type_name(value)}", callable=True, refused=_OPAQUE)


def _described(value: Any, depth: int) -> Handler:
    if depth == 0:
        return Handler(described="a callable under too many wrappers", callable=True, refused=_OPAQUE)
    for kind, known in _KINDS:
        if is_a(value, kind):
            return known(value, depth)
    return _instance(value, depth)


def _function(function: FunctionType, depth: int) -> Handler:
    described = _function_words(function)
    refused = _refusal(function.__code__)
    signature = function.__dict__.get("__signature__")
    if type(signature) is inspect.Signature:
        return replace(_from_signature(signature), described=described, refused=refused)
    own = replace(_from_code(function), described=described, refused=refused)
    wrapped = function.__dict__.get("__wrapped__")
    return own if wrapped is None else _around(own, _described(wrapped, depth - 1))


def _around(outer: Handler, inner: Handler) -> Handler:
    """A ``functools.wraps`` wrapper: behind its ``**kwargs`` stand the wrapped function's names.

    None of those is required: the wrapper may well supply it (a decorator that injects a connection).
    """
    if not outer.any_name:
        return outer
    own = {parameter.name for parameter in outer.parameters or ()}
    behind = tuple(replace(item, required=False) for item in inner.parameters or () if item.name not in own)
    parameters = (*(outer.parameters or ()), *behind)
    return replace(outer, parameters=parameters, any_name=inner.any_name or inner.parameters is None)


def _function_words(function: FunctionType) -> str:
    if function.__name__ == "<lambda>":
        return "a lambda"
    kind = "async function" if function.__code__.co_flags & inspect.CO_COROUTINE else "function"
    return f"{kind} {clipped(function.__name__)}"


def _refusal(code: CodeType) -> str | None:
    """Calling a generator function runs none of its body: the job would succeed without having done anything."""
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        return YIELDS
    return None


def _from_code(function: FunctionType) -> Handler:
    code = function.__code__
    optional_from = code.co_argcount - len(function.__defaults__ or ())
    positional = [
        Parameter(name=name, required=index < optional_from, positional_only=index < code.co_posonlyargcount)
        for index, name in enumerate(code.co_varnames[: code.co_argcount])
    ]
    defaults = function.__kwdefaults__ or {}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    keywords = [Parameter(name=name, required=name not in defaults, keyword_only=True) for name in names]
    any_name = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return Handler(described="", callable=True, parameters=(*positional, *keywords), any_name=any_name)


def _from_signature(signature: inspect.Signature) -> Handler:
    parameters = list(signature.parameters.values())
    return Handler(
        described="",
        callable=True,
        parameters=tuple(
            Parameter(
                name=parameter.name,
                required=parameter.default is inspect.Parameter.empty,
                positional_only=parameter.kind is inspect.Parameter.POSITIONAL_ONLY,
                keyword_only=parameter.kind is inspect.Parameter.KEYWORD_ONLY,
            )
            for parameter in parameters
            if parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        ),
        any_name=any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters),
    )


def _builtin(value: Any, depth: int) -> Handler:
    described = f"built-in {clipped(value.__name__)}"
    try:
        return replace(_from_signature(inspect.signature(value)), described=described)
    except ValueError:
        return Handler(described=described, callable=True, refused=_OPAQUE)


def _method(value: MethodType, depth: int) -> Handler:
    inner = _described(value.__func__, depth - 1)
    of: Any = value.__self__
    owner = class_name(of) if is_a(of, type) else type_name(of)
    return replace(_bound(inner, 1, ()), described=f"method {owner}.{inner.described.rpartition(' ')[2]}")


def _partial(value: Any, depth: int) -> Handler:
    members = functools.partial.__dict__
    inner = _described(members["func"].__get__(value), depth - 1)
    bound = _bound(inner, len(members["args"].__get__(value)), members["keywords"].__get__(value))
    return replace(bound, described=f"partial of {inner.described}") if inner.callable else bound


def _bound(handler: Handler, positional: int, keywords: Iterable[str]) -> Handler:
    """The same handler after its first parameters, and some by name, were given: those are taken."""
    if handler.parameters is None:
        return handler
    by_position = [item for item in handler.parameters if not item.keyword_only]
    taken = {*keywords, *(item.name for item in by_position[:positional])}
    return replace(handler, parameters=tuple(item for item in handler.parameters if item.name not in taken))


def _static_method(value: Any, depth: int) -> Handler:
    return _described(value.__func__, depth - 1)


def _class(value: type, depth: int) -> Handler:
    name = class_name(value)
    reason = "calling it would make an instance and throw it away"
    return Handler(described=f"class {name}", callable=True, refused=reason)


def _text(value: str, depth: int) -> Handler:
    return Handler(described=f'the string "{clipped(str.__str__(value))}"', callable=False)


def _nothing(value: None, depth: int) -> Handler:
    return Handler(described="None", callable=False)


def _number(value: float, depth: int) -> Handler:
    exact = type(value) in (bool, int, float) and abs(value) < 1e15
    return Handler(described=f"the value {value}" if exact else f"an instance of {type_name(value)}", callable=False)


def _instance(value: Any, depth: int) -> Handler:
    described = f"an instance of {type_name(value)}"
    method = type_attribute(value, "__call__")
    if method is None:
        return Handler(described=described, callable=False)
    inner = inspect.getattr_static(value, "__wrapped__", None)
    if inner is not None:
        return replace(_described(inner, depth - 1), described=described)
    if is_a(method, staticmethod):
        return replace(_described(method, depth - 1), described=described)
    if is_a(method, FunctionType):
        return replace(_bound(_described(method, depth - 1), 1, ()), described=described)
    return Handler(described=described, callable=True, refused=_OPAQUE)


_KINDS: Final[tuple[tuple[type, Callable[[Any, int], Handler]], ...]] = (
    (FunctionType, _function),
    (MethodType, _method),
    (functools.partial, _partial),
    (BuiltinFunctionType, _builtin),
    (staticmethod, _static_method),
    (type, _class),
    (str, _text),
    (int, _number),
    (float, _number),
    (type(None), _nothing),
)
"""How each kind of object is looked at; the first that fits counts, else :func:`_instance`."""
