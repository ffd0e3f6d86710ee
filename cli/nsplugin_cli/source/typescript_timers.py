"""What starts while a TypeScript module is loaded: timers and endless loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin.spans import Span
from nsplugin_cli.facts import Timer
from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import Imported
from nsplugin_cli.source.typescript_tree import plain

_TIMERS: Final = frozenset({"setInterval", "setTimeout"})
FUNCTIONS: Final = frozenset(
    {"arrow_function", "function_expression", "function_declaration", "method_definition", "generator_function", "function"}
    | {"generator_function_declaration"}
)


def timers(module: Module) -> Iterator[Timer]:
    """Timers and endless loops that start while the module is loaded (spec/nextskin.md D1)."""
    for call in module.calls:
        name = _timer_name(module, call)
        if name is not None and _at_top_level(module, call):
            yield Timer(what=name, path=module.path, span=module.span(call))
    for loop in module.captured.get("loop", ()):
        if _endless(module, loop) and _at_top_level(module, loop):
            start = module.position(loop.start_byte)
            keyword = module.text(loop.children[0])
            span = Span(start.line, start.column, start.line, start.column + len(keyword))
            yield Timer(what="an endless loop", path=module.path, span=span)


def _timer_name(module: Module, call: Node) -> str | None:
    function = call.child_by_field_name("function")
    if function is None:
        return None
    name = module.text(function)
    for prefix in ("globalThis.", "window.", "global.", "self."):
        name = name.removeprefix(prefix)
    bound = module.names.bound.get(name, ...)
    if isinstance(bound, Imported):
        name = bound.name if bound.source in ("timers", "node:timers") else ""
    elif bound is not ...:
        return None
    return name if name in _TIMERS else None


def _at_top_level(module: Module, node: Node) -> bool:
    """Whether a node runs when the module is loaded: in no function (but one called on the spot), behind no test for "main"."""
    around = node.parent
    while around is not None:
        if around.type in FUNCTIONS and not _called_on_the_spot(around):
            return False
        if around.type == "if_statement" and _asks_for_main(module, around):
            return False
        around = around.parent
    return True


def _called_on_the_spot(function: Node) -> bool:
    outer = function.parent
    inner = function
    while outer is not None and outer.type == "parenthesized_expression":
        inner, outer = outer, outer.parent
    if outer is None or outer.type != "call_expression":
        return False
    called = outer.child_by_field_name("function")
    return called is not None and called.id == inner.id


def _asks_for_main(module: Module, statement: Node) -> bool:
    condition = statement.child_by_field_name("condition")
    text = module.text(condition) if condition is not None else ""
    return any(word in text for word in ("require.main", "import.meta.main", "import.meta.url", "process.argv"))


def _endless(module: Module, loop: Node) -> bool:
    condition = loop.child_by_field_name("condition")
    text = module.text(plain(condition)).strip("();") if condition is not None else ""
    always = text in ("true", "1") or (loop.type == "for_statement" and text == "")
    return always and not any(node.type in ("break_statement", "return_statement", "throw_statement") for node in inside(loop))


def inside(node: Node) -> Iterator[Node]:
    """All nodes below, those of inner functions left out."""
    stack = list(node.named_children)
    while stack:
        inner = stack.pop()
        yield inner
        if inner.type not in FUNCTIONS:
            stack.extend(inner.named_children)
