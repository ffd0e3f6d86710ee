"""Evaluates TypeScript expressions that are evaluable without running them; everything else is ``UNKNOWN``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tree_sitter import Node

from nsplugin.pointers import UNKNOWN
from nsplugin.record import field, record
from nsplugin_cli.source.typescript_module import Imported, Module, plain
from nsplugin_cli.source.typescript_scalars import (
    ABSENT,
    as_text,
    computed,
    narrow,
    parsed_number,
    pieces,
    undefined,
    unescaped,
)

_DEPTH: Final = 60
_STEPS: Final = 20_000

Resolve = Callable[[str, str], Module | None]
"""(module specifier, path of the importing file) → the module of the same repository, or ``None``."""


@record(kw_only=False)
class FunctionValue:
    """A function that stands where a value is wanted."""

    node: Node
    module: Module


@record(kw_only=False)
class CallValue:
    """A call whose result is not a plain value; the definers among them are told by ``definer``."""

    node: Node
    module: Module
    definer: str | None = None


@record(kw_only=False)
class Located:
    """A value and the node that holds it. Mappings hold ``dict[key, Entry]``, lists ``list[Located]``."""

    value: Any
    node: Node
    module: Module


@record(kw_only=False)
class Entry:
    """A mapping's entry: the key's node (``None`` for one that came by a spread name) and the located value."""

    key: Node | None
    item: Located


class Mapping(dict[Any, Entry]):
    """An evaluated object literal; the key ``UNKNOWN`` says that it may hold more."""


@record(kw_only=False, frozen=False)
class Evaluator:
    """Evaluates nodes of several modules, bounded in steps and depth. ``definer`` tells which calls define something."""

    resolve: Resolve
    definer: Callable[[Module, Node], str | None]
    steps: int = 0
    depth: int = 0
    busy: set[tuple[str, int]] = field(default_factory=set)

    def evaluate(self, module: Module, node: Node) -> Located:
        """The value of an expression; never raises."""
        node = plain(node)
        self.steps += 1
        mark = (module.path, node.id)
        if self.steps > _STEPS or self.depth > _DEPTH or mark in self.busy:
            return Located(UNKNOWN, node, module)
        self.busy.add(mark)
        self.depth += 1
        try:
            return _EVALUATE.get(node.type, _unknown)(self, module, node)
        finally:
            self.depth -= 1
            self.busy.discard(mark)

    def name(self, module: Module, name: str, node: Node) -> Located:
        """What a top-level name of the module stands for."""
        bound = module.names.bound.get(name)
        if isinstance(bound, Imported):
            return self._imported(module, bound, node)
        if bound is None or _shadowed(module, node, name):
            return Located(UNKNOWN, node, module)
        if bound.type in ("function_declaration", "generator_function_declaration"):
            return Located(FunctionValue(bound, module), bound, module)
        if bound.type.endswith("_declaration"):
            return Located(UNKNOWN, node, module)
        return self._through(module, node, self.evaluate(module, bound))

    def _imported(self, module: Module, imported: Imported, node: Node) -> Located:
        target = self.resolve(imported.source, module.path)
        if target is None or imported.name == "*":
            return Located(UNKNOWN, node, module)
        found = self.export(target, imported.name)
        return Located(UNKNOWN, node, module) if found is None else self._through(module, node, found)

    def _through(self, module: Module, node: Node, found: Located) -> Located:
        """A scalar that came by a name of another file is shown where the name stands: its own place is not in this file."""
        if found.module is not module and not isinstance(found.value, (Mapping, list, FunctionValue, CallValue)):
            return Located(found.value, node, module)
        return found

    def export(self, module: Module, name: str, hops: int = 0) -> Located | None:
        """What a module exports under a name, followed through re-exports."""
        if hops > 8:
            return None
        exported = module.names.exported.get(name)
        if isinstance(exported, str):
            return self.name(module, exported, module.root)
        if isinstance(exported, Imported):
            target = self.resolve(exported.source, module.path)
            return self.export(target, exported.name, hops + 1) if target is not None else None
        if exported is not None:
            if exported.type in ("function_declaration", "generator_function_declaration"):
                return Located(FunctionValue(exported, module), exported, module)
            return self.evaluate(module, exported)
        for source in module.names.stars if name != "default" else ():
            target = self.resolve(source, module.path)
            found = self.export(target, name, hops + 1) if target is not None else None
            if found is not None:
                return found
        return None


def _shadowed(module: Module, node: Node, name: str) -> bool:
    """Whether a function around the node has a parameter or variable of that name."""
    around = node.parent
    while around is not None:
        if around.type in _FUNCTIONS and name in _local_names(module, around):
            return True
        around = around.parent
    return False


_FUNCTIONS: Final = frozenset(
    {"arrow_function", "function_expression", "function_declaration", "method_definition", "generator_function", "function"}
)


def _local_names(module: Module, function: Node) -> set[str]:
    names: set[str] = set()
    stack = [child for child in function.children if child.type in ("formal_parameters", "identifier", "statement_block")]
    while stack:
        node = stack.pop()
        if node.type in ("identifier", "shorthand_property_identifier_pattern") and _binds(node):
            names.add(module.text(node))
        stack.extend(node.named_children)
    return names


def _binds(node: Node) -> bool:
    around = node.parent
    while around is not None and around.type in ("object_pattern", "array_pattern", "pair_pattern", "assignment_pattern"):
        around = around.parent
    return around is not None and around.type in (
        "variable_declarator",
        "required_parameter",
        "optional_parameter",
        "formal_parameters",
        "arrow_function",
        "function_declaration",
    )


def _unknown(evaluator: Evaluator, module: Module, node: Node) -> Located:
    return Located(UNKNOWN, node, module)


def _constant(value: Any) -> Callable[[Evaluator, Module, Node], Located]:
    return lambda evaluator, module, node: Located(value, node, module)


def _string(evaluator: Evaluator, module: Module, node: Node) -> Located:
    return Located("".join(text for text, _, _ in pieces(module, node)), node, module)


def _template(evaluator: Evaluator, module: Module, node: Node) -> Located:
    parts: list[str] = []
    for child in node.named_children:
        if child.type == "template_substitution":
            value = evaluator.evaluate(module, child.named_children[0]).value if child.named_child_count else UNKNOWN
            text = as_text(value)
            if text is None:
                return Located(UNKNOWN, node, module)
            parts.append(text)
        else:
            parts.extend([module.text(child)] if child.type == "string_fragment" else [unescaped(module.text(child))])
    return Located("".join(parts), node, module)


def _number(evaluator: Evaluator, module: Module, node: Node) -> Located:
    return Located(parsed_number(module.text(node)), node, module)


def _unary(evaluator: Evaluator, module: Module, node: Node) -> Located:
    operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
    if operator is None or argument is None:
        return Located(UNKNOWN, node, module)
    value, sign = evaluator.evaluate(module, argument).value, module.text(operator)
    if sign in "+-" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return Located(narrow(-float(value)) if sign == "-" else value, node, module)
    if sign == "!" and isinstance(value, bool):
        return Located(not value, node, module)
    return Located(ABSENT if sign == "void" else UNKNOWN, node, module)


def _binary(evaluator: Evaluator, module: Module, node: Node) -> Located:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        return Located(UNKNOWN, node, module)
    first, second = evaluator.evaluate(module, left).value, evaluator.evaluate(module, right).value
    return Located(computed(module.text(operator), first, second), node, module)


def _ternary(evaluator: Evaluator, module: Module, node: Node) -> Located:
    condition = node.child_by_field_name("condition")
    test = evaluator.evaluate(module, condition).value if condition is not None else UNKNOWN
    branch = node.child_by_field_name("consequence" if test is True else "alternative")
    if not isinstance(test, bool) or branch is None:
        return Located(UNKNOWN, node, module)
    return evaluator.evaluate(module, branch)


def _identifier(evaluator: Evaluator, module: Module, node: Node) -> Located:
    name = module.text(node)
    if name == "undefined":
        return Located(ABSENT, node, module)
    if name in ("NaN", "Infinity") and name not in module.names.bound:
        return Located(float(name.lower()[:3]), node, module)
    return evaluator.name(module, name, node)


def _member(evaluator: Evaluator, module: Module, node: Node) -> Located:
    target, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    if target is None or name is None:
        return Located(UNKNOWN, node, module)
    namespace = module.names.bound.get(module.text(target)) if target.type == "identifier" else None
    if isinstance(namespace, Imported) and namespace.name == "*":
        exporting = evaluator.resolve(namespace.source, module.path)
        found = evaluator.export(exporting, module.text(name)) if exporting is not None else None
        return found if found is not None else Located(UNKNOWN, node, module)
    return _item(evaluator.evaluate(module, target).value, module.text(name), node, module)


def _subscript(evaluator: Evaluator, module: Module, node: Node) -> Located:
    target, index = node.child_by_field_name("object"), node.child_by_field_name("index")
    if target is None or index is None:
        return Located(UNKNOWN, node, module)
    return _item(evaluator.evaluate(module, target).value, evaluator.evaluate(module, index).value, node, module)


def _item(container: Any, key: Any, node: Node, module: Module) -> Located:
    if isinstance(container, Mapping) and isinstance(key, str) and key in container and UNKNOWN not in container:
        return container[key].item
    if isinstance(container, list) and isinstance(key, int) and not isinstance(key, bool) and 0 <= key < len(container):
        before = container[: key + 1]
        if all(item.value is not UNKNOWN for item in before):
            return container[key]  # type: ignore[no-any-return]
    return Located(UNKNOWN, node, module)


def _object(evaluator: Evaluator, module: Module, node: Node) -> Located:
    result = Mapping()
    for child in node.named_children:
        if child.type == "spread_element":
            _spread_into(evaluator, module, result, child)
        elif child.type != "comment":
            key, entry = _entry(evaluator, module, child)
            result.pop(key, None)
            if not undefined(entry.item.value):
                result[key] = entry
    return Located(result, node, module)


def _spread_into(evaluator: Evaluator, module: Module, result: Mapping, spread: Node) -> None:
    inner = evaluator.evaluate(module, spread.named_children[0])
    if not isinstance(inner.value, Mapping):
        # what stood before may be overwritten by what is not known
        for key in list(result):
            result[key] = Entry(result[key].key, Located(UNKNOWN, spread, module))
        result[UNKNOWN] = Entry(None, Located(UNKNOWN, spread, module))
        return
    for key, entry in inner.value.items():
        here = entry if inner.module is module else Entry(None, entry.item)
        result.pop(key, None)
        result[key] = here


def _entry(evaluator: Evaluator, module: Module, child: Node) -> tuple[Any, Entry]:
    if child.type == "shorthand_property_identifier":
        name = module.text(child)
        return name, Entry(child, _identifier(evaluator, module, child))
    key_node = child.child_by_field_name("key" if child.type == "pair" else "name")
    key = _key(evaluator, module, key_node) if key_node is not None else UNKNOWN
    if child.type == "pair":
        value = child.child_by_field_name("value")
        item = evaluator.evaluate(module, value) if value is not None else Located(UNKNOWN, child, module)
        return key, Entry(key_node, item)
    if child.type == "method_definition" and not any(part.type in ("get", "set", "static") for part in child.children):
        return key, Entry(key_node, Located(FunctionValue(child, module), child, module))
    return key, Entry(key_node, Located(UNKNOWN, child, module))


def _key(evaluator: Evaluator, module: Module, node: Node) -> Any:
    if node.type in ("property_identifier", "private_property_identifier"):
        return module.text(node)
    inner = node.named_children[0] if node.type == "computed_property_name" and node.named_child_count else node
    value = evaluator.evaluate(module, inner).value
    text = as_text(value)
    return UNKNOWN if text is None else text


def _array(evaluator: Evaluator, module: Module, node: Node) -> Located:
    items: list[Located] = []
    for child in node.named_children:
        if child.type == "comment":
            continue
        if child.type == "spread_element":
            inner = evaluator.evaluate(module, child.named_children[0])
            items.extend(inner.value if isinstance(inner.value, list) else [Located(UNKNOWN, child, module)])
        else:
            items.append(evaluator.evaluate(module, child))
    return Located(items, node, module)


def _function(evaluator: Evaluator, module: Module, node: Node) -> Located:
    return Located(FunctionValue(node, module), node, module)


def _call(evaluator: Evaluator, module: Module, node: Node) -> Located:
    definer = evaluator.definer(module, node)
    if definer is not None:
        return Located(CallValue(node, module, definer), node, module)
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is not None and arguments is not None and arguments.named_child_count == 1:
        called = module.text(function)
        if called == "Object.freeze" or called.endswith(".freeze"):
            return evaluator.evaluate(module, arguments.named_children[0])
        if function.type == "member_expression":
            return _method(evaluator, module, node, function, arguments.named_children[0])
    return Located(UNKNOWN, node, module)


def _method(evaluator: Evaluator, module: Module, node: Node, function: Node, argument: Node) -> Located:
    """``list.concat(list)``; every other method is unknown."""
    target, name = function.child_by_field_name("object"), function.child_by_field_name("property")
    if target is None or name is None or module.text(name) != "concat":
        return Located(UNKNOWN, node, module)
    first, second = evaluator.evaluate(module, target).value, evaluator.evaluate(module, argument).value
    both = isinstance(first, list) and isinstance(second, list)
    return Located([*first, *second] if both else UNKNOWN, node, module)


_EVALUATE: Final[dict[str, Callable[[Evaluator, Module, Node], Located]]] = {
    "string": _string,
    "template_string": _template,
    "number": _number,
    "true": _constant(True),
    "false": _constant(False),
    "null": _constant(None),
    "undefined": _constant(ABSENT),
    "unary_expression": _unary,
    "binary_expression": _binary,
    "ternary_expression": _ternary,
    "identifier": _identifier,
    "member_expression": _member,
    "subscript_expression": _subscript,
    "object": _object,
    "array": _array,
    "arrow_function": _function,
    "function_expression": _function,
    "function": _function,
    "generator_function": _function,
    "call_expression": _call,
}
