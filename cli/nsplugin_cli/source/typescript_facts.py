"""The facts of TypeScript handlers: timers at top level, enqueues, uses of the context, payloads, secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tree_sitter import Node

from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN
from nsplugin.record import field, record
from nsplugin_cli.facts import Argument, ContextUse, Enqueue, Facts, PayloadRead, SecretRaised, Timer
from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_scalars import undefined
from nsplugin_cli.source.typescript_secrets import raised_secrets, secret_names
from nsplugin_cli.source.typescript_timers import inside
from nsplugin_cli.source.typescript_tree import plain
from nsplugin_cli.source.typescript_values import CallValue, Evaluator, FunctionValue, Located
from nsplugin_cli.source.typescript_values import Mapping as ObjectValue

Path = tuple[str, ...]
"""What a name stands for, from the handler's argument on: ``("ctx", "jobs")``."""

_MOST_FUNCTIONS: Final = 300


def facts_of(
    functions: Mapping[str, FunctionValue], platform: Platform, evaluator: Evaluator, started: tuple[Timer, ...]
) -> Facts:
    """The facts of one definition; ``functions`` are its handlers by the pointer of their job or route."""
    walk = _Walk(platform, evaluator)
    for pointer, function in functions.items():
        walk.handler(pointer, function)
    return Facts(
        timers=started,
        enqueues=tuple(sorted(walk.enqueues, key=lambda fact: (fact.path, fact.span))),
        context_uses=tuple(sorted(walk.uses, key=lambda fact: (fact.path, fact.span))),
        context_known=walk.known and all(pointer in functions for pointer in functions),
        payload_reads=tuple(walk.payload_reads),
        secrets_raised=tuple(walk.secrets),
        never_retryable=frozenset(walk.never_retryable),
    )


@record(kw_only=False, frozen=False)
class _Frame:
    """A function being read: what its names stand for, and the job whose handler it serves."""

    module: Module
    names: dict[str, Path]
    job: str


@record(kw_only=False, frozen=False)
class _Walk:
    platform: Platform
    evaluator: Evaluator
    known: bool = True
    enqueues: list[Enqueue] = field(default_factory=list)
    uses: list[ContextUse] = field(default_factory=list)
    payload_reads: list[PayloadRead] = field(default_factory=list)
    secrets: list[SecretRaised] = field(default_factory=list)
    never_retryable: set[str] = field(default_factory=set)
    seen: set[Any] = field(default_factory=set)

    @property
    def method(self) -> Path:
        return tuple(self.platform.enqueue.method.split("."))

    @property
    def prefix(self) -> Path:
        """Where the services hang: ``ctx`` on one platform, the handler's argument itself on another."""
        return self.method[:-2]

    def handler(self, pointer: str, function: FunctionValue) -> None:
        """Read a handler, whose one argument is the root of all paths."""
        parameters = _parameters(function.node)
        names: dict[str, Path] = {}
        if parameters:
            _bind(function.module, parameters[0], (), names)
        self._function(function, names, pointer)
        if pointer.startswith("/jobs/"):
            self._payload(pointer, function, names)
            if _cannot_throw(function):
                self.never_retryable.add(pointer)
        self._secrets(function)

    def _function(self, function: FunctionValue, names: dict[str, Path], job: str) -> None:
        mark = (function.module.path, function.node.id, tuple(sorted(names.items())))
        if mark in self.seen or len(self.seen) > _MOST_FUNCTIONS:
            return
        self.seen.add(mark)
        frame = _Frame(function.module, dict(names), job)
        body = function.node.child_by_field_name("body")
        if body is not None:
            self._read(frame, body)

    def _read(self, frame: _Frame, body: Node) -> None:
        """Visit a body in source order; declarations of names on the way extend what is known."""
        stack = [body]
        while stack:
            node = stack.pop()
            if node.type == "variable_declarator":
                self._declare(frame, node)
            elif node.type == "call_expression":
                self._call(frame, node)
            if node.type in ("member_expression", "identifier", "shorthand_property_identifier"):
                path = self._path(frame, node)
                if path is not None:
                    self._use(frame, node, path)
                    continue
            stack.extend(reversed(_readable(node)))

    def _declare(self, frame: _Frame, declarator: Node) -> None:
        target, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        if target is None or value is None:
            return
        path = self._path(frame, value)
        if path is not None:
            _bind(frame.module, target, path, frame.names)
        elif target.type == "identifier":
            frame.names.pop(frame.module.text(target), None)

    def _path(self, frame: _Frame, node: Node) -> Path | None:
        """The path of an expression that leads through names and members from the handler's argument, or ``None``."""
        node = plain(node)
        members: list[str] = []
        while node.type == "member_expression":
            name, target = node.child_by_field_name("property"), node.child_by_field_name("object")
            if name is None or target is None:
                return None
            members.append(frame.module.text(name))
            node = plain(target)
        if node.type not in ("identifier", "shorthand_property_identifier"):
            return None
        base = frame.names.get(frame.module.text(node))
        return None if base is None else (*base, *reversed(members))

    def _use(self, frame: _Frame, node: Node, path: Path) -> None:
        size = len(self.prefix)
        if path[:size] == self.prefix and len(path) > size:
            written = ".".join([*self.prefix, path[size]])
            span = frame.module.span(_inner(node, len(path) - size - 1))
            self.uses.append(ContextUse(attribute=path[size], written=written, path=frame.module.path, span=span))
        elif self.prefix[: len(path)] == path and not self._followed(frame, node):
            self.known = False

    def _followed(self, frame: _Frame, node: Node) -> bool:
        """Whether a bare use of the context only names it: in a declaration, or given to a function that was read."""
        parent = node.parent
        if parent is not None and parent.type == "variable_declarator":
            return True
        while parent is not None and parent.type in ("pair", "object"):
            parent = parent.parent
        if parent is None or parent.type != "arguments" or parent.parent is None:
            return False
        return self._helper(frame, parent.parent) is not None

    def _call(self, frame: _Frame, call: Node) -> None:
        function = call.child_by_field_name("function")
        if function is None:
            return
        path = self._path(frame, function)
        if path == self.method:
            self.enqueues.append(self._enqueue(frame, call, function))
            return
        helper = self._helper(frame, call)
        if helper is not None:
            self._enter(frame, call, helper)

    def _helper(self, frame: _Frame, call: Node) -> FunctionValue | None:
        """The function of the repository that a call names."""
        function = call.child_by_field_name("function")
        if function is None or function.type not in ("identifier", "member_expression"):
            return None
        if self._path(frame, function) is not None:
            return None
        value = self.evaluator.evaluate(frame.module, function).value
        return value if isinstance(value, FunctionValue) else None

    def _enter(self, frame: _Frame, call: Node, helper: FunctionValue) -> None:
        names: dict[str, Path] = {}
        arguments = call.child_by_field_name("arguments")
        given = arguments.named_children if arguments is not None else []
        for parameter, argument in zip(_parameters(helper.node), given, strict=False):
            self._give(frame, helper.module, parameter, argument, names)
        if names:
            self._function(helper, names, frame.job)

    def _give(self, frame: _Frame, module: Module, parameter: Node, argument: Node, names: dict[str, Path]) -> None:
        path = self._path(frame, argument)
        if path is not None:
            _bind(module, parameter, path, names)
        elif argument.type == "object":
            fields = dict(self._fields(frame, argument))
            for local, original in _pattern(module, parameter):
                if original in fields:
                    names[local] = fields[original]

    def _fields(self, frame: _Frame, node: Node) -> Iterator[tuple[str, Path]]:
        for entry in node.named_children:
            key, value = entry.child_by_field_name("key"), entry.child_by_field_name("value")
            if entry.type == "shorthand_property_identifier":
                key = value = entry
            path = self._path(frame, value) if value is not None else None
            if key is not None and path is not None:
                yield frame.module.text(key), path

    def _enqueue(self, frame: _Frame, call: Node, function: Node) -> Enqueue:
        arguments = call.child_by_field_name("arguments")
        given = [child for child in arguments.named_children if child.type != "comment"] if arguments is not None else []
        spread = any(child.type == "spread_element" for child in given)
        job, payload, options = [*([] if spread else given), None, None, None][:3]
        found, further = self._options(frame, options)
        unknown = Argument(value=UNKNOWN, span=frame.module.span(call))
        return Enqueue(
            method=frame.module.text(function),
            path=frame.module.path,
            span=frame.module.span(call),
            job=unknown if spread else self._argument(frame, job),
            payload=unknown if spread else self._argument(frame, payload),
            options=found,
            open=further or spread,
        )

    def _argument(self, frame: _Frame, node: Node | None) -> Argument | None:
        if node is None:
            return None
        located = self.evaluator.evaluate(frame.module, node)
        if undefined(located.value):
            return None
        return Argument(value=plain_value(located), span=frame.module.span(node), written=frame.module.text(node)[:80])

    def _options(self, frame: _Frame, node: Node | None) -> tuple[dict[str, Argument], bool]:
        located = self.evaluator.evaluate(frame.module, node) if node is not None else None
        if located is None or undefined(located.value):
            return {}, False
        if not isinstance(located.value, ObjectValue):
            return {}, True
        found = {}
        for name, entry in located.value.items():
            here = entry.item.node if entry.item.module is frame.module else node
            if name is not UNKNOWN and here is not None and not undefined(entry.item.value):
                found[name] = Argument(value=plain_value(entry.item), span=frame.module.span(here), written=name)
        return found, UNKNOWN in located.value

    def _payload(self, pointer: str, function: FunctionValue, names: dict[str, Path]) -> None:
        read = _unchecked_read(self, _Frame(function.module, dict(names), pointer), function.node)
        if read is not None:
            self.payload_reads.append(
                PayloadRead(
                    job=pointer,
                    written=function.module.text(read)[:80],
                    path=function.module.path,
                    span=function.module.span(read),
                )
            )

    def _secrets(self, function: FunctionValue) -> None:
        body = function.node.child_by_field_name("body")
        for node in inside(body) if body is not None else ():
            if node.type == "throw_statement":
                self.secrets.extend(raised_secrets(function.module, node, secret_names(function.module, body)))


def plain_value(located: Located) -> Any:
    """The value without places: dicts and lists of plain values, ``UNKNOWN`` for what is none."""
    value = located.value
    if isinstance(value, ObjectValue):
        given = {name: entry.item for name, entry in value.items() if not undefined(entry.item.value)}
        return {name: UNKNOWN if name is UNKNOWN else plain_value(item) for name, item in given.items()}
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    return UNKNOWN if isinstance(value, (FunctionValue, CallValue)) or undefined(value) else value


def _inner(node: Node, members: int) -> Node:
    """The expression without its last ``members`` members: ``ctx.kv`` of ``ctx.kv.delete``, as far as it is written so."""
    while members > 0 and node.type == "member_expression":
        target = node.child_by_field_name("object")
        if target is None:
            break
        node, members = plain(target), members - 1
    return node


def _readable(node: Node) -> list[Node]:
    """The children in which uses can stand: not types, not property names, not the names a declaration binds."""
    skipped = ("type_annotation", "type_arguments", "type_parameters", "property_identifier", "formal_parameters")
    children = [child for child in node.named_children if child.type not in skipped]
    if node.type == "variable_declarator":
        name = node.child_by_field_name("name")
        children = [child for child in children if name is None or child.id != name.id]
    return children


def _parameters(function: Node) -> list[Node]:
    """The binding patterns of a function's parameters, in order."""
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


def _bind(module: Module, pattern: Node, path: Path, names: dict[str, Path]) -> None:
    """Bind a pattern to a path: a name to the whole, ``{jobs: queue}`` to its parts; a rest takes nothing."""
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        names[module.text(pattern)] = path
    elif pattern.type == "object_pattern":
        for child in pattern.named_children:
            key = child.child_by_field_name("key")
            value = child.child_by_field_name("value")
            if child.type == "shorthand_property_identifier_pattern":
                names[module.text(child)] = (*path, module.text(child))
            elif child.type == "pair_pattern" and key is not None and value is not None:
                _bind(module, value, (*path, module.text(key)), names)
            elif child.type == "object_assignment_pattern":
                left = child.child_by_field_name("left")
                if left is not None:
                    names[module.text(left)] = (*path, module.text(left))


def _pattern(module: Module, pattern: Node) -> Iterator[tuple[str, str]]:
    names: dict[str, Path] = {}
    _bind(module, pattern, (), names)
    for local, path in names.items():
        if len(path) == 1:
            yield local, path[0]


_LOOKS: Final = frozenset(
    {"if_statement", "ternary_expression", "switch_statement", "while_statement", "unary_expression", "binary_expression"}
    | {"arguments", "optional_chain", "template_substitution", "return_statement", "assignment_expression", "for_in_statement"}
    | {"spread_element", "catch_clause", "update_expression", "augmented_assignment_expression", "new_expression"}
)


def _unchecked_read(walk: _Walk, frame: _Frame, function: Node) -> Node | None:
    """The first ``payload.x`` of a handler in which nothing looks at the payload, or ``None``."""
    body = function.child_by_field_name("body")
    first: Node | None = None
    for node in _ordered(body) if body is not None else ():
        if node.type == "variable_declarator":
            walk._declare(frame, node)
        path = walk._path(frame, node) if node.type in ("member_expression", "identifier") else None
        if path is None or path[:1] != ("payload",):
            continue
        if node.parent is not None and node.parent.type == "member_expression" and _is_object_of(node, node.parent):
            continue
        if not _on_context(walk, frame, node) and _looked_at(node, body):
            return None
        if len(path) > 1 and first is None:
            first = node
    return first


def _is_object_of(node: Node, member: Node) -> bool:
    target = member.child_by_field_name("object")
    return target is not None and target.id == node.id


def _ordered(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        inner = stack.pop()
        yield inner
        stack.extend(reversed(_readable(inner)))


def _on_context(walk: _Walk, frame: _Frame, node: Node) -> bool:
    """Whether a value is given straight to one of the context's services, which take it as it comes."""
    arguments = node.parent
    while arguments is not None and arguments.type in ("pair", "object", "template_string", "template_substitution"):
        arguments = arguments.parent
    call = arguments.parent if arguments is not None and arguments.type == "arguments" else None
    function = call.child_by_field_name("function") if call is not None else None
    path = walk._path(frame, function) if function is not None else None
    return path is not None and path[: len(walk.prefix)] == walk.prefix and len(path) > len(walk.prefix)


def _looked_at(node: Node, body: Node | None) -> bool:
    """Whether something around the use may check the value: a call, a test, a conversion, a way out of the handler."""
    around: Node | None = node
    while around is not None and (body is None or around.id != body.id):
        if around.type in _LOOKS or any(child.type == "optional_chain" for child in around.children):
            return True
        around = around.parent
    return False


_HARMLESS: Final = re.compile(r"^(?:console|log|ctx\.log|context\.log|Math|JSON|Number|String|Boolean|Date|Object|Array)\b")


def _cannot_throw(function: FunctionValue) -> bool:
    """Whether a handler, read to the last call, has nothing that could raise a ``RetryableError``."""
    body = function.node.child_by_field_name("body")
    if body is None:
        return False
    for node in _ordered(body):
        if node.type in ("throw_statement", "await_expression", "new_expression", "yield_expression"):
            return False
        if node.type == "call_expression":
            called = node.child_by_field_name("function")
            if called is None or not _HARMLESS.match(function.module.text(called)):
                return False
    return True
