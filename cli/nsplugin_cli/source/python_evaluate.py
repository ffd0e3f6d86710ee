"""Evaluates expressions without running any code: what is certain becomes data, all else is ``UNKNOWN``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, Final

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source import python_arithmetic as arithmetic
from nsplugin_cli.source.python_calls import called
from nsplugin_cli.source.python_module import Module, Modules
from nsplugin_cli.source.python_names import Names
from nsplugin_cli.source.python_scopes import Scope
from nsplugin_cli.source.python_values import (
    SCALARS,
    Class,
    Entries,
    External,
    Function,
    Instance,
    Items,
    Keyword,
    Made,
    Method,
    RepoModule,
    Value,
    iterated,
    joined,
    settled,
    truth,
    with_handler,
)

_KNOWN: Final = (*SCALARS, Items, Entries)
MAX_STEPS: Final = 200_000
MAX_DEPTH: Final = 120
MAX_ITEMS: Final = 100_000


class Evaluator:
    """Evaluates within one reading of a file. Its work is bounded: beyond the bounds everything is ``UNKNOWN``.

    ``depth``: how deep the expression stands that is being evaluated, in calls of the interpreter. ``loops``: what the names of
    the comprehension around it stand for in this round.
    """

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self.names = Names(self)
        self.loops: dict[str, Value] = {}
        self._steps = MAX_STEPS
        self.depth = 0

    def value(self, node: ast.expr, module: Module, scope: Scope) -> Value:
        """What an expression in a scope is."""
        self._steps -= 1
        if type(node) is ast.Constant and self._steps >= 0:
            return Value(_constant(node.value), node, module)
        evaluate = _EVALUATE.get(type(node))
        if evaluate is None or self._steps < 0 or self.depth >= MAX_DEPTH:
            return Value(UNKNOWN, node, module)
        self.depth += 1
        found = evaluate(self, node, module, scope)
        self.depth -= 1
        if not isinstance(found, Value):
            return Value(found, node, module)
        stays = found.module is module and not isinstance(found.data, (Function, Class))
        return found if stays else Value(found.data, node, module)

    def release(self) -> None:
        """Forget everything that was found: names and evaluator know each other, and values know their modules."""
        self.names.release()

    @property
    def is_deep(self) -> bool:
        """Whether nothing may be evaluated any deeper inside."""
        return self.depth >= MAX_DEPTH

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, home: Scope) -> Any:
        """What a ``def`` statement binds its name to: a function, or what its decorators make of it."""
        inner = Function(node, module, opaque=len(node.decorator_list) > 1 or home.kind == "class")
        if not node.decorator_list:
            return Value(inner, node, module)
        outermost = self.value(node.decorator_list[0], module, home)
        if isinstance(outermost.data, Made):
            made = with_handler(outermost.data, Value(inner, node, module))
            return UNKNOWN if made is None else Value(made, outermost.node, module)
        return Value(Function(node, module, opaque=True), node, module)

    def sequence(self, nodes: Iterable[ast.expr], module: Module, scope: Scope) -> tuple[tuple[Value, ...], bool]:
        """Items of a display or arguments of a call, unpacked; and whether an unknown was among those unpacked."""
        items: list[Value] = []
        unpacked_unknown = False
        for node in nodes:
            if not isinstance(node, ast.Starred):
                items.append(self.value(node, module, scope))
                continue
            value = self.value(node.value, module, scope)
            found = iterated(value)
            items.extend([Value(UNKNOWN, node, module)] if found is None else found)
            unpacked_unknown |= found is None
        return tuple(items[:MAX_ITEMS]), unpacked_unknown or len(items) > MAX_ITEMS

    def keywords(self, nodes: Iterable[ast.keyword], module: Module, scope: Scope) -> tuple[Keyword, ...]:
        """Arguments given by name, unpacked."""
        found: list[Keyword] = []
        for node in nodes:
            value = self.value(node.value, module, scope)
            if node.arg is not None:
                found.append(Keyword(node.arg, value, node))
            elif isinstance(value.data, Entries):
                found.extend(_named(key, item) for key, item in settled(value.data.pairs))
            else:
                found.append(Keyword(None, value, node))
        return tuple(found)


def _named(key: Value, value: Value) -> Keyword:
    return Keyword(key.data if isinstance(key.data, str) else None, value, key.node)


def _constant(value: Any) -> Any:
    if type(value) is int:
        return arithmetic.bounded(value)
    return value if isinstance(value, SCALARS) else UNKNOWN


def _name(evaluator: Evaluator, node: ast.Name, module: Module, scope: Scope) -> Any:
    return evaluator.names.look_up(node.id, module, scope, node)


def _list(evaluator: Evaluator, node: ast.List, module: Module, scope: Scope) -> Any:
    return Items(list, *evaluator.sequence(node.elts, module, scope))


def _tuple(evaluator: Evaluator, node: ast.Tuple, module: Module, scope: Scope) -> Any:
    return Items(tuple, *evaluator.sequence(node.elts, module, scope))


def _set(evaluator: Evaluator, node: ast.Set, module: Module, scope: Scope) -> Any:
    return Items(set, *evaluator.sequence(node.elts, module, scope))


def _dict(evaluator: Evaluator, node: ast.Dict, module: Module, scope: Scope) -> Any:
    pairs: list[tuple[Value, Value]] = []
    for key, item in zip(node.keys, node.values, strict=True):
        value = evaluator.value(item, module, scope)
        if key is not None:
            pairs.append((evaluator.value(key, module, scope), value))
        elif isinstance(value.data, Entries):
            pairs = joined(pairs, value.data.pairs)
        else:
            pairs = joined(pairs, [(Value(UNKNOWN, item, module), Value(UNKNOWN, item, module))])
    return Entries(tuple(pairs[:MAX_ITEMS]))


def _joined_text(evaluator: Evaluator, node: ast.JoinedStr, module: Module, scope: Scope) -> Any:
    parts: list[str] = []
    for part in node.values:
        text = evaluator.value(part, module, scope).data
        if not isinstance(text, str):
            return UNKNOWN
        parts.append(text)
    return arithmetic.bounded("".join(parts)) if sum(map(len, parts)) <= arithmetic.MAX_LENGTH else UNKNOWN


def _field(evaluator: Evaluator, node: ast.FormattedValue, module: Module, scope: Scope) -> Any:
    spec = "" if node.format_spec is None else evaluator.value(node.format_spec, module, scope).data
    value = evaluator.value(node.value, module, scope).data
    if not isinstance(spec, str) or not isinstance(value, SCALARS):
        return UNKNOWN
    return arithmetic.formatted(value, node.conversion, spec)


def _binary(evaluator: Evaluator, node: ast.BinOp, module: Module, scope: Scope) -> Any:
    left = evaluator.value(node.left, module, scope).data
    right = evaluator.value(node.right, module, scope).data
    if isinstance(left, SCALARS) and isinstance(right, SCALARS):
        return arithmetic.binary(left, node.op, right)
    if isinstance(left, Items) and isinstance(right, Items) and isinstance(node.op, ast.Add):
        return _concatenated(left, right)
    if isinstance(node.op, ast.BitOr) and (isinstance(left, Entries) or isinstance(right, Entries)):
        return _merged(left, right, node, module)
    if isinstance(node.op, ast.Add) and (isinstance(left, Items) or isinstance(right, Items)):
        return _half_known(left, right, node, module)
    return UNKNOWN


def _concatenated(left: Items, right: Items) -> Any:
    if left.kind is not right.kind or left.kind is set or len(left.items) + len(right.items) > MAX_ITEMS:
        return UNKNOWN
    return Items(left.kind, left.items + right.items, left.open or right.open)


def _half_known(left: Any, right: Any, node: ast.BinOp, module: Module) -> Any:
    """A list and an unknown: a longer list, some of whose items are known."""
    unknown = Value(UNKNOWN, node, module)
    if isinstance(left, Items) and not isinstance(right, _KNOWN):
        return Items(left.kind, (*left.items, unknown), open=True)
    if isinstance(right, Items) and not isinstance(left, _KNOWN):
        return Items(right.kind, (unknown, *right.items), open=True)
    return UNKNOWN


def _merged(left: Any, right: Any, node: ast.BinOp, module: Module) -> Any:
    halves = [
        data.pairs if isinstance(data, Entries) else [(Value(UNKNOWN, side, module), Value(UNKNOWN, side, module))]
        for data, side in ((left, node.left), (right, node.right))
        if isinstance(data, Entries) or not isinstance(data, _KNOWN)
    ]
    return Entries(tuple(joined(*halves)[:MAX_ITEMS])) if len(halves) == 2 else UNKNOWN


def _unary(evaluator: Evaluator, node: ast.UnaryOp, module: Module, scope: Scope) -> Any:
    operand = evaluator.value(node.operand, module, scope).data
    if isinstance(node.op, ast.Not):
        holds = truth(operand)
        return UNKNOWN if holds is None else not holds
    return arithmetic.unary(node.op, operand)


def _either(evaluator: Evaluator, node: ast.BoolOp, module: Module, scope: Scope) -> Any:
    stops_at = isinstance(node.op, ast.Or)
    for operand in node.values[:-1]:
        value = evaluator.value(operand, module, scope)
        holds = truth(value.data)
        if holds is None:
            return UNKNOWN
        if holds is stops_at:
            return value
    return evaluator.value(node.values[-1], module, scope)


def _conditional(evaluator: Evaluator, node: ast.IfExp, module: Module, scope: Scope) -> Any:
    holds = truth(evaluator.value(node.test, module, scope).data)
    if holds is None:
        return UNKNOWN
    return evaluator.value(node.body if holds else node.orelse, module, scope)


def _walrus(evaluator: Evaluator, node: ast.NamedExpr, module: Module, scope: Scope) -> Any:
    return evaluator.value(node.value, module, scope)


def _lambda(evaluator: Evaluator, node: ast.Lambda, module: Module, scope: Scope) -> Any:
    return Function(node, module)


def _call(evaluator: Evaluator, node: ast.Call, module: Module, scope: Scope) -> Any:
    return called(evaluator, node, module, scope)


def _subscript(evaluator: Evaluator, node: ast.Subscript, module: Module, scope: Scope) -> Any:
    owner = evaluator.value(node.value, module, scope).data
    index = evaluator.value(node.slice, module, scope).data
    if isinstance(owner, Entries) and isinstance(index, SCALARS):
        return owner.find(index) or UNKNOWN
    if type(index) is not int:
        return UNKNOWN
    if isinstance(owner, Items) and owner.kind is not set and not owner.open and -len(owner.items) <= index < len(owner.items):
        return owner.items[index]
    return owner[index] if isinstance(owner, str) and -len(owner) <= index < len(owner) else UNKNOWN


def _attribute(evaluator: Evaluator, node: ast.Attribute, module: Module, scope: Scope) -> Any:
    owner = evaluator.value(node.value, module, scope)
    match owner.data:
        case External(name=name):
            return External(f"{name}.{node.attr}")
        case RepoModule(module=other):
            return _member(evaluator, other, node.attr)
        case Class(node=definition, module=home):
            return _class_attribute(evaluator, definition, home, node.attr)
        case Instance(of=Class(node=definition, module=home)):
            return _method_of(definition, home, node.attr)
        case Made(maker="define_job") as made if node.attr == "key":
            return _job_key(made)
        case str() | Items() | Entries():
            return Method(owner, node.attr)
    return UNKNOWN


def _member(evaluator: Evaluator, module: Module, name: str) -> Any:
    value = evaluator.names.exported(module, name)
    if value is not None:
        return UNKNOWN if evaluator.modules.may_set(name) else value
    inner = evaluator.modules.find(module.path, f".{name}")
    return UNKNOWN if inner is None else RepoModule(inner)


_ENUMS: Final = frozenset(("enum.StrEnum", "enum.IntEnum", "enum.Enum", "builtins.str", "builtins.int"))


def _class_attribute(evaluator: Evaluator, node: ast.ClassDef, module: Module, name: str) -> Any:
    scope = module.scope(node)
    if name not in scope.stores or node.decorator_list or node.keywords or evaluator.modules.may_set(name):
        return UNKNOWN
    bases = [evaluator.value(base, module, module.root).data for base in node.bases]
    names = {base.name if isinstance(base, External) else "" for base in bases}
    value = evaluator.names.bound(name, module, scope)
    data = value.data if isinstance(value, Value) else value
    if isinstance(data, Function) or not names <= _ENUMS or (names and not names & {"builtins.str", "enum.StrEnum"}):
        return UNKNOWN
    plain = not names or (isinstance(data, str) and "__new__" not in scope.stores)
    return value if plain else UNKNOWN


def _method_of(node: ast.ClassDef, module: Module, name: str) -> Any:
    """A method of an instance of exactly this class. What it inherits, and what is no plain method, is unknown."""
    match module.scope(node).stores.get(name):
        case [ast.FunctionDef(decorator_list=[]) | ast.AsyncFunctionDef(decorator_list=[]) as method]:
            return Function(method, module, opaque=True, bound=True)
    return UNKNOWN


def _job_key(made: Made) -> Any:
    for keyword in made.keywords:
        if keyword.name == "key":
            return keyword.value
    config = made.arguments[0].data if made.arguments else None
    return (config.find("key") or UNKNOWN) if isinstance(config, Entries) else UNKNOWN


def _comprehension(evaluator: Evaluator, node: Any, module: Module, scope: Scope) -> Any:
    from nsplugin_cli.source import python_comprehensions as comprehensions

    if isinstance(node, ast.DictComp):
        return comprehensions.mapped(evaluator, node, module, scope)
    return comprehensions.listed(evaluator, node, module, scope)


_EVALUATE: Final[dict[type[ast.expr], Callable[[Evaluator, Any, Module, Scope], Any]]] = {
    ast.Name: _name,
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _joined_text,
    ast.FormattedValue: _field,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _either,
    ast.IfExp: _conditional,
    ast.NamedExpr: _walrus,
    ast.Lambda: _lambda,
    ast.Call: _call,
    ast.ListComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
}
