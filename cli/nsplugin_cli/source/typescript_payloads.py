"""Whether a TypeScript handler looks at its payload before it uses parts of it (spec/nextskin.md D7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin_cli.source.typescript_context import Frame, Path, declare, readable

_LOOKS: Final = frozenset(
    {"if_statement", "ternary_expression", "switch_statement", "while_statement", "unary_expression", "binary_expression"}
    | {"arguments", "optional_chain", "template_substitution", "return_statement", "assignment_expression", "for_in_statement"}
    | {"spread_element", "catch_clause", "update_expression", "augmented_assignment_expression", "new_expression"}
)


def unchecked_read(prefix: Path, frame: Frame, function: Node) -> Node | None:
    """The first ``payload.x`` of a handler in which nothing looks at the payload, or ``None``."""
    body = function.child_by_field_name("body")
    first: Node | None = None
    for node in ordered(body) if body is not None else ():
        if node.type == "variable_declarator":
            declare(frame, node)
        path = frame.path(node) if node.type in ("member_expression", "subscript_expression", "identifier") else None
        if path is None or path[:1] != ("payload",):
            continue
        if node.parent is not None and _is_object_of(node, node.parent):
            continue
        if not _on_context(prefix, frame, node) and _looked_at(node, body):
            return None
        if len(path) > 1 and first is None:
            first = node
    return first


def _is_object_of(node: Node, member: Node) -> bool:
    target = member.child_by_field_name("object")
    return target is not None and target.id == node.id


def ordered(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        inner = stack.pop()
        yield inner
        stack.extend(reversed(readable(inner)))


def _on_context(prefix: Path, frame: Frame, node: Node) -> bool:
    """Whether a value is given straight to one of the context's services, which take it as it comes."""
    arguments = node.parent
    while arguments is not None and arguments.type in ("pair", "object", "template_string", "template_substitution"):
        arguments = arguments.parent
    call = arguments.parent if arguments is not None and arguments.type == "arguments" else None
    function = call.child_by_field_name("function") if call is not None else None
    path = frame.path(function) if function is not None else None
    return path is not None and path[: len(prefix)] == prefix and len(path) > len(prefix)


def _looked_at(node: Node, body: Node | None) -> bool:
    """Whether something around the use may check the value: a call, a test, a conversion, a way out of the handler."""
    around: Node | None = node
    while around is not None and (body is None or around.id != body.id):
        if around.type in _LOOKS or any(child.type == "optional_chain" for child in around.children):
            return True
        around = around.parent
    return False
