"""Members of TypeScript's enums, and static ones of classes: constants, as long as nothing may set them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tree_sitter import Node

from nsplugin.pointers import UNKNOWN
from nsplugin.record import record
from nsplugin_cli.source.typescript_calls import inside_call
from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import key_text
from nsplugin_cli.source.typescript_results import FunctionValue, Located, Mapping, Members
from nsplugin_cli.source.typescript_scalars import narrow
from nsplugin_cli.source.typescript_tree import plain
from nsplugin_cli.source.typescript_uses import steady, uses

if TYPE_CHECKING:
    from nsplugin_cli.source.typescript_values import Evaluator


def members(evaluator: Evaluator, module: Module, node: Node) -> Located:
    """An enum or a class."""
    unknown = Located(UNKNOWN, node, module)
    own = node.child_by_field_name("name")
    if inside_call(evaluator.arguments, module, node):
        return unknown
    if own is None:
        return Located(Members(node, module), node, module)
    home = module.home(node, module.text(own)) if node.type != "class" else None
    if home is None or (home[1] is not None and not _is(home[1], node)) or not steady(module, module.text(own), home[0], False):
        return unknown
    return Located(Members(node, module, ((module, module.text(own), home[0]),)), node, module)


def _is(bound: Any, node: Node) -> bool:
    return isinstance(bound, Node) and bound.id == node.id


def member(evaluator: Evaluator, whole: Members, name: str) -> Located | None:
    """A member's value, ``None`` for what is not certain."""
    module, node = whole.module, whole.node
    if inside_call(evaluator.arguments, module, node):
        return None
    if node.type == "enum_declaration":
        return _enum_member(evaluator, module, node, _enum(module, node).get(name))
    written = _class(module, node)
    found = _static_member(evaluator, whole, written, name) if written is not None else None
    if written is not None and found is not None and isinstance(found.value, (Mapping, list)):
        kept = all(steady(holding, held, home, True) for holding, held, home in whole.holders)
        return found if kept and not written.names_itself else None
    return found


@record(kw_only=False)
class _Numbered:
    """A member of an enum: ``after`` places behind the one whose value counts, or behind the start."""

    node: Node
    value: Node | None
    after: int


def _enum(module: Module, node: Node) -> dict[str, _Numbered | None]:
    """The members; a name that is written twice stands for nothing."""
    if node.id not in module.written_members:
        found: dict[str, _Numbered | None] = {}
        value, after = None, -1
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            if child.type != "comment":
                value, after = (
                    (child.child_by_field_name("value"), 0) if child.type == "enum_assignment" else (value, after + 1)
                )
                name = key_text(module, child.child_by_field_name("name") or child) or ""
                found[name] = None if name in found else _Numbered(child, value, after)
        module.written_members[node.id] = found
    known: dict[str, _Numbered | None] = module.written_members[node.id]
    return known


def _initial(evaluator: Evaluator, module: Module, whole: Node, value: Node) -> Located:
    """A member's value. Until it is there, those that follow are not there either."""
    mark = module.path, whole.id
    before = evaluator.initialized.get(mark)
    evaluator.initialized[mark] = value.start_byte
    try:
        return evaluator.evaluate(module, value)
    finally:
        if before is None:
            del evaluator.initialized[mark]
        else:
            evaluator.initialized[mark] = before


def _is_initialized(evaluator: Evaluator, module: Module, whole: Node, written: Node) -> bool:
    until = evaluator.initialized.get((module.path, whole.id))
    return until is None or written.end_byte <= until


def _enum_member(evaluator: Evaluator, module: Module, enum: Node, written: _Numbered | None) -> Located | None:
    """One without a value follows the one before it by one; the first is zero."""
    if written is None or not _is_initialized(evaluator, module, enum, written.node):
        return None
    start: Any = _initial(evaluator, module, enum, written.value).value if written.value is not None else 0
    if written.after == 0:
        known = isinstance(start, (int, float, str)) and not isinstance(start, bool)
        return Located(start, written.value or written.node, module) if known else None
    counted = type(start) is int and type(narrow(float(start + written.after))) is int
    return Located(start + written.after, written.node, module) if counted else None


@record(kw_only=False)
class _Class:
    """The static members of a class by their names, ``None`` for a name that is written twice."""

    members: dict[str, Node | None]
    names_itself: bool
    """Whether a static member says ``this`` or ``super``: the class itself."""
    escapes: bool
    """Whether other files may reach the class, and set what is not ``readonly``."""


def _class(module: Module, node: Node) -> _Class | None:
    """What is written in a class; ``None`` when it may hold more, or be changed by what is not seen."""
    if node.id not in module.written_members:
        module.written_members[node.id] = _read_class(module, node)
    known: _Class | None = module.written_members[node.id]
    return known


def _read_class(module: Module, node: Node) -> _Class | None:
    around = node.parent
    decorated = [*node.children, *(around.children if around is not None and around.type == "export_statement" else ())]
    if b".constructor" in module.data or any(child.type == "decorator" for child in decorated):
        return None
    statics = list(_statics(node))
    own = list(_own_uses(module, statics))
    inherits = any(child.type == "class_heritage" for child in node.children)
    if any(inherits or use.parent is None or use.parent.type != "member_expression" for use in own):
        return None
    found: dict[str, Node | None] = {}
    for child in statics:
        if child.type != "class_static_block":
            name = _name(module, child)
            if name is None:
                return None
            found[name] = None if name in found else child
    return _Class(found, bool(own), _escapes(module, node))


def _static_member(evaluator: Evaluator, whole: Members, written: _Class, name: str) -> Located | None:
    module, found = whole.module, written.members.get(name)
    if found is None or name in module.assigned_members:
        return None
    words = {child.type for child in found.children}
    if words & {"decorator", "get", "set", "accessor", "declare"}:
        return None
    if found.type == "method_definition":
        return Located(FunctionValue(found, module), found, module)
    value = found.child_by_field_name("value")
    if value is None or ("readonly" not in words and written.escapes):
        return None
    return _initial(evaluator, module, whole.node, value) if _is_initialized(evaluator, module, whole.node, found) else None


def _statics(node: Node) -> Iterator[Node]:
    body = node.child_by_field_name("body")
    for child in body.named_children if body is not None else ():
        if child.type == "class_static_block" or any(part.type == "static" for part in child.children):
            yield child


def _name(module: Module, child: Node) -> str | None:
    """The name of a static member; ``None`` for one that is computed, which may be any."""
    key = child.child_by_field_name("name") or child.child_by_field_name("property")
    if key is not None and key.type == "computed_property_name":
        key = plain(key.named_children[0])
    if key is not None and key.type == "private_property_identifier":
        return module.text(key)
    return key_text(module, key) if key is not None else None


def _own_uses(module: Module, statics: list[Node]) -> Iterator[Node]:
    """Where the class itself is named ``this`` or ``super``: in its static members."""
    for child in statics:
        for word in (b"this", b"super"):
            at = module.data.find(word, child.start_byte, child.end_byte)
            while at >= 0:
                found = module.root.descendant_for_byte_range(at, at + len(word))
                if found is not None and found.type == word.decode():
                    yield found
                at = module.data.find(word, at + 1, child.end_byte)


_STAYS: Final = frozenset(
    {"member_expression", "class_declaration", "abstract_class_declaration", "new_expression", "nested_type_identifier"}
    | {"type_query", "binary_expression", "extends_clause", "class_heritage"}
)
"""Where the name of a class may stand without handing the class on."""


def _escapes(module: Module, node: Node) -> bool:
    """Whether the class is more than what a name of this file stands for."""
    holder = node.parent
    if node.type == "class":
        if holder is None or holder.type != "variable_declarator":
            return True
    else:
        holder = node
    name = holder.child_by_field_name("name")
    home = module.home(holder, module.text(name)) if name is not None else None
    if name is None or home is None or module.text(name) in module.names.exported.values():
        return True
    exported = module.names.exported.get("default")
    if isinstance(exported, Node) and exported.id == node.id:
        return True
    used = uses(module, module.text(name), home[0])
    return any(use is None or use.parent is None or not _stays(use, use.parent) for use in used)


def _stays(use: Node, around: Node) -> bool:
    declared = around.child_by_field_name("name")
    return around.type in _STAYS or (declared is not None and declared.id == use.id)
