"""One TypeScript or JavaScript file, parsed: positions, what its top-level names stand for, imports and exports."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Final

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from nsplugin.record import field, record
from nsplugin.spans import Position, Span

SUFFIXES: Final = (".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx")


_QUERY: Final = """
(call_expression) @call
(new_expression) @call
(assignment_expression left: (_) @assigned)
(augmented_assignment_expression left: (_) @assigned)
(update_expression argument: (_) @assigned)
(unary_expression operator: "delete" argument: (_) @assigned)
(while_statement) @loop
(do_statement) @loop
(for_statement) @loop
(comment) @comment
"""


@record(kw_only=False)
class _Grammar:
    parser: Parser
    query: Query


@cache
def _grammar(suffix: str) -> _Grammar:
    language = Language(_language(suffix))
    return _Grammar(Parser(language), Query(language, _QUERY))


def _language(suffix: str) -> object:
    if suffix in (".js", ".mjs", ".cjs", ".jsx"):
        import tree_sitter_javascript

        return tree_sitter_javascript.language()
    import tree_sitter_typescript

    return tree_sitter_typescript.language_tsx() if suffix == ".tsx" else tree_sitter_typescript.language_typescript()


@record(kw_only=False)
class Imported:
    """A name that stands for an export of another module; ``name`` is "default", "*" or the exported name."""

    source: str
    name: str


@record(kw_only=False, frozen=False)
class Names:
    """What the top level of a module binds. A name bound twice or assigned anew stands for nothing known: ``None``."""

    bound: dict[str, Node | Imported | None] = field(default_factory=dict)
    exported: dict[str, Node | Imported | str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    def bind(self, name: str, value: Node | Imported | None) -> None:
        """Note a binding; a second one makes the name unknown."""
        self.bound[name] = None if name in self.bound else value


class Module:
    """A parsed file. ``data`` is UTF-8 without a byte order mark."""

    def __init__(self, data: bytes, path: str) -> None:
        self.path = path
        self.data = data
        suffix = path[path.rfind(".") :].lower()
        self._grammar = _grammar(suffix if suffix in SUFFIXES else ".ts")
        self.tree: Tree = self._grammar.parser.parse(data)
        self.root: Node = self.tree.root_node

    @cached_property
    def captured(self) -> dict[str, list[Node]]:
        """All calls, assigned targets, loops and comments of the file, each list in source order."""
        found = QueryCursor(self._grammar.query).captures(self.root)
        return {name: sorted(nodes, key=lambda node: node.start_byte) for name, nodes in found.items()}

    @cached_property
    def calls(self) -> list[Node]:
        """The call expressions of the file."""
        return [node for node in self.captured.get("call", ()) if node.type == "call_expression"]

    @cached_property
    def names(self) -> Names:
        """The bindings of the top level, its exports, and the modules that it re-exports whole."""
        names = Names()
        for statement in self.root.named_children:
            _note(self, names, statement)
        for name in list(_changed(self, names)):
            _forget(self, names, name)
        return names

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    @cached_property
    def _starts(self) -> list[int]:
        """The byte offset at which each line starts; CRLF, LF and CR end a line."""
        starts, data = [0], self.data
        if b"\r" not in data:
            at = data.find(b"\n")
            while at >= 0:
                starts.append(at + 1)
                at = data.find(b"\n", at + 1)
            return starts
        for at, byte in enumerate(data):
            if byte == 10 or (byte == 13 and data[at + 1 : at + 2] != b"\n"):
                starts.append(at + 1)
        return starts

    def position(self, offset: int) -> Position:
        """Line and column of a byte offset, columns in characters from 1."""
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        return Position(line, len(self.data[start:offset].decode("utf-8", "replace")) + 1)

    def span(self, node: Node) -> Span:
        """The span of a node."""
        return Span(*self.position(node.start_byte), *self.position(node.end_byte))

    def errors(self) -> Iterator[Node]:
        """The outermost nodes that did not parse, in order."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            if node.is_error or node.is_missing:
                yield node
            elif node.has_error:
                stack.extend(reversed(node.children))


def plain(node: Node) -> Node:
    """The expression without parentheses, ``as const``, ``satisfies T``, ``!`` and ``<T>``."""
    while node.type in (
        "parenthesized_expression",
        "as_expression",
        "satisfies_expression",
        "non_null_expression",
        "type_assertion",
    ):
        inner = node.named_children
        if not inner:
            break
        node = inner[-1] if node.type == "type_assertion" else inner[0]
    return node


def _note(module: Module, names: Names, statement: Node) -> None:
    kind = statement.type
    if kind == "import_statement":
        _note_import(module, names, statement)
    elif kind == "export_statement":
        _note_export(module, names, statement)
    elif kind in ("lexical_declaration", "variable_declaration"):
        _note_variables(module, names, statement)
    elif kind in ("function_declaration", "generator_function_declaration", "class_declaration", "enum_declaration"):
        _note_declaration(module, names, statement)
    elif kind == "expression_statement":
        _note_commonjs(module, names, statement)


def _name(module: Module, node: Node) -> str | None:
    found = node.child_by_field_name("name")
    return module.text(found) if found is not None else None


def _note_declaration(module: Module, names: Names, statement: Node) -> None:
    name = _name(module, statement)
    if name is not None:
        names.bind(name, statement)


def _note_variables(module: Module, names: Names, statement: Node) -> None:
    constant = any(child.type == "const" for child in statement.children)
    for declarator in statement.named_children:
        if declarator.type != "variable_declarator":
            continue
        target, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        if target is None:
            continue
        required = _required(module, value)
        if target.type == "identifier":
            whole = Imported(required, "*") if required is not None else value
            names.bind(module.text(target), whole if constant or required is not None else None)
        else:
            _note_pattern(module, names, target, required)


def _note_pattern(module: Module, names: Names, pattern: Node, required: str | None) -> None:
    for local, original in _pattern_names(module, pattern):
        names.bind(local, Imported(required, original) if required is not None and original else None)


def _pattern_names(module: Module, pattern: Node) -> Iterator[tuple[str, str]]:
    """Local and original names of a destructuring pattern; the original is empty where it is nested."""
    for child in pattern.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            yield module.text(child), module.text(child)
        elif child.type == "pair_pattern":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and value is not None and value.type == "identifier":
                yield module.text(value), module.text(key)
            elif value is not None:
                yield from ((local, "") for local, _ in _pattern_names(module, value))
        elif child.type in ("identifier", "shorthand_property_identifier"):
            yield module.text(child), ""
        elif child.named_child_count:
            yield from ((local, "") for local, _ in _pattern_names(module, child))


def _required(module: Module, value: Node | None) -> str | None:
    """The module named by ``require("…")``."""
    if value is None or value.type != "call_expression":
        return None
    function, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
    if function is None or arguments is None or module.text(function) != "require" or arguments.named_child_count != 1:
        return None
    return literal_text(module, arguments.named_children[0])


def literal_text(module: Module, node: Node) -> str | None:
    """The text of a string literal without escapes, as module names are written; else ``None``."""
    if node.type != "string" or any(child.type == "escape_sequence" for child in node.named_children):
        return None
    return module.text(node)[1:-1]


def _note_import(module: Module, names: Names, statement: Node) -> None:
    source_node = statement.child_by_field_name("source")
    source = literal_text(module, source_node) if source_node is not None else None
    for clause in statement.named_children:
        if clause.type != "import_clause":
            continue
        for part in clause.named_children:
            if part.type == "identifier":
                _bind_import(names, module.text(part), source, "default")
            elif part.type == "namespace_import":
                _bind_import(names, module.text(part.named_children[-1]), source, "*")
            elif part.type == "named_imports":
                for specifier in part.named_children:
                    original, alias = _specifier(module, specifier)
                    _bind_import(names, alias, source, original)


def _bind_import(names: Names, local: str, source: str | None, name: str) -> None:
    names.bind(local, None if source is None else Imported(source, name))


def _specifier(module: Module, specifier: Node) -> tuple[str, str]:
    name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
    original = module.text(name).strip("'\"") if name is not None else ""
    return original, module.text(alias).strip("'\"") if alias is not None else original


def _note_export(module: Module, names: Names, statement: Node) -> None:
    declaration, value = statement.child_by_field_name("declaration"), statement.child_by_field_name("value")
    source_node = statement.child_by_field_name("source")
    source = literal_text(module, source_node) if source_node is not None else None
    if any(child.type == "default" for child in statement.children):
        exported = value if value is not None else declaration
        if exported is not None:
            names.exported["default"] = exported
            if declaration is not None:
                _note(module, names, declaration)
        return
    if declaration is not None:
        before = set(names.bound)
        _note(module, names, declaration)
        names.exported.update({name: name for name in names.bound if name not in before})
        return
    _note_export_clause(module, names, statement, source)


def _note_export_clause(module: Module, names: Names, statement: Node, source: str | None) -> None:
    clauses = [child for child in statement.named_children if child.type == "export_clause"]
    for clause in clauses:
        for specifier in clause.named_children:
            original, alias = _specifier(module, specifier)
            names.exported[alias] = original if source is None else Imported(source, original)
    if source is not None and not clauses:
        namespace = next((child for child in statement.named_children if child.type == "namespace_export"), None)
        if namespace is None:
            names.stars.append(source)
        else:
            names.exported[module.text(namespace.named_children[-1])] = Imported(source, "*")


def _note_commonjs(module: Module, names: Names, statement: Node) -> None:
    """``module.exports = …`` and ``exports.name = …``."""
    expression = statement.named_children[0] if statement.named_child_count else None
    if expression is None or expression.type != "assignment_expression":
        return
    left, right = expression.child_by_field_name("left"), expression.child_by_field_name("right")
    if left is None or right is None:
        return
    target = module.text(left)
    if target == "module.exports":
        names.exported["default"] = right
        _note_exported_object(module, names, right)
    elif target.startswith(("exports.", "module.exports.")):
        names.exported[target.rpartition(".")[2]] = right


def _note_exported_object(module: Module, names: Names, value: Node) -> None:
    for entry in plain(value).named_children if plain(value).type == "object" else ():
        if entry.type == "shorthand_property_identifier":
            names.exported[module.text(entry)] = module.text(entry)
        elif entry.type == "pair":
            key, inner = entry.child_by_field_name("key"), entry.child_by_field_name("value")
            if key is not None and inner is not None and key.type == "property_identifier":
                names.exported[module.text(key)] = inner


_MUTATORS: Final = frozenset({"push", "unshift", "splice", "pop", "shift", "sort", "reverse", "fill", "copyWithin"})


def _changed(module: Module, names: Names) -> Iterator[str]:
    """Names that are assigned, changed in place or handed to ``Object.assign`` somewhere in the file."""
    for target in module.captured.get("assigned", ()):
        yield from _base_name(module, target)
    for call in module.calls:
        yield from _mutated(module, call)
        yield from _handed_on(module, names, call)


def _forget(module: Module, names: Names, name: str) -> None:
    """Take a name for unknown, and the one that it is another name of: ``const p = o; p.n = 5`` changes ``o``."""
    changed: str | None = name
    while changed is not None:
        value = names.bound.get(changed)
        names.bound[changed] = None
        changed = next(_base_name(module, plain(value)), None) if isinstance(value, Node) else None


_READING: Final = frozenset(
    {
        "definePlugin",
        "defineJob",
        "enqueue",
        "freeze",
        "keys",
        "values",
        "entries",
        "stringify",
        "log",
        "info",
        "warn",
        "error",
        "debug",
    }
    | {"isArray", "concat", "includes", "String", "Boolean", "Set", "Map"}
)
"""Calls that do not change what they are given."""


def _handed_on(module: Module, names: Names, call: Node) -> Iterator[str]:
    """Names of objects and arrays given to a function that may change them."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None:
        return
    named = function.child_by_field_name("property") if function.type == "member_expression" else function
    if named is not None and module.text(named) in _READING:
        return
    for argument in arguments.named_children:
        name = module.text(argument) if argument.type == "identifier" else ""
        bound = names.bound.get(name)
        if isinstance(bound, Node) and plain(bound).type in ("object", "array"):
            yield name


def _mutated(module: Module, call: Node) -> Iterator[str]:
    function = call.child_by_field_name("function")
    if function is None or function.type != "member_expression":
        return
    name, target = function.child_by_field_name("property"), function.child_by_field_name("object")
    if name is None or target is None:
        return
    method = module.text(name)
    if method in _MUTATORS:
        yield from _base_name(module, target)
    elif method in ("assign", "defineProperty", "defineProperties", "setPrototypeOf") and module.text(target) in (
        "Object",
        "Reflect",
    ):
        arguments = call.child_by_field_name("arguments")
        if arguments is not None and arguments.named_child_count:
            yield from _base_name(module, arguments.named_children[0])


def _base_name(module: Module, node: Node | None) -> Iterator[str]:
    while node is not None and node.type in (
        "member_expression",
        "subscript_expression",
        "non_null_expression",
        "as_expression",
    ):
        node = node.child_by_field_name("object") or (node.named_children[0] if node.named_child_count else None)
    if node is not None and node.type == "identifier":
        yield module.text(node)
