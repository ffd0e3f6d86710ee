"""What the names of a TypeScript module stand for: its top level, its inner scopes, imports and exports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from tree_sitter import Node

from nsplugin.record import field, record
from nsplugin_cli.source.typescript_tree import Source, literal_text, plain

Keys = tuple[str | int, ...]


@record(kw_only=False, eq=False)
class Imported:
    """A name that stands for an export of another module; ``name`` is "default", "*" or the exported name."""

    source: str
    name: str


@record(kw_only=False, eq=False)
class Part:
    """A name that stands for a part of a value: ``b`` of ``const { a: { b } } = value`` has the keys ``("a", "b")``."""

    value: Node
    keys: Keys


Bound = Node | Imported | Part | None
"""What a name stands for; ``None`` for a parameter, a ``let``, and whatever else is known only when the code runs."""


@record(kw_only=False, frozen=False)
class Names:
    """What the top level of a module binds and exports. A name bound twice or assigned anew stands for nothing known."""

    bound: dict[str, Bound] = field(default_factory=dict)
    exported: dict[str, Node | Imported | str | None] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    modules: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """The modules that this one loads, as written, and the names that it takes from each.

    A compiler leaves an import out whose names stand only for types; without names it stays.
    """

    def bind(self, name: str, value: Bound) -> None:
        """Note a binding; a second one makes the name unknown."""
        self.bound[name] = None if name in self.bound else value


def names_of(source: Source) -> Names:
    """The bindings of the top level, its exports, and the modules that it re-exports whole."""
    names = Names()
    for statement in source.root.named_children:
        _note(source, names, statement)
    _forget_assigned(source, names)
    if names.exported and b"exports" in source.data:
        _forget_changed_exports(source, names)
    return names


FUNCTIONS: Final = frozenset(
    {"arrow_function", "function_expression", "function_declaration", "method_definition", "generator_function", "function"}
    | {"generator_function_declaration"}
)


def scope_of(source: Source, scope: Node) -> dict[str, Bound]:
    """What one scope inside the module binds, the blocks in it left out."""
    names = Names()
    if scope.type in FUNCTIONS:
        _note_function(source, names, scope)
    elif scope.type == "enum_body":
        _note_members(source, names, scope)
    elif scope.type == "catch_clause":
        _note_unknown(source, names, scope.child_by_field_name("parameter"))
    elif scope.type == "for_in_statement":
        if scope.child_by_field_name("kind") is not None:
            _note_unknown(source, names, scope.child_by_field_name("left"))
    elif scope.type == "for_statement":
        _note_unknown(source, names, scope.child_by_field_name("initializer"))
    else:
        _note_block(source, names, scope)
    _forget_assigned(source, names)
    return names.bound


def _forget_assigned(source: Source, names: Names) -> None:
    """A function's name can be given another value; constants and imports cannot, and of others nothing is known anyway."""
    for name, bound in names.bound.items():
        if isinstance(bound, Node) and bound.type.endswith("_declaration") and name in source.assigned_names:
            names.bound[name] = None


def _note_function(source: Source, names: Names, function: Node) -> None:
    _note_unknown(source, names, function.child_by_field_name("parameter"))
    _note_unknown(source, names, function.child_by_field_name("parameters"))
    own = function.child_by_field_name("name")
    if own is not None and function.type in ("function_expression", "generator_function"):
        names.bound.setdefault(source.text(own), None)
    body = function.child_by_field_name("body")
    stack = [body] if body is not None else []
    while stack:
        node = stack.pop()
        if node.type == "variable_declaration":
            for declarator in node.named_children:
                _note_unknown(source, names, declarator.child_by_field_name("name"))
        stack.extend(child for child in node.named_children if child.type not in FUNCTIONS and child.type.endswith(_HOLDS_VAR))


_HOLDS_VAR: Final = ("statement", "_block", "clause", "_declaration", "switch_body", "switch_case", "switch_default")
"""Endings of the nodes in which a ``var`` can stand that belongs to the function around."""


def _note_unknown(source: Source, names: Names, pattern: Node | None) -> None:
    """Every name that a pattern binds, as one that is known only when the code runs."""
    stack = [pattern] if pattern is not None else []
    while stack:
        node = stack.pop()
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            names.bound[source.text(node)] = None
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            stack.extend(child for child in (node.child_by_field_name("left"),) if child is not None)
        elif node.type == "pair_pattern":
            stack.extend(child for child in (node.child_by_field_name("value"),) if child is not None)
        elif node.type in ("required_parameter", "optional_parameter"):
            stack.extend(child for child in (node.child_by_field_name("pattern"),) if child is not None)
        elif node.type == "variable_declarator":
            stack.extend(child for child in (node.child_by_field_name("name"),) if child is not None)
        else:
            stack.extend(node.named_children)


def _note_members(source: Source, names: Names, body: Node) -> None:
    """The members of an enum have names in it."""
    enum = body.parent
    for child in body.named_children if enum is not None else ():
        name = key_text(source, child.child_by_field_name("name") or child)
        if name is not None and enum is not None:
            names.bind(name, Part(enum, (name,)))


def _note_block(source: Source, names: Names, block: Node) -> None:
    statements = block.named_children
    body = block.child_by_field_name("body")
    if block.type == "switch_body":
        statements = [inner for case in statements for inner in case.named_children]
    elif block.type == "class_static_block" and body is not None:
        statements = body.named_children
    for statement in statements:
        if statement.type == "export_statement":
            statement = statement.child_by_field_name("declaration") or statement
        if statement.type == "lexical_declaration":
            _note_variables(source, names, statement)
        elif statement.type in _DECLARATIONS:
            _note_declaration(source, names, statement)


_DECLARATIONS: Final = frozenset(
    {"function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration"}
    | {"enum_declaration", "internal_module", "function_signature"}
)


def _note(source: Source, names: Names, statement: Node) -> None:
    kind = statement.type
    if kind == "import_statement":
        _note_import(source, names, statement)
    elif kind == "export_statement":
        _note_export(source, names, statement)
    elif kind in ("lexical_declaration", "variable_declaration"):
        _note_variables(source, names, statement)
    elif kind in _DECLARATIONS:
        _note_declaration(source, names, statement)
    elif kind == "expression_statement" and statement.named_child_count:
        _note_expression(source, names, statement.named_children[0])


def _note_expression(source: Source, names: Names, expression: Node) -> None:
    if expression.type == "internal_module":
        _note_declaration(source, names, expression)
    elif expression.type == "assignment_expression":
        _note_commonjs(source, names, expression)
    else:
        module = required(source, expression)
        if module is not None:
            names.modules.append((module, ()))


def _note_declaration(source: Source, names: Names, statement: Node) -> None:
    name = statement.child_by_field_name("name")
    if name is None or statement.type == "function_signature":
        return
    names.bind(source.text(name), statement if statement.type.endswith(_KNOWN) else None)


_KNOWN: Final = ("function_declaration", "class_declaration", "enum_declaration")


def _note_variables(source: Source, names: Names, statement: Node) -> None:
    constant = any(child.type in ("const", "using") for child in statement.children)
    for declarator in statement.named_children:
        target, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        if declarator.type != "variable_declarator" or target is None:
            continue
        module = required(source, plain(value)) if value is not None else None
        if module is not None:
            names.modules.append((module, ()))
        for local, keys in bindings(source, target, ()):
            names.bind(local, _meant(value, keys, module) if constant or _kept_module(source, module, local) else None)


def _kept_module(source: Source, module: str | None, local: str) -> bool:
    """Whether ``var sdk = require("…")`` stays what it is."""
    return module is not None and local not in source.assigned_names


def _meant(value: Node | None, keys: Keys | None, module: str | None) -> Bound:
    if value is None or keys is None:
        return None
    if module is not None and len(keys) < 2:
        return Imported(module, str(keys[0]) if keys else "*")
    return Part(value, keys) if keys else value


def bindings(source: Source, pattern: Node, keys: Keys | None) -> Iterator[tuple[str, Keys | None]]:
    """The names that a pattern binds, each with the keys that lead to its value, or ``None``: a default, a rest."""
    kind = pattern.type
    if kind in ("identifier", "shorthand_property_identifier_pattern"):
        yield source.text(pattern), keys
    elif kind == "object_pattern":
        for child in pattern.named_children:
            yield from _object_bindings(source, child, keys)
    elif kind == "array_pattern":
        commas = 0
        for child in pattern.children:
            commas += child.type == ","
            if child.is_named and child.type != "comment":
                yield from bindings(source, child, None if keys is None else (*keys, commas))
    elif kind in ("assignment_pattern", "object_assignment_pattern"):
        left = pattern.child_by_field_name("left")
        if left is not None:
            yield from bindings(source, left, None)
    elif kind == "rest_pattern" and pattern.named_child_count:
        yield from bindings(source, pattern.named_children[0], None)


def _object_bindings(source: Source, child: Node, keys: Keys | None) -> Iterator[tuple[str, Keys | None]]:
    key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
    if child.type == "pair_pattern" and key is not None and value is not None:
        name = key_text(source, key)
        yield from bindings(source, value, None if keys is None or name is None else (*keys, name))
    elif child.type == "shorthand_property_identifier_pattern":
        yield from bindings(source, child, None if keys is None else (*keys, source.text(child)))
    else:
        yield from bindings(source, child, keys)


def key_text(source: Source, key: Node) -> str | None:
    """The name that a key is written with, ``None`` for one that is computed."""
    return source.text(key) if key.type == "property_identifier" else literal_text(source, key)


def required(source: Source, value: Node) -> str | None:
    """The module that ``require("…")``, or ``await import("…")``, gives."""
    if value.type == "await_expression" and value.named_child_count:
        value = plain(value.named_children[0])
        called = "import"
    else:
        called = "require"
    if value.type != "call_expression":
        return None
    function, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
    if function is None or arguments is None or source.text(function) != called or arguments.named_child_count != 1:
        return None
    return literal_text(source, arguments.named_children[0])


def _note_import(source: Source, names: Names, statement: Node) -> None:
    node = statement.child_by_field_name("source")
    module = literal_text(source, node) if node is not None else None
    before = set(names.bound)
    clauses = [child for child in statement.named_children if child.type in ("import_clause", "import_require_clause")]
    for clause in clauses:
        if clause.type == "import_clause":
            for part in clause.named_children:
                _note_clause(source, names, part, module)
        else:
            _note_require_clause(source, names, clause)
    types = any(child.type in ("type", "typeof") for child in statement.children)
    if module is not None and not types:
        taken = tuple(name for name in names.bound if name not in before)
        names.modules.extend([(module, taken)] if taken or not clauses else [])


def _note_clause(source: Source, names: Names, part: Node, module: str | None) -> None:
    if part.type == "identifier":
        _bind_import(names, source.text(part), module, "default")
    elif part.type == "namespace_import":
        _bind_import(names, source.text(part.named_children[-1]), module, "*")
    elif part.type == "named_imports":
        for specifier in part.named_children:
            original, alias = _specifier(source, specifier)
            _bind_import(names, alias, module, original)


def _note_require_clause(source: Source, names: Names, clause: Node) -> None:
    """``import sdk = require("…")``."""
    node = clause.child_by_field_name("source")
    module = literal_text(source, node) if node is not None else None
    if module is not None:
        names.modules.append((module, ()))
    _bind_import(names, source.text(clause.named_children[0]), module, "*")


def _bind_import(names: Names, local: str, module: str | None, name: str) -> None:
    names.bind(local, None if module is None else Imported(module, name))


def _specifier(source: Source, specifier: Node) -> tuple[str, str]:
    name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
    original = source.text(name).strip("'\"") if name is not None else ""
    return original, source.text(alias).strip("'\"") if alias is not None else original


def _note_export(source: Source, names: Names, statement: Node) -> None:
    declaration, value = statement.child_by_field_name("declaration"), statement.child_by_field_name("value")
    node = statement.child_by_field_name("source")
    module = literal_text(source, node) if node is not None else None
    if module is not None and not any(child.type == "type" for child in statement.children):
        names.modules.append((module, ()))
    if any(child.type in ("default", "=") for child in statement.children):
        exported = value or declaration or next(iter(statement.named_children), None)
        if declaration is not None:
            _note(source, names, declaration)
        if exported is not None:
            names.exported["default"] = exported
        return
    if declaration is not None:
        before = len(names.bound)
        _note(source, names, declaration)
        new = list(islice(reversed(names.bound), len(names.bound) - before))
        names.exported.update({name: name for name in reversed(new)})
        return
    _note_export_clause(source, names, statement, module)


def _note_export_clause(source: Source, names: Names, statement: Node, module: str | None) -> None:
    clauses = [child for child in statement.named_children if child.type == "export_clause"]
    for clause in clauses:
        for specifier in clause.named_children:
            original, alias = _specifier(source, specifier)
            names.exported[alias] = original if module is None else Imported(module, original)
    if module is not None and not clauses:
        namespace = next((child for child in statement.named_children if child.type == "namespace_export"), None)
        if namespace is None:
            names.stars.append(module)
        else:
            names.exported[source.text(namespace.named_children[-1])] = Imported(module, "*")


def _note_commonjs(source: Source, names: Names, expression: Node) -> None:
    """``module.exports = …`` and ``exports.name = …``."""
    left, right = expression.child_by_field_name("left"), expression.child_by_field_name("right")
    if left is None or right is None:
        return
    if right.type == "assignment_expression":
        _note_commonjs(source, names, right)
        right = right.child_by_field_name("right") or right
    name = _exported_name(source, left)
    if name == "":
        names.exported["default"] = right
        _note_exported_object(source, names, plain(right))
    elif name is not None:
        names.exported[name] = right


def _exported_name(source: Source, target: Node) -> str | None:
    """The name that an assignment to ``exports.name`` exports, "" for ``module.exports``, ``None`` for anything else."""
    text = source.text(target)
    if text == "module.exports":
        return ""
    head, _, name = text.rpartition(".")
    return name if head in ("exports", "module.exports") else None


def _note_exported_object(source: Source, names: Names, value: Node) -> None:
    whole = required(source, value)
    if whole is not None:
        names.stars.append(whole)
        names.modules.append((whole, ()))
        names.exported["default"] = Imported(whole, "default")
    for entry in value.named_children if value.type == "object" else ():
        if entry.type == "shorthand_property_identifier":
            names.exported[source.text(entry)] = source.text(entry)
        elif entry.type == "pair":
            key, inner = entry.child_by_field_name("key"), entry.child_by_field_name("value")
            name = key_text(source, key) if key is not None else None
            if name is not None and inner is not None:
                names.exported[name] = inner
        elif entry.type == "spread_element" and required(source, entry.named_children[0]) is not None:
            names.stars.append(str(required(source, entry.named_children[0])))


def _forget_changed_exports(source: Source, names: Names) -> None:
    """What is assigned to ``exports`` more than once, or changed there in place, is unknown."""
    assigned: dict[str, int] = {}
    for target in source.captured.get("assigned", ()):
        path = source.text(target).removeprefix("module.").split(".")
        if path[0] == "exports":
            name = path[1] if len(path) > 1 else "default"
            assigned[name] = assigned.get(name, 0) + (1 if len(path) < 3 else 2)
    for name, times in assigned.items():
        if times > 1 and name in names.exported:
            names.exported[name] = None
