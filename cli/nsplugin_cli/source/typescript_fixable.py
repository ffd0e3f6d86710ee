"""Where a text or a key may be rewritten: it stands in the call that uses it, so that no name shares it with other code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin.spans import Span
from nsplugin_cli.source.typescript_bytes import Unreadable, decode
from nsplugin_cli.source.typescript_module import Module

_MAKERS: Final = frozenset(("definePlugin", "defineJob"))
_HOLDERS: Final = frozenset(
    (
        "arguments",
        "object",
        "array",
        "pair",
        "parenthesized_expression",
        "as_expression",
        "satisfies_expression",
        "method_definition",
    )
)
_LITERALS: Final = frozenset(("string", "template_string", "property_identifier"))
"""A shorthand property is none of these: its key is a variable's name as well."""


def fixable_in_typescript(data: bytes, path: str) -> tuple[Span, ...]:
    """The spans of string literals and keys written directly in a definer's call or in ``jobs.enqueue``."""
    try:
        module = Module(decode(data), path)
    except Unreadable:
        return ()
    calls = (call for call in module.calls if _takes(module, call.child_by_field_name("function")))
    return tuple(module.span(node) for call in calls for node in _written_in(call))


def _takes(module: Module, function: Node | None) -> bool:
    if function is None:
        return False
    *before, name = module.text(function).replace("?.", ".").replace("!", "").split(".")
    return name in _MAKERS or (name == "enqueue" and before[-1:] == ["jobs"])


def _written_in(call: Node) -> Iterator[Node]:
    arguments = call.child_by_field_name("arguments")
    pending = [] if arguments is None else [arguments]
    while pending:
        node = pending.pop()
        if node.type in _LITERALS:
            yield node
        elif node.type in _HOLDERS:
            pending += node.named_children
