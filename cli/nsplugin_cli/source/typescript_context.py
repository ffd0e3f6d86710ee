"""What TypeScript handlers do with their context: its services, ``enqueue``, and the helpers that it is passed to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tree_sitter import Node

from nsplugin.platforms import Platform
from nsplugin.record import field, record
from nsplugin_cli.facts import ContextUse, Enqueue
from nsplugin_cli.source.typescript_enqueues import enqueue
from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import FUNCTIONS, key_text
from nsplugin_cli.source.typescript_origins import member_name
from nsplugin_cli.source.typescript_results import FunctionValue
from nsplugin_cli.source.typescript_tree import plain
from nsplugin_cli.source.typescript_uses import parameters
from nsplugin_cli.source.typescript_values import Evaluator

_HEAD: Final = re.compile(rb"[\w$\x80-\xff]+")
Path = tuple[str, ...]
"""What a name stands for, from the handler's argument on: ``("ctx", "jobs")``."""
Meaning = Path | Mapping[str, Path]
"""A path, or an object put together of parts: ``{ jobs, id }``."""
_MOST_FUNCTIONS: Final = 300


@record(kw_only=False, frozen=False)
class Frame:
    """A function being read, and what its names stand for: by name and the scope that binds it."""

    module: Module
    names: dict[tuple[str, int], Meaning] = field(default_factory=dict)
    heads: set[bytes] = field(default_factory=lambda: {b"await"})

    def bind(self, pattern: Node, meaning: Meaning, scope: int | None = None) -> None:
        """Note what a pattern's names stand for: a name for the whole, ``{jobs: queue}`` for a part; a rest for nothing."""
        if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
            self._note(pattern, meaning, scope)
        elif pattern.type == "object_pattern":
            for child in pattern.named_children:
                self._bind_part(child, meaning, scope)

    def _bind_part(self, child: Node, meaning: Meaning, scope: int | None) -> None:
        if child.type == "object_assignment_pattern":
            child = child.child_by_field_name("left") or child
        if child.type == "shorthand_property_identifier_pattern":
            part = _part(meaning, self.module.text(child))
            if part is not None:
                self._note(child, part, scope)
            return
        key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
        name = key_text(self.module, key) if key is not None else None
        part = _part(meaning, name) if name is not None else None
        if part is not None and value is not None:
            inner = value.child_by_field_name("left") if value.type == "assignment_pattern" else None
            self.bind(inner or value, part, scope)

    def _note(self, node: Node, meaning: Meaning, scope: int | None) -> None:
        name = self.module.text(node)
        if scope is None:
            home = self.module.home(node, name)
            scope = home[0] if home is not None else None
        if scope is not None and name not in self.module.assigned_names:
            self.names[name, scope] = meaning
            self.heads.add(name.encode())

    def meaning(self, node: Node) -> Meaning | None:
        """What an expression that leads through names and members stands for, or ``None``."""
        head = _HEAD.match(self.module.data, node.start_byte)
        if head is not None and head[0] not in self.heads:
            return None  # most expressions begin with another name
        node = _awaited(node)
        members: list[str] = []
        while node.type in ("member_expression", "subscript_expression"):
            name, target = member_name(self.module, node), node.child_by_field_name("object")
            if name is None or target is None:
                return None
            members.append(name)
            node = _awaited(target)
        if node.type not in ("identifier", "shorthand_property_identifier"):
            return None
        name = self.module.text(node)
        home = self.module.home(node, name)
        found: Meaning | None = self.names.get((name, home[0])) if home is not None else None
        for member in reversed(members):
            found = None if found is None else _part(found, member)
        return found

    def path(self, node: Node) -> Path | None:
        """The path that an expression stands for, or ``None``."""
        found = self.meaning(node)
        return found if isinstance(found, tuple) else None


def _awaited(node: Node) -> Node:
    node = plain(node)
    while node.type == "await_expression" and node.named_child_count:
        node = plain(node.named_children[0])
    return node


def _part(meaning: Meaning, name: str) -> Path | None:
    return (*meaning, name) if isinstance(meaning, tuple) else meaning.get(name)


@record(kw_only=False, frozen=False)
class Walk:
    """Reads handlers and what they call; ``known``: no context went where it was not followed."""

    platform: Platform
    evaluator: Evaluator
    known: bool = True
    enqueues: list[Enqueue] = field(default_factory=list)
    uses: list[ContextUse] = field(default_factory=list)
    seen: set[Any] = field(default_factory=set)
    pending: list[tuple[Frame, Node]] = field(default_factory=list)

    @property
    def method(self) -> Path:
        """The path of ``enqueue``."""
        return tuple(self.platform.enqueue.method.split("."))

    @property
    def prefix(self) -> Path:
        """Where the services hang: ``ctx`` on one platform, the handler's argument itself on another."""
        return self.method[:-2]

    def handler(self, function: FunctionValue) -> Frame:
        """Read a handler, whose one argument is the root of all paths."""
        frame = Frame(function.module)
        own = parameters(function.node)
        if own:
            frame.bind(own[0], (), function.node.id)
            self.known &= not any(child.type == "rest_pattern" for child in own[0].named_children)
        if b"arguments" in function.module.data and b"arguments" in function.module.text(function.node).encode():
            self.known = False
        self._function(function, frame)
        while self.pending:
            self._read(*self.pending.pop())
        return frame

    def _function(self, function: FunctionValue, frame: Frame) -> None:
        mark = (function.module.path, function.node.id, tuple(sorted(map(repr, frame.names.items()))))
        if mark in self.seen:
            return
        if len(self.seen) > _MOST_FUNCTIONS:
            self.known = False
            return
        self.seen.add(mark)
        body = function.node.child_by_field_name("body")
        if body is not None:
            self.pending.append((frame, body))

    def _read(self, frame: Frame, body: Node) -> None:
        """Visit a body in source order; declarations of names on the way extend what is known.

        What holds each node is kept: tree-sitter looks for it from the root each time.
        """
        stack, around = [body], dict[int, Node]()
        while stack:
            node = stack.pop()
            if node.type == "variable_declarator":
                declare(frame, node)
            elif node.type == "call_expression":
                self._call(frame, node)
            if node.type in _NAMING:
                meaning = frame.meaning(node)
                if isinstance(meaning, tuple):
                    self._use(frame, node, meaning, around)
                if meaning is not None:
                    continue
            children = readable(node)
            around.update((child.id, node) for child in children)
            stack.extend(reversed(children))

    def _use(self, frame: Frame, node: Node, path: Path, around: Mapping[int, Node]) -> None:
        size = len(self.prefix)
        if path[:size] == self.prefix and len(path) > size:
            written = ".".join([*self.prefix, path[size]])
            span = frame.module.span(_inner(node, len(path) - size - 1))
            self.uses.append(ContextUse(attribute=path[size], written=written, path=frame.module.path, span=span))
        elif self.prefix[: len(path)] == path and not self._followed(frame, node, around):
            self.known = False

    def _followed(self, frame: Frame, node: Node, around: Mapping[int, Node]) -> bool:
        """Whether a bare use of the context only names it: in a declaration, or given to a function that was read."""
        parent = around.get(node.id)
        while parent is not None and parent.type in ("pair", "object"):
            parent = around.get(parent.id)
        if parent is not None and parent.type == "variable_declarator":
            name = parent.child_by_field_name("name")
            return name is not None and frame.module.text(name) not in frame.module.assigned_names and not _has_rest(name)
        call = around.get(parent.id) if parent is not None and parent.type == "arguments" else None
        return call is not None and self._helper(frame, call) is not None

    def _call(self, frame: Frame, call: Node) -> None:
        function = call.child_by_field_name("function")
        if function is None:
            return
        if frame.path(function) == self.method:
            self.enqueues.append(enqueue(self.evaluator, frame.module, call, function))
            return
        arguments = call.child_by_field_name("arguments")
        given = [child for child in arguments.named_children if child.type != "comment"] if arguments is not None else []
        meanings = [None if argument.type == "spread_element" else meant(frame, argument) for argument in given]
        helper = self._helper(frame, call) if any(meanings) else None
        if helper is not None:
            self._enter(helper, meanings)

    def _helper(self, frame: Frame, call: Node) -> FunctionValue | None:
        """The function of the repository that a call names."""
        function = call.child_by_field_name("function")
        if function is None or plain(function).type not in ("identifier", "member_expression", *FUNCTIONS):
            return None
        if frame.meaning(function) is not None:
            return None
        value = self.evaluator.evaluate(frame.module, function).value
        return value if isinstance(value, FunctionValue) else None

    def _enter(self, helper: FunctionValue, meanings: list[Meaning | None]) -> None:
        inner = Frame(helper.module)
        for parameter, meaning in zip(parameters(helper.node), meanings, strict=False):
            if meaning is not None:
                inner.bind(parameter, meaning, helper.node.id)
                self.known &= not _has_rest(parameter)
        if inner.names:
            self._function(helper, inner)


_NAMING: Final = frozenset(("member_expression", "subscript_expression", "identifier", "shorthand_property_identifier"))


def declare(frame: Frame, declarator: Node) -> None:
    """Note what the names of a declaration stand for."""
    target, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
    meaning = meant(frame, value) if value is not None else None
    if target is not None and meaning is not None:
        frame.bind(target, meaning)


def meant(frame: Frame, node: Node) -> Meaning | None:
    """What an expression stands for: something that hangs on the context, or an object of such things."""
    node = plain(node)
    if node.type != "object":
        return frame.meaning(node)
    return dict(_fields(frame, node)) or None


def _fields(frame: Frame, node: Node) -> Iterator[tuple[str, Path]]:
    for entry in node.named_children:
        key, value = entry.child_by_field_name("key"), entry.child_by_field_name("value")
        if entry.type == "shorthand_property_identifier":
            key = value = entry
        path = frame.path(value) if value is not None else None
        name = None if key is None else key_text(frame.module, key) if key is not entry else frame.module.text(key)
        if name is not None and path is not None:
            yield name, path


def _has_rest(pattern: Node) -> bool:
    return any(child.type == "rest_pattern" for child in pattern.named_children)


def _inner(node: Node, members: int) -> Node:
    """The expression without its last ``members`` members: ``ctx.kv`` of ``ctx.kv.delete``, as far as it is written so."""
    while members > 0 and node.type in ("member_expression", "subscript_expression"):
        target = node.child_by_field_name("object")
        if target is None:
            break
        node, members = plain(target), members - 1
    return node


_SKIPPED: Final = frozenset(
    ("type_annotation", "type_arguments", "type_parameters", "property_identifier", "formal_parameters")
)


def readable(node: Node) -> list[Node]:
    """The children in which uses can stand: not types, not property names, not the names a declaration binds."""
    children = [child for child in node.named_children if child.type not in _SKIPPED]
    if node.type == "variable_declarator":
        name = node.child_by_field_name("name")
        children = [child for child in children if name is None or child.id != name.id]
    return children
