"""Whether an object or array that a name holds stays as it was written: every use of the name must only read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import FUNCTIONS, Imported, bindings
from nsplugin_cli.source.typescript_tree import plain

_MOST_USES: Final = 2_000


def steady(module: Module, name: str, home: int, deep: bool) -> bool:
    """Whether nothing in the module may change what the name of that scope holds.

    ``deep``: it holds objects in turn, so that what is taken out of it may be changed as well.
    """
    mark = name, home, deep
    if mark not in module.steadiness:
        module.steadiness[mark] = True  # what is asked about itself decides nothing
        module.steadiness[mark] = b"eval(" not in module.data and all(
            _only_read(module, use, deep) for use in uses(module, name, home)
        )
    return module.steadiness[mark]


def steady_namespace(module: Module, name: str, home: int) -> bool:
    """Whether nothing is changed through a name that stands for a whole module; to call its functions changes nothing."""
    for use in uses(module, name, home):
        member = None if use is None else use.parent
        call = None if member is None else member.parent
        called = call is not None and call.type == "call_expression" and member is not None and _is(call, "function", member)
        if not (called and member is not None and member.type == "member_expression") and not _only_read(module, use, True):
            return False
    return True


def used_as_value(module: Module, name: str) -> bool:
    """Whether an imported name is more than a type in this module."""
    for node in _places(module, name):
        around = None if node is None else node.parent
        if around is None:
            return True
        while around.type in ("member_expression", "nested_identifier") and around.parent is not None:
            around = around.parent
        if around.type not in ("import_specifier", "import_clause", "namespace_import", "type_query", "export_specifier"):
            return True
    return False


def uses(module: Module, name: str, home: int) -> Iterator[Node | None]:
    """The places where a name stands for what that scope binds; ``None`` when there are too many to look at."""
    for node in _places(module, name):
        found = None if node is None else module.home(node, name)
        if node is None or (found is not None and found[0] == home):
            yield node


def _places(module: Module, name: str) -> Iterator[Node | None]:
    """The places where a name is written, but for keys and types; ``None`` when there are too many to look at."""
    word, data = name.encode(), module.data
    at = data.find(word)
    count = 0
    while at >= 0:
        end = at + len(word)
        if not (_part_of_word(data[at - 1 : at]) or _part_of_word(data[end : end + 1])):
            count += 1
            if count > _MOST_USES:
                yield None
                return
            node = module.root.descendant_for_byte_range(at, end)
            if node is not None and node.type in ("identifier", "shorthand_property_identifier"):
                yield node
        at = data.find(word, end)


def _part_of_word(byte: bytes) -> bool:
    return byte.isalnum() or byte in (b"_", b"$") or byte >= b"\x80"


_SAME: Final = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression", "type_assertion"}
    | {"await_expression", "sequence_expression"}
)
_HARMLESS: Final = frozenset(
    {"expression_statement", "template_substitution", "unary_expression", "type_query", "export_specifier", "export_statement"}
    | {"import_specifier", "import_clause", "namespace_import", "import_require_clause", "switch_case", "switch_statement"}
    | {"computed_property_name", "new_expression", "call_expression", "rest_pattern", "for_statement", "pair_pattern"}
    | {"enum_declaration", "class_declaration", "nested_type_identifier", "nested_identifier"}
)
"""What a bare name may stand in without being changed or handed on."""


def _only_read(module: Module, node: Node | None, deep: bool) -> bool:
    """Whether a value that stands at ``node`` is read there, and wherever it goes from there."""
    while node is not None:
        parent = node.parent
        if parent is None:
            return False
        if parent.type in _SAME:
            node = parent
        elif parent.type in ("pair", "object", "array"):
            node, deep = parent, True
        elif parent.type in ("member_expression", "subscript_expression"):
            if _is(parent, "index", node):
                return True
            outcome = _taken(module, parent, deep)
            if outcome is not None:
                return outcome
            node = parent
        elif parent.type in ("spread_element", "binary_expression", "ternary_expression"):
            if _ends_at(module, parent, node, deep):
                return True
            node = parent
        elif parent.type == "arguments":
            return _given(module, parent, node, deep)
        else:
            return _stops(module, parent, node, deep)
    return False


def _is(parent: Node, name: str, node: Node) -> bool:
    child = parent.child_by_field_name(name)
    return child is not None and child.id == node.id


def _ends_at(module: Module, parent: Node, node: Node, deep: bool) -> bool:
    """Whether an operator makes something new of the value: all but a choice between values."""
    if parent.type == "spread_element":
        return not deep and parent.parent is not None and parent.parent.type != "arguments"
    if parent.type == "ternary_expression":
        return _is(parent, "condition", node)
    operator = parent.child_by_field_name("operator")
    return operator is None or module.text(operator) not in ("||", "&&", "??")


def _stops(module: Module, parent: Node, node: Node, deep: bool) -> bool:
    kind = parent.type
    if kind == "variable_declarator":
        name = parent.child_by_field_name("name")
        return _is(parent, "name", node) or (name is not None and _kept(module, name, deep))
    if kind == "for_in_statement":
        left = parent.child_by_field_name("left")
        return not _is(parent, "right", node) or not deep or (left is not None and _kept(module, left, deep))
    if kind == "assignment_expression":
        left = parent.child_by_field_name("left")
        if left is None or left.id == node.id:
            return False
        return module.text(left).startswith(("module.exports", "exports.")) or _kept(module, left, deep)
    if kind in ("arrow_function", "return_statement"):
        return _is(parent, "parameter", node) or _answered(module, parent, deep)
    if kind in ("extends_clause", "class_heritage"):
        return not deep
    if kind in _DECLARING:
        return not (_is(parent, "value", node) or _is(parent, "right", node))
    return kind in _HARMLESS or (kind.endswith("_statement") and _is(parent, "condition", node))


_DECLARING: Final = frozenset(
    ("required_parameter", "optional_parameter", "formal_parameters", "array_pattern", "assignment_pattern")
)


def _answered(module: Module, node: Node, deep: bool) -> bool:
    """Whether what a function gives back is only read: the function is one that a method of an array calls."""
    function: Node | None = node
    while function is not None and function.type not in FUNCTIONS:
        function = function.parent
    call = function.parent.parent if function is not None and function.parent is not None else None
    called = call.child_by_field_name("function") if call is not None and call.type == "call_expression" else None
    method = _called_name(module, called) if called is not None else ""
    if call is None or method not in _CALLING:
        return False
    return method in _JUDGING or _only_read(module, call, deep)


def _kept(module: Module, pattern: Node, deep: bool) -> bool:
    """Whether the names that a value is given to leave it as it is."""
    if pattern.type not in ("identifier", "object_pattern", "array_pattern"):
        return False
    if pattern.type != "identifier" and not deep:
        return True
    for name, _ in bindings(module, pattern, ()):
        home = module.home(pattern, name)
        if home is None or not steady(module, name, home[0], deep):
            return False
    return True


def _taken(module: Module, member: Node, deep: bool) -> bool | None:
    """What comes of ``o.part``: it is changed (``False``), only read (``True``), or goes on to be used (``None``)."""
    parent = member.parent
    while parent is not None and parent.type in ("non_null_expression", "parenthesized_expression"):
        member, parent = parent, parent.parent
    if parent is None or parent.type in ("update_expression", "augmented_assignment_expression"):
        return False
    if parent.type == "unary_expression" and parent.children[0].type == "delete":
        return False
    if parent.type == "assignment_expression" and _is(parent, "left", member):
        return False
    if parent.type.endswith("_pattern") or (parent.type == "for_in_statement" and _is(parent, "left", member)):
        return False
    if parent.type == "call_expression" and _is(parent, "function", member):
        return _asked(module, parent, member, deep)
    return None if deep else True


_NEW: Final = frozenset(
    {"join", "includes", "indexOf", "lastIndexOf", "keys", "has", "hasOwnProperty", "toString", "toLowerCase", "toUpperCase"}
    | {"trim", "trimStart", "trimEnd", "padStart", "padEnd", "repeat", "replace", "replaceAll", "split", "startsWith"}
    | {"endsWith", "toFixed", "substring", "charAt", "match", "localeCompare", "normalize"}
)
"""Methods whose result shares nothing with what they were called on."""
_SHARING: Final = frozenset(("slice", "concat", "flat", "at", "values", "entries", "get", "toSorted", "toReversed", "with"))
_JUDGING: Final = frozenset(("filter", "find", "findLast", "findIndex", "some", "every", "forEach"))
_CALLING: Final = _JUDGING | {"map", "flatMap", "reduce", "reduceRight"}


def _asked(module: Module, call: Node, member: Node, deep: bool) -> bool:
    """Whether a method leaves the object that it is called on, and what it takes out of it, as they are."""
    name = member.child_by_field_name("property")
    method = module.text(name) if name is not None else ""
    if method in _NEW:
        return True
    if method in _SHARING:
        return not deep or _only_read(module, call, True)
    if method not in _CALLING:
        return _is_static_method(module, member, method)
    arguments = call.child_by_field_name("arguments")
    given = [plain(child) for child in arguments.named_children] if arguments is not None else []
    if not given or given[0].type not in FUNCTIONS:
        return not deep
    patterns = parameters(given[0])
    most = 3 if method.startswith("reduce") else 2
    if len(patterns) > most or any(pattern.type == "rest_pattern" for pattern in patterns):
        return False
    if not deep:
        return True
    taken = patterns[:2] if method.startswith("reduce") else patterns[:1]
    gives_parts = method in ("filter", "find", "findLast", "reduce", "reduceRight")
    kept = all(_kept_by(module, given[0], pattern, True) for pattern in taken)
    return kept and (not gives_parts or _only_read(module, call, True))


def _is_static_method(module: Module, member: Node, method: str) -> bool:
    """Whether a class of the file is asked for a method of its own: what that does with ``this`` is looked at elsewhere."""
    target = member.child_by_field_name("object")
    bound = module.binding(target, module.text(target)) if target is not None and target.type == "identifier" else None
    body = bound.child_by_field_name("body") if isinstance(bound, Node) and bound.type.endswith("class_declaration") else None
    for child in body.named_children if body is not None else ():
        name = child.child_by_field_name("name")
        static = child.type == "method_definition" and any(part.type == "static" for part in child.children)
        if static and name is not None and module.text(name) == method:
            return True
    return False


def _kept_by(module: Module, function: Node, pattern: Node, deep: bool) -> bool:
    """Whether a function leaves what it is given for a parameter as it is."""
    if pattern.type not in ("identifier", "object_pattern", "array_pattern"):
        return False
    if pattern.type != "identifier" and not deep:
        return True
    return all(steady(module, name, function.id, deep) for name, _ in bindings(module, pattern, ()))


def parameters(function: Node) -> list[Node]:
    """The binding patterns of a function's parameters, in order, without their defaults."""
    single = function.child_by_field_name("parameter")
    if single is not None:
        return [single]
    listed = function.child_by_field_name("parameters")
    found = []
    for parameter in listed.named_children if listed is not None else ():
        pattern = parameter.child_by_field_name("pattern") or parameter
        if pattern.type == "assignment_pattern":
            pattern = pattern.child_by_field_name("left") or pattern
        if parameter.type != "comment":
            found.append(pattern)
    return found


_LOOKING: Final = frozenset(
    {"definePlugin", "defineJob", "enqueue", "stringify", "isArray", "String", "Boolean", "structuredClone", "includes"}
    | {"keys", "log", "info", "warn", "error", "debug", "enum", "nativeEnum", "literal"}
)
_COPYING: Final = frozenset(("values", "entries", "fromEntries", "assign", "from", "concat", "Set", "Map"))
_RETURNING: Final = frozenset(("freeze", "seal", "preventExtensions"))


def _given(module: Module, arguments: Node, node: Node, deep: bool) -> bool:
    """Whether the function that the value is given to leaves it as it is."""
    call = arguments.parent
    called = None if call is None else call.child_by_field_name("function") or call.child_by_field_name("constructor")
    if call is None or called is None:
        return False
    name = _called_name(module, called)
    first = arguments.named_children[0].id == node.id
    if name in _LOOKING:
        return True
    if name in _RETURNING:
        return _only_read(module, call, deep)
    if name in _COPYING and not (name == "assign" and first):
        return not deep or _only_read(module, call, True)
    return call.type == "call_expression" and _given_to_own(module, called, arguments, node, deep)


def _called_name(module: Module, called: Node) -> str:
    """The last name of what is called; of an import its name there."""
    if called.type == "identifier":
        bound = module.binding(called, module.text(called))
        return bound.name if isinstance(bound, Imported) else module.text(called)
    name = called.child_by_field_name("property")
    return module.text(name) if name is not None else ""


def _given_to_own(module: Module, called: Node, arguments: Node, node: Node, deep: bool) -> bool:
    """Whether a function of this file leaves an argument as it is."""
    function = module.binding(called, module.text(called)) if called.type == "identifier" else None
    function = plain(function) if isinstance(function, Node) else None
    given = [child for child in arguments.named_children if child.type != "comment"]
    if function is None or function.type not in FUNCTIONS or any(child.type == "spread_element" for child in given):
        return False
    at = next(index for index, child in enumerate(given) if child.id == node.id)
    patterns = parameters(function)
    return at < len(patterns) and _kept_by(module, function, patterns[at], deep)
