"""Calls of a repository's own TypeScript functions that only return an expression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tree_sitter import Node

from nsplugin.pointers import UNKNOWN
from nsplugin.record import field, record
from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import bindings
from nsplugin_cli.source.typescript_results import OPAQUE, FunctionValue, Located
from nsplugin_cli.source.typescript_scalars import ABSENT, undefined

if TYPE_CHECKING:
    from nsplugin_cli.source.typescript_values import Evaluator

_MOST_CALLS: Final = 8
"""Functions that call each other go no deeper."""


@record(kw_only=False, frozen=False)
class Arguments:
    """The functions that are being called, and what their parameters stand for: by file, function and name."""

    active: list[tuple[Module, Node]] = field(default_factory=list)
    given: dict[tuple[str, int, str], Located] = field(default_factory=dict)


def inside_call(arguments: Arguments, module: Module, node: Node) -> bool:
    """Whether code belongs to a function that is being called: then it may stand for another value in each call."""
    return any(
        around.path == module.path and function.start_byte <= node.start_byte and node.end_byte <= function.end_byte
        for around, function in arguments.active
    )


def applied(evaluator: Evaluator, function: FunctionValue, given: list[Located]) -> Located:
    """What a call gives. A function that is given back is unknown: it may use what its maker was called with."""
    module, node, arguments = function.module, function.node, evaluator.arguments
    result = _returned(node)
    unknown = Located(UNKNOWN, node, module)
    if result is None or len(arguments.active) >= _MOST_CALLS or inside_call(arguments, module, node):
        return unknown
    arguments.active.append((module, node))
    names: list[str] = []
    try:
        for name, value in _named(evaluator, module, node, given):
            names.append(name)
            arguments.given[module.path, node.id, name] = value
        if not module.assigned_names.isdisjoint(names):
            return unknown
        found = evaluator.evaluate(module, result)
        return unknown if isinstance(found.value, OPAQUE) else found
    finally:
        arguments.active.pop()
        for name in names:
            arguments.given.pop((module.path, node.id, name), None)


def _returned(function: Node) -> Node | None:
    """The expression that a function gives back, if that is all that it does."""
    body = function.child_by_field_name("body")
    unlike = function.type.startswith("generator") or any(
        child.type in ("async", "*", "get", "set") for child in function.children
    )
    if body is None or unlike:
        return None
    if body.type != "statement_block":
        return body
    statements = [child for child in body.named_children if child.type != "comment"]
    if len(statements) != 1 or statements[0].type != "return_statement":
        return None
    return next((child for child in statements[0].named_children if child.type != "comment"), None)


def _named(evaluator: Evaluator, module: Module, function: Node, given: list[Located]) -> Iterator[tuple[str, Located]]:
    """What each name of the parameters stands for."""
    for at, (pattern, default) in enumerate(_parameters(function)):
        value = given[at] if at < len(given) else Located(ABSENT, function, module)
        if default is not None and undefined(value.value):
            value = evaluator.evaluate(module, default)
        for name, keys in bindings(module, pattern, ()):
            part = value if keys is not None else Located(UNKNOWN, function, module)
            for key in keys or ():
                part = evaluator.item(part.value, key, function, module)
            yield name, part


def _parameters(function: Node) -> Iterator[tuple[Node, Node | None]]:
    """The patterns and defaults; the ``this`` that TypeScript writes first is no parameter."""
    single, listed = function.child_by_field_name("parameter"), function.child_by_field_name("parameters")
    written = [single] if single is not None else listed.named_children if listed is not None else []
    for parameter in written:
        pattern = parameter.child_by_field_name("pattern") or parameter
        default = parameter.child_by_field_name("value")
        if pattern.type == "assignment_pattern":
            default, pattern = pattern.child_by_field_name("right"), pattern.child_by_field_name("left") or pattern
        if pattern.type not in ("comment", "this"):
            yield pattern, default
