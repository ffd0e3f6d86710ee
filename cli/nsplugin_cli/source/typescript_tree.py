"""One TypeScript or JavaScript file, parsed: its nodes and where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Final

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from nsplugin.record import record
from nsplugin.spans import Position, Span

SUFFIXES: Final = (".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx")
_JAVASCRIPT: Final = (".js", ".mjs", ".cjs", ".jsx")
_DEEPEST: Final = 400
"""No one writes deeper; the time that a query takes grows with the square of the depth."""

_QUERY: Final = """
(call_expression) @call
(new_expression) @call
(assignment_expression left: (_) @assigned)
(augmented_assignment_expression left: (_) @assigned)
(update_expression argument: (_) @assigned)
(unary_expression operator: "delete" argument: (_) @assigned)
(for_in_statement left: (_) @turned)
(while_statement) @loop
(do_statement) @loop
(for_statement) @loop
(comment) @comment
[
  (arrow_function) (function_expression) (function_declaration) (method_definition) (generator_function)
  (generator_function_declaration) (statement_block) (for_statement) (for_in_statement) (catch_clause) (switch_body)
  (class_static_block)
] @scope
"""
_ENUMS: Final = "(enum_body) @scope"
_MARKS: Final = """
(non_null_expression "!" @mark)
(non_null_expression [(unary_expression) (binary_expression) (update_expression) (new_expression)] @misread)
"""
_MAY_MARK: Final = re.compile(rb"(?<=[^\s!=(&|,;:?{<>+*%~^-])\s*!(?!=)")


@record(kw_only=False)
class _Grammar:
    parser: Parser
    query: Query
    marks: Query | None
    """The ``!`` after expressions, which only TypeScript has."""


@cache
def _grammar(suffix: str) -> _Grammar:
    language = Language(_language(suffix))
    if suffix in _JAVASCRIPT:
        return _Grammar(Parser(language), Query(language, _QUERY), None)
    return _Grammar(Parser(language), Query(language, _QUERY + _ENUMS), Query(language, _MARKS))


def _language(suffix: str) -> object:
    if suffix in _JAVASCRIPT:
        import tree_sitter_javascript

        return tree_sitter_javascript.language()
    import tree_sitter_typescript

    return tree_sitter_typescript.language_tsx() if suffix == ".tsx" else tree_sitter_typescript.language_typescript()


class Source:
    """A parsed file. ``data`` is UTF-8 without a byte order mark."""

    def __init__(self, data: bytes, path: str) -> None:
        self.path = path
        self.data = data
        suffix = path[path.rfind(".") :].lower()
        self._grammar = _grammar(suffix if suffix in SUFFIXES else ".ts")
        self.tree: Tree = self._parsed(data)
        self.root: Node = self.tree.root_node

    def _parsed(self, data: bytes) -> Tree:
        """The tree of the text.

        The grammar takes ``void a.b!.c()`` for ``(void a.b)!.c()``. Where it does, it is given blanks for each ``!``.
        """
        tree = self._grammar.parser.parse(data)
        if self._grammar.marks is None or not _MAY_MARK.search(data):
            return tree
        found = _captures(self._grammar.marks, tree.root_node)
        if "misread" not in found:
            return tree
        text = bytearray(data)
        for mark in found["mark"]:
            text[mark.start_byte : mark.end_byte] = b" "
        return self._grammar.parser.parse(bytes(text))

    @cached_property
    def captured(self) -> dict[str, list[Node]]:
        """All calls, assigned targets, loops, comments and scopes of the file, each list in source order."""
        found = _captures(self._grammar.query, self.root)
        return {name: sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte)) for name, nodes in found.items()}

    @cached_property
    def calls(self) -> list[Node]:
        """The call expressions of the file."""
        return [node for node in self.captured.get("call", ()) if node.type == "call_expression"]

    @cached_property
    def assigned_names(self) -> frozenset[str]:
        """The names that are given another value somewhere: ``n = 1``, ``n++``, ``[n] = …``, ``for (n of …)``."""
        targets = [*self.captured.get("assigned", ()), *map(plain, self.captured.get("turned", ()))]
        found: set[str] = set()
        while targets:
            target = plain(targets.pop())
            if target.type in ("identifier", "shorthand_property_identifier_pattern"):
                found.add(self.text(target))
            elif target.type.endswith("pattern"):
                targets.extend(target.named_children)
        return frozenset(found)

    @cached_property
    def assigned_members(self) -> frozenset[str]:
        """The names of members that are set somewhere, of whatever object: ``o.n = 1``, ``delete o["n"]``, ``[o.n] = …``."""
        targets = [*self.captured.get("assigned", ()), *map(plain, self.captured.get("turned", ()))]
        found: set[str] = set()
        while targets:
            target = plain(targets.pop())
            name, index = target.child_by_field_name("property"), target.child_by_field_name("index")
            if name is not None:
                found.add(self.text(name))
            elif index is not None:
                found.add(literal_text(self, plain(index)) or "")
            elif target.type.endswith("pattern"):
                targets.extend(target.named_children)
        return frozenset(found)

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


def _captures(query: Query, root: Node) -> dict[str, list[Node]]:
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(_DEEPEST)
    return cursor.captures(root)


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


def literal_text(source: Source, node: Node) -> str | None:
    """The text of a string without escapes and substitutions, as module names are written; else ``None``."""
    if node.type not in ("string", "template_string") or any(child.type != "string_fragment" for child in node.named_children):
        return None
    return source.text(node)[1:-1]
