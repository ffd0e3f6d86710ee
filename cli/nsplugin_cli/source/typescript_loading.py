"""What runs when a TypeScript module is loaded, and what only when something calls it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import FUNCTIONS
from nsplugin_cli.source.typescript_tree import plain


def at_top_level(module: Module, node: Node) -> bool:
    """Whether a node runs when the module is loaded: in no function (but one called on the spot), behind no test for "main"."""
    inner, around = node, node.parent
    while around is not None:
        if around.type in FUNCTIONS and not _called_on_the_spot(around):
            return False
        if around.type in ("public_field_definition", "field_definition") and not _static(around):
            return False
        if around.type in _TESTING and _asks_otherwise(module, around, inner):
            return False
        inner, around = around, around.parent
    return True


def _static(definition: Node) -> bool:
    return any(child.type == "static" for child in definition.children)


def _called_on_the_spot(function: Node) -> bool:
    outer = function.parent
    inner = function
    while outer is not None and outer.type == "parenthesized_expression":
        inner, outer = outer, outer.parent
    if outer is not None and outer.type == "member_expression" and outer.parent is not None:
        inner, outer = outer, outer.parent
    if outer is None or outer.type != "call_expression":
        return False
    called = outer.child_by_field_name("function")
    return called is not None and called.id == inner.id


_TESTING: Final = {"if_statement": "condition", "ternary_expression": "condition", "binary_expression": "left"}
_OTHERWISE: Final = ("require.main", "import.meta", "process.argv", "typeof window", "typeof document", "VITEST", "JEST")
"""What asks whether the module was started as a program, runs in a browser, or under test."""


def _asks_otherwise(module: Module, statement: Node, inner: Node) -> bool:
    """Whether a test keeps what follows it from running when the platform loads the module."""
    condition = statement.child_by_field_name(_TESTING[statement.type])
    if condition is None or condition.id == inner.id:
        return False
    text = module.text(plain(condition))
    return text in ("false", "0") or any(word in text for word in _OTHERWISE)


_CALLERS: Final = frozenset(("map", "flatMap", "forEach", "filter", "reduce", "from"))


def is_made(module: Module, node: Node) -> bool:
    """Whether loading the module runs this code: also in functions that it calls, by name or for each item of a list."""
    first = _waiting(module, node)
    if first is None:
        return True
    callee: dict[int, int | None] = {first.id: None}
    open_ = [first]
    for function in open_:
        if module.made.get(function.id):
            return _made_by(module, callee, function.id)
        for call in _calls_of(module, function) if function.id not in module.made else ():
            caller = _waiting(module, call)
            if caller is None:
                return _made_by(module, callee, function.id)
            if caller.id not in callee:
                callee[caller.id] = function.id
                open_.append(caller)
    module.made.update(dict.fromkeys(callee, False))
    return False


def _made_by(module: Module, callee: dict[int, int | None], function: int | None) -> bool:
    """Note that a function is called, and so is whatever it was reached from."""
    while function is not None:
        module.made[function] = True
        function = callee[function]
    return True


def _waiting(module: Module, node: Node) -> Node | None:
    """The function around a node that must be called by name for the node to run; ``None`` if loading runs it."""
    around = node.parent
    while around is not None:
        if around.type in FUNCTIONS and not _called_on_the_spot(around) and not _called_for_each(module, around):
            return around
        around = around.parent
    return None


def _called_for_each(module: Module, function: Node) -> bool:
    call = function.parent.parent if function.parent is not None and function.parent.type == "arguments" else None
    called = call.child_by_field_name("function") if call is not None else None
    name = called.child_by_field_name("property") if called is not None else None
    return name is not None and module.text(name) in _CALLERS


def _calls_of(module: Module, function: Node) -> list[Node]:
    """The calls that name a function of the module."""
    holder = function.parent if function.type in ("arrow_function", "function_expression") else function
    name = holder.child_by_field_name("name") if holder is not None else None
    return [] if name is None else module.calls_by_name.get(module.text(name), [])


def inside(node: Node) -> Iterator[Node]:
    """All nodes below, those of inner functions left out."""
    stack = list(node.named_children)
    while stack:
        inner = stack.pop()
        yield inner
        if inner.type not in FUNCTIONS:
            stack.extend(inner.named_children)
