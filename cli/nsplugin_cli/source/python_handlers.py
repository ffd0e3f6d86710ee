"""What is known of a handler from its source, in the words that the SDK uses for the object itself."""

from __future__ import annotations

import ast
from typing import Any, Final

from nsplugin.handlers import MISSING, YIELDS, Handler, Parameter
from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source.python_values import SCALARS, Class, Entries, Function, Items, Made, Value

_UNKNOWN: Final = Handler(described="a value known only at run time", callable=True)
_MAKES: Final = "calling it would make an instance and throw it away"


def described(value: Value | None) -> Handler:
    """The handler that an expression gives; what is not known of it is left open."""
    if value is None:
        return MISSING
    data = value.data
    if data is UNKNOWN:
        return _UNKNOWN
    if isinstance(data, SCALARS):
        from nsplugin.handler_objects import describe  # here: only what is no handler comes this way

        return describe(data)
    if isinstance(data, Function):
        return _function(data)
    if isinstance(data, Class):
        return Handler(described=f"class {data.node.name}", callable=True, refused=_refusal(data))
    if isinstance(data, (Entries, Items)):
        kind = data.kind.__name__ if isinstance(data, Items) else "dict"
        return Handler(described=f"an instance of {kind}", callable=False)
    if isinstance(data, Made) and data.maker != "define_job":
        return Handler(described=f"an instance of {data.maker}", callable=False)
    return _UNKNOWN


def _refusal(data: Class) -> str | None:
    """A class made by a metaclass or a decorator may be something else by the time it is a handler."""
    return None if data.node.decorator_list or data.node.keywords else _MAKES


def _function(function: Function) -> Handler:
    node = function.node
    if function.opaque:
        return Handler(described=name_of(function), callable=True)
    refused = YIELDS if function.module.scope(node).yields else None
    parameters = tuple(_parameters(node.args))
    any_name = node.args.kwarg is not None
    return Handler(described=name_of(function), callable=True, parameters=parameters, any_name=any_name, refused=refused)


def name_of(function: Function) -> str:
    """A function as messages name it."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return "a lambda"
    is_coroutine = isinstance(node, ast.AsyncFunctionDef) and not function.module.scope(node).yields
    return f"{'async function' if is_coroutine else 'function'} {node.name}"


def _parameters(arguments: ast.arguments) -> list[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    optional_from = len(positional) - len(arguments.defaults)
    by_position = [
        Parameter(name=arg.arg, required=index < optional_from, positional_only=index < len(arguments.posonlyargs))
        for index, arg in enumerate(positional)
    ]
    by_name: list[Any] = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    return [*by_position, *(Parameter(name=arg.arg, required=default is None, keyword_only=True) for arg, default in by_name)]
