"""Evaluates TypeScript expressions that are evaluable without running them; everything else is ``UNKNOWN``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tree_sitter import Node

from nsplugin.pointers import UNKNOWN
from nsplugin.record import field, record
from nsplugin_cli.source.typescript_calls import Arguments, applied, inside_call
from nsplugin_cli.source.typescript_members import member, members
from nsplugin_cli.source.typescript_methods import METHODS, Failed
from nsplugin_cli.source.typescript_module import UNBOUND, Module, starred
from nsplugin_cli.source.typescript_names import Imported, Part
from nsplugin_cli.source.typescript_results import (
    CallValue,
    Entry,
    FunctionValue,
    Located,
    Mapping,
    Members,
    is_deep,
    shown_at,
)
from nsplugin_cli.source.typescript_scalars import (
    ABSENT,
    as_text,
    computed,
    narrow,
    parsed_number,
    pieces,
    undefined,
    whole,
)
from nsplugin_cli.source.typescript_tree import plain
from nsplugin_cli.source.typescript_uses import steady, steady_namespace

_DEPTH: Final = 60
_STEPS: Final = 20_000

Resolve = Callable[[str, str], Module | None]
"""(module specifier, path of the importing file) → the module of the same repository, or ``None``."""


@record(kw_only=False, frozen=False)
class Evaluator:
    """Evaluates nodes of several modules, bounded in steps and depth. ``definer`` tells which calls define something.

    Steps in functions that are called count apart, so that they leave enough for what is written out.
    """

    resolve: Resolve
    definer: Callable[[Module, Node], str | None]
    steps: int = 0
    depth: int = 0
    inner_steps: int = 0
    busy: set[tuple[str, int]] = field(default_factory=set)
    exporting: set[tuple[str, str]] = field(default_factory=set)
    """The exports, by file and name, that are being followed: one that leads back to itself stands for nothing."""
    arguments: Arguments = field(default_factory=Arguments)
    initialized: dict[tuple[str, int], int] = field(default_factory=dict)
    """How far the enum or class is made whose member is being evaluated."""

    def evaluate(self, module: Module, node: Node) -> Located:
        """The value of an expression; never raises."""
        node = plain(node)
        mark = (module.path, node.id)
        if self._spent() > _STEPS or self.depth > _DEPTH or mark in self.busy:
            return Located(UNKNOWN, node, module)
        self.busy.add(mark)
        self.depth += 1
        try:
            return shown_at(_EVALUATE.get(node.type, _unknown)(self, module, node), node, module)
        finally:
            self.depth -= 1
            self.busy.discard(mark)

    def _spent(self) -> int:
        if self.arguments.active:
            self.inner_steps += 1
            return self.inner_steps
        self.steps += 1
        return self.steps

    def name(self, module: Module, name: str, node: Node) -> Located:
        """What a name stands for where it is used."""
        home = module.home(node, name)
        if home is None:
            return Located(UNKNOWN, node, module)
        scope, bound = home
        found = self._bound(module, bound, node) if bound is not None else self.arguments.given.get((module.path, scope, name))
        if found is None:
            return Located(UNKNOWN, node, module)
        value = found.value
        deep = isinstance(value, (Mapping, list)) and is_deep(value)
        if isinstance(value, (Mapping, list, Members)) and not steady(module, name, scope, deep):
            return Located(UNKNOWN, node, module)
        if isinstance(value, Members):
            return Located(Members(value.node, value.module, (*value.holders, (module, name, scope))), found.node, found.module)
        return found

    def item(self, container: Any, key: Any, node: Node, module: Module) -> Located:
        """A part of an object, an array, an enum or a class."""
        if isinstance(container, Members) and isinstance(key, str):
            return member(self, container, key) or Located(UNKNOWN, node, module)
        return _item(container, key, node, module)

    def _bound(self, module: Module, bound: Node | Imported | Part, node: Node) -> Located:
        if isinstance(bound, Imported):
            return self._imported(module, bound, node)
        if isinstance(bound, Part):
            found = self.evaluate(module, bound.value)
            for key in bound.keys:
                found = self.item(found.value, key, node, module)
            return found
        if bound.type.endswith("function_declaration"):
            return Located(FunctionValue(bound, module), bound, module)
        return self.evaluate(module, bound)

    def _imported(self, module: Module, imported: Imported, node: Node) -> Located:
        target = self.resolve(imported.source, module.path)
        if target is None or imported.name == "*":
            return Located(UNKNOWN, node, module)
        found = self.export(target, imported.name)
        return Located(UNKNOWN, node, module) if found is None else found

    def export(self, module: Module, name: str) -> Located | None:
        """What a module exports under a name, followed through re-exports."""
        mark = (module.path, name)
        if mark in self.exporting or len(self.exporting) > _HOPS:
            return None
        self.exporting.add(mark)
        try:
            return self._exported(module, name)
        finally:
            self.exporting.discard(mark)

    def _exported(self, module: Module, name: str) -> Located | None:
        names = module.names
        if name not in names.exported:
            return self._starred(module, name) if name != "default" else None
        exported = names.exported[name]
        if exported is None:
            return None
        if isinstance(exported, str):
            return self.name(module, exported, module.root)
        if isinstance(exported, Imported):
            target = self.resolve(exported.source, module.path)
            return self.export(target, exported.name) if target is not None else None
        if exported.type.endswith("function_declaration"):
            return Located(FunctionValue(exported, module), exported, module)
        return self.evaluate(module, exported)

    def _starred(self, module: Module, name: str) -> Located | None:
        """What ``export * from`` passes on; a name that two modules give is given by none."""
        homes, outside = starred(module, name, self.resolve)
        return self.export(homes[0], name) if len(homes) == 1 and not outside else None

    def steady_namespace(self, module: Module, name: str, node: Node) -> bool:
        """Whether nothing is changed through ``name`` of ``import * as name``."""
        home = module.home(node, name)
        return home is not None and steady_namespace(module, name, home[0])


_HOPS: Final = 40
"""Exports that lead to each other go no further."""


def _unknown(evaluator: Evaluator, module: Module, node: Node) -> Located:
    return Located(UNKNOWN, node, module)


def _constant(value: Any) -> Callable[[Evaluator, Module, Node], Located]:
    return lambda evaluator, module, node: Located(value, node, module)


def _string(evaluator: Evaluator, module: Module, node: Node) -> Located:
    return Located(whole("".join(text for text, _, _ in pieces(module, node))), node, module)


def _template(evaluator: Evaluator, module: Module, node: Node) -> Located:
    parts: list[str] = []
    for child in node.named_children:
        if child.type == "template_substitution":
            value = evaluator.evaluate(module, child.named_children[0]).value if child.named_child_count else UNKNOWN
            text = as_text(value)
            if text is None:
                return Located(UNKNOWN, node, module)
            parts.append(text)
    if not parts:
        return _string(evaluator, module, node)
    texts = iter(parts)
    written = (next(texts) if start < 0 else text for text, start, _ in pieces(module, node, substitutions=True))
    return Located(whole("".join(written)), node, module)


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
    if name in _CONSTANTS and module.binding(node, name) is UNBOUND:
        return Located(_CONSTANTS[name], node, module)
    return evaluator.name(module, name, node)


_CONSTANTS: Final = {"undefined": ABSENT, "NaN": float("nan"), "Infinity": float("inf")}


def _member(evaluator: Evaluator, module: Module, node: Node) -> Located:
    target, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    if target is None or name is None or name.type != "property_identifier":
        return Located(UNKNOWN, node, module)
    namespace = module.binding(target, module.text(target)) if target.type == "identifier" else None
    if isinstance(namespace, Imported) and namespace.name in ("*", "default"):
        exporting = evaluator.resolve(namespace.source, module.path)
        if exporting is None or not evaluator.steady_namespace(module, module.text(target), target):
            return Located(UNKNOWN, node, module)
        if namespace.name == "*" or "default" not in exporting.names.exported:
            found = evaluator.export(exporting, module.text(name))
            return found if found is not None else Located(UNKNOWN, node, module)
    return evaluator.item(evaluator.evaluate(module, target).value, module.text(name), node, module)


def _subscript(evaluator: Evaluator, module: Module, node: Node) -> Located:
    target, index = node.child_by_field_name("object"), node.child_by_field_name("index")
    if target is None or index is None:
        return Located(UNKNOWN, node, module)
    return evaluator.item(evaluator.evaluate(module, target).value, evaluator.evaluate(module, index).value, node, module)


def _item(container: Any, key: Any, node: Node, module: Module) -> Located:
    if isinstance(container, Mapping) and isinstance(key, (str, int)) and UNKNOWN not in container:
        entry = container.get(as_text(key))
        return Located(UNKNOWN, node, module) if entry is None else entry.item
    if isinstance(container, list) and isinstance(key, int) and not isinstance(key, bool) and 0 <= key < len(container):
        before = container[: key + 1]
        if all(item.value is not UNKNOWN for item in before):
            item: Located = container[key]
            return item
    return Located(UNKNOWN, node, module)


def _object(evaluator: Evaluator, module: Module, node: Node) -> Located:
    result = Mapping()
    for child in node.named_children:
        if child.type == "spread_element":
            _spread_into(module, result, child, evaluator.evaluate(module, child.named_children[0]))
        elif child.type != "comment":
            key, entry = _entry(evaluator, module, child)
            if key is UNKNOWN:
                _obscure(result, child, module)
            result.pop(key, None)
            result[key] = entry
    return Located(result, node, module)


def _obscure(result: Mapping, by: Node, module: Module) -> None:
    """What stood before may be overwritten by what is not known."""
    for key in list(result):
        result[key] = Entry(result[key].key, Located(UNKNOWN, by, module))


def _spread_into(module: Module, result: Mapping, spread: Node, inner: Located) -> None:
    if inner.value is None or inner.value is False or undefined(inner.value):
        return
    if not isinstance(inner.value, Mapping) or UNKNOWN in inner.value:
        _obscure(result, spread, module)
    if not isinstance(inner.value, Mapping):
        result[UNKNOWN] = Entry(None, Located(UNKNOWN, spread, module))
        return
    for key, entry in inner.value.items():
        here = entry if inner.module is module else Entry(None, shown_at(entry.item, spread, module))
        result.pop(key, None)
        result[key] = here


def _entry(evaluator: Evaluator, module: Module, child: Node) -> tuple[Any, Entry]:
    if child.type == "shorthand_property_identifier":
        name = module.text(child)
        return name, Entry(child, _used_at(_identifier(evaluator, module, child), module, child))
    key_node = child.child_by_field_name("key" if child.type == "pair" else "name")
    key = _key(evaluator, module, key_node) if key_node is not None else UNKNOWN
    if child.type == "pair":
        value = child.child_by_field_name("value")
        item = evaluator.evaluate(module, value) if value is not None else Located(UNKNOWN, child, module)
        return key, Entry(key_node, _used_at(item, module, value or child))
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
    before = "["
    for child in node.children:
        if child.type == "," and before in ("[", ","):
            items.append(Located(UNKNOWN, node, module))
        elif child.type == "spread_element":
            inner = evaluator.evaluate(module, child.named_children[0])
            given = inner.value if isinstance(inner.value, list) else [Located(UNKNOWN, child, module)]
            items.extend(_used_at(item, module, child) for item in given)
        elif child.is_named and child.type != "comment":
            items.append(_used_at(evaluator.evaluate(module, child), module, child))
        before = before if child.type == "comment" else child.type
    return Located(items, node, module)


def _used_at(item: Located, module: Module, node: Node) -> Located:
    """A value that stands in another file, with the place where this one uses it."""
    if item.module is module or item.used is not None:
        return item
    return Located(item.value, item.node, item.module, (module, node))


def _function(evaluator: Evaluator, module: Module, node: Node) -> Located:
    return Located(FunctionValue(node, module), node, module)


def _call(evaluator: Evaluator, module: Module, node: Node) -> Located:
    definer = evaluator.definer(module, node)
    if definer is not None:
        known = not inside_call(evaluator.arguments, module, node)
        return Located(CallValue(node, module, definer) if known else UNKNOWN, node, module)
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    given = [child for child in arguments.named_children if child.type != "comment"] if arguments is not None else []
    if function is None or arguments is None or any(child.type == "spread_element" for child in given):
        return Located(UNKNOWN, node, module)
    target, name = function.child_by_field_name("object"), function.child_by_field_name("property")
    if function.type == "member_expression" and target is not None and name is not None:
        if module.text(target) == "Object" and module.binding(target, "Object") is UNBOUND:
            return _of_object(evaluator, module, node, module.text(name), given)
        if module.text(name) in METHODS:
            return _method(evaluator, module, node, target, module.text(name), given)
    called = evaluator.evaluate(module, function).value
    if not isinstance(called, FunctionValue) or arguments.type != "arguments":
        return Located(UNKNOWN, node, module)
    result = applied(evaluator, called, [evaluator.evaluate(module, argument) for argument in given])
    return result if isinstance(result.value, (Mapping, list)) else Located(result.value, node, module)


def _of_object(evaluator: Evaluator, module: Module, node: Node, name: str, given: list[Node]) -> Located:
    """``Object.freeze(…)`` gives what it is given, ``Object.assign({…}, …)`` an object put together like one with spreads."""
    if name in ("freeze", "seal", "preventExtensions") and len(given) == 1:
        return evaluator.evaluate(module, given[0])
    if name == "assign" and given and plain(given[0]).type == "object":
        first = evaluator.evaluate(module, given[0])
        for other in given[1:]:
            _spread_into(module, first.value, other, evaluator.evaluate(module, other))
        return Located(first.value, node, module)
    return Located(UNKNOWN, node, module)


def _method(evaluator: Evaluator, module: Module, node: Node, target: Node, name: str, given: list[Node]) -> Located:
    """The methods of strings and arrays that only compute something."""
    on = evaluator.evaluate(module, target).value
    arguments = [evaluator.evaluate(module, argument).value for argument in given]
    if isinstance(on, list) and name == "concat":
        joined = list(on)
        for argument, written in zip(arguments, given, strict=True):
            joined.extend(argument if isinstance(argument, list) else [evaluator.evaluate(module, written)])
        certain = all(argument is not UNKNOWN for argument in arguments)
        return Located(joined if certain else UNKNOWN, node, module)
    plainly = [item.value for item in on] if isinstance(on, list) else on
    if plainly is UNKNOWN or any(argument is UNKNOWN for argument in arguments):
        return Located(UNKNOWN, node, module)
    try:
        return Located(METHODS[name](plainly, *arguments), node, module)
    except (Failed, TypeError):
        return Located(UNKNOWN, node, module)


_EVALUATE: Final[dict[str, Callable[[Evaluator, Module, Node], Located]]] = {
    "string": _string,
    "template_string": _template,
    "number": _number,
    "true": _constant(True),
    "false": _constant(False),
    "null": _constant(None),
    "undefined": _identifier,
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
    "enum_declaration": members,
    "class_declaration": members,
    "abstract_class_declaration": members,
    "class": members,
}
