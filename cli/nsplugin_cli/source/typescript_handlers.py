"""What is known of a TypeScript handler from its source, in the words that the rules use for handlers of any language."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin.handlers import Handler, Parameter
from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import key_text
from nsplugin_cli.source.typescript_results import FunctionValue, Located, Mapping
from nsplugin_cli.source.typescript_scalars import undefined

_YIELDS: Final = "it contains yield, so calling it would run none of its code"


def described(item: Located, whole: str | None) -> Handler:
    """The handler that a value is. ``whole``: the name that a platform keeps for its argument as a whole."""
    if isinstance(item.value, FunctionValue):
        return _function(item.value, whole)
    return Handler(described=_value(item), callable=False)


def _function(function: FunctionValue, whole: str | None) -> Handler:
    """A function is called with one object; the names that it takes out of that are its parameters."""
    node, module = function.node, function.module
    name = node.child_by_field_name("name")
    generator = node.type.startswith("generator") or any(child.type == "*" for child in node.children)
    kind = "generator function" if generator else "function"
    words = f"{kind} {module.text(name)[:60]}" if name is not None else f"a {kind}"
    refused = _YIELDS if generator else None
    pattern = _argument(node)
    if pattern is None:
        return Handler(described=words, callable=True, refused=refused)
    taken = [taken for taken in _taken(module, pattern) if taken is None or taken.name != whole]
    known = tuple(parameter for parameter in taken if parameter is not None)
    return Handler(described=words, callable=True, parameters=known, any_name=len(known) < len(taken), refused=refused)


def _argument(function: Node) -> Node | None:
    """The pattern that takes the handler's argument apart, if there is one."""
    listed = function.child_by_field_name("parameters")
    first = next((child for child in listed.named_children if child.type != "comment"), None) if listed is not None else None
    pattern = first.child_by_field_name("pattern") or first if first is not None else None
    if pattern is not None and pattern.type == "assignment_pattern":
        pattern = pattern.child_by_field_name("left")
    return pattern if pattern is not None and pattern.type == "object_pattern" else None


def _taken(module: Module, pattern: Node) -> Iterator[Parameter | None]:
    """The names that a pattern takes; ``None`` for a rest and for a computed name."""
    for child in pattern.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            yield Parameter(name=module.text(child), required=True)
        elif child.type == "object_assignment_pattern":
            left = child.child_by_field_name("left")
            yield Parameter(name=module.text(left), required=False) if left is not None else None
        elif child.type == "pair_pattern":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            name = key_text(module, key) if key is not None else None
            optional = value is not None and value.type == "assignment_pattern"
            yield Parameter(name=name, required=not optional) if name is not None else None
        elif child.type != "comment":
            yield None


def _value(item: Located) -> str:
    value = item.value
    if isinstance(value, str):
        return f'the string "{value[:40]}"'
    if isinstance(value, (Mapping, list)):
        return "an object" if isinstance(value, Mapping) else "an array"
    if value is None or undefined(value):
        return "null" if value is None else "undefined"
    return f"the {'boolean' if isinstance(value, bool) else 'number'} {str(value).lower()}"
