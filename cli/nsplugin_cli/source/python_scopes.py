"""Scopes of a tree: the names they bind and use, the calls in them, and each node's parent.

Everything else is looked up in what one pass over a scope leaves; a function that nobody asks about is never walked. Code that
loading the module does not run (below ``if __name__ == "__main__"`` and ``if TYPE_CHECKING``) is left out.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Kind = Literal["module", "class", "function"]


_FOUND: Final = ("calls", "children", "loads", "loops", "outer", "raises", "returns", "stores", "yields")


class Scope:
    """A module, class body, function or lambda.

    What its code holds is found when it is first asked for: ``stores`` (what binds each name) and ``loads`` (what reads it),
    ``outer`` (names of other scopes that it binds), ``calls``, ``raises``, ``loops``, ``returns`` (how many), ``yields``, and
    ``children``, the scopes inside it.
    """

    __slots__ = ("_body", "_tree", "kind", "node", "parent", *_FOUND)
    stores: dict[str, list[ast.AST]]
    loads: dict[str, list[ast.Name]]
    outer: dict[str, Literal["global", "nonlocal"]]
    calls: list[ast.Call]
    raises: list[ast.Raise]
    loops: list[ast.While | ast.For | ast.AsyncFor]
    returns: int
    yields: bool
    children: list[Scope]

    def __init__(self, tree: Tree, node: ast.AST, kind: Kind, parent: Scope | None, body: list[Any]) -> None:
        self._tree = tree
        self._body = body
        self.node = node
        self.kind = kind
        self.parent = parent

    def __getattr__(self, name: str) -> Any:
        if name not in _FOUND:
            raise AttributeError(name)
        self._walk()
        return getattr(self, name)

    def _walk(self) -> None:
        self.stores, self.loads, self.outer = {}, {}, {}
        self.calls, self.raises, self.loops, self.children = [], [], [], []
        self.returns, self.yields = 0, False
        parents, node = self._tree.parents, self.node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            for arg in all_arguments(node.args):
                parents[arg] = node
                self.store(arg.arg, arg)
        for item in self._body:
            parents[item] = node
        _Walk(self._tree, self).run(list(self._body))

    def store(self, name: str, node: ast.AST) -> None:
        """Note that ``node`` binds ``name``."""
        self.stores.setdefault(name, []).append(node)

    def release(self) -> None:
        """Let go of the scopes around and inside it."""
        self.parent = None
        self.children = []
        del self._tree


class Tree:
    """A parsed module: its outermost scope, the parent of each node and the scope of each function, lambda and class, as far
    as they were walked."""

    __slots__ = ("parents", "root", "scopes")

    def __init__(self, module: ast.Module) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self.root = Scope(self, module, "module", None, module.body)
        self.scopes: dict[ast.AST, Scope] = {module: self.root}

    def release(self) -> None:
        """Let go of what the tree holds, once it has been read: scopes know each other, so nothing else would for long."""
        for scope in self.scopes.values():
            scope.release()
        self.scopes = {}
        self.parents = {}


def inner_scopes(scope: Scope) -> Iterator[Scope]:
    """A scope and all those inside it."""
    pending = [scope]
    while pending:
        inner = pending.pop()
        yield inner
        pending.extend(inner.children)


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of a node type that can hold nodes worth visiting."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = getattr(kind, "_fields", ())
        self[kind] = found = tuple(name for name in fields if name not in _IDLE)
        return found


_IDLE: Final = frozenset(
    {"ctx", "op", "ops", "kind", "id", "attr", "arg", "names", "name", "rest", "module", "level", "conversion", "is_async"}
    | {"simple", "annotation", "returns", "type_comment", "type_ignores", "type_params"}
)
_FIELDS: Final = _Fields({ast.Constant: ()})


class _Walk:
    """Visits the nodes of one scope, without recursion, whatever their depth; the bodies of inner scopes are left for later."""

    __slots__ = ("parents", "scope", "stack", "tree")

    def __init__(self, tree: Tree, scope: Scope) -> None:
        self.tree = tree
        self.parents = tree.parents
        self.scope = scope
        self.stack: list[ast.AST] = []

    def run(self, nodes: list[ast.AST]) -> None:
        """Visit these nodes and all below them. Names are noted on the way; constants lead nowhere and are passed over.

        Written out at length: this loop runs for every node of every file.
        """
        self.stack = stack = nodes
        parents, fields, special, name, calls = self.parents, _FIELDS, _SPECIAL, self.name, self.scope.calls
        pop, push, is_name, is_constant, is_call = stack.pop, stack.append, ast.Name, ast.Constant, ast.Call
        while stack:
            node = pop()
            kind = type(node)
            if kind is is_call:
                calls.append(node)  # type: ignore[arg-type]  # its type was looked at
            elif kind in special and special[kind](self, node):
                continue
            for field in fields[kind]:
                value = getattr(node, field)
                of = type(value)
                if of is list:
                    for item in value:
                        of = type(item)
                        if of is is_name:
                            parents[item] = node
                            name(item)
                        elif of is not is_constant and item is not None:
                            parents[item] = node
                            push(item)
                elif of is is_name:
                    parents[value] = node
                    name(value)
                elif of is not is_constant and value is not None:
                    parents[value] = node
                    push(value)

    def name(self, node: ast.Name) -> None:
        """Note a name that is read or bound."""
        if type(node.ctx) is not ast.Load:
            self.scope.store(node.id, node)
        elif node.id in self.scope.loads:
            self.scope.loads[node.id].append(node)
        else:
            self.scope.loads[node.id] = [node]

    def push(self, nodes: list[Any], parent: ast.AST) -> None:
        """Visit these nodes too."""
        for node in nodes:
            if type(node) is ast.Name:
                self.parents[node] = parent
                self.name(node)
            elif node is not None:
                self.parents[node] = parent
                self.stack.append(node)

    def enter(self, node: ast.AST, kind: Kind, body: list[Any]) -> None:
        """Leave the body of an inner scope for when it is asked for."""
        inner = Scope(self.tree, node, kind, self.scope, body)
        self.scope.children.append(inner)
        self.tree.scopes[node] = inner


def _raise(walk: _Walk, node: ast.Raise) -> bool:
    walk.scope.raises.append(node)
    return False


def _return(walk: _Walk, node: ast.Return) -> bool:
    walk.scope.returns += 1
    return False


def _yield(walk: _Walk, node: ast.AST) -> bool:
    walk.scope.yields = True
    return False


def _loop(walk: _Walk, node: ast.While | ast.For | ast.AsyncFor) -> bool:
    walk.scope.loops.append(node)
    return False


def _import(walk: _Walk, node: ast.Import | ast.ImportFrom) -> bool:
    for alias in node.names:
        walk.parents[alias] = node
        name = alias.asname or (alias.name.partition(".")[0] if type(node) is ast.Import else alias.name)
        walk.scope.store(name, alias)
    return True


def _declared(walk: _Walk, node: ast.Global | ast.Nonlocal) -> bool:
    for name in node.names:
        walk.scope.outer[name] = "global" if type(node) is ast.Global else "nonlocal"
    return True


def _named(walk: _Walk, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> bool:
    if node.name is not None:
        walk.scope.store(node.name, node)
    return False


def _rest(walk: _Walk, node: ast.MatchMapping) -> bool:
    if node.rest is not None:
        walk.scope.store(node.rest, node)
    return False


def _alias(walk: _Walk, node: Any) -> bool:
    walk.scope.store(node.name.id, node)
    return True


def _if(walk: _Walk, node: ast.If) -> bool:
    loaded = _when_loaded(node.test)
    if loaded is None:
        return False
    walk.push([node.test, *(node.body if loaded else node.orelse)], node)
    return True


def _conditional(walk: _Walk, node: ast.IfExp) -> bool:
    loaded = _when_loaded(node.test)
    if loaded is None:
        return False
    walk.push([node.test, node.body if loaded else node.orelse], node)
    return True


def _either(walk: _Walk, node: ast.BoolOp) -> bool:
    """``__name__ == "__main__" and main()``: what comes after the operand that settles it is not evaluated."""
    settles = isinstance(node.op, ast.Or)
    for count, value in enumerate(node.values, 1):
        if _when_loaded(value) is settles:
            walk.push(node.values[:count], node)
            return True
    return False


def _while(walk: _Walk, node: ast.While) -> bool:
    if _when_loaded(node.test) is False:
        walk.push([node.test, *node.orelse], node)
        return True
    return _loop(walk, node)


def _when_loaded(test: ast.expr) -> bool | None:
    """What a condition is when the module is imported; ``None`` for what depends on more than that."""
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING") | ast.Constant(value=False | 0):
            return False
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _as_main(left, operator, right)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _when_loaded(operand)
            return None if inner is None else not inner
        case ast.BoolOp(op=operator, values=values):
            settles = isinstance(operator, ast.Or)
            found = {_when_loaded(value) for value in values}
            return settles if settles in found else None if None in found else not settles
    return None


def _as_main(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
    """Whether a comparison of ``__name__`` holds in a module that is imported, and so is not ``"__main__"``."""
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        known = {_plain(left), _plain(right)} == {"name __name__", "text __main__"}
        return isinstance(operator, ast.NotEq) if known else None
    if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
        known = _plain(left) == "name __name__" and {_plain(item) for item in right.elts} == {"text __main__"}
        return isinstance(operator, ast.NotIn) if known else None
    return None


def _plain(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return f"name {name}"
        case ast.Constant(value=str(text)):
            return f"text {text}"
    return None


def _class(walk: _Walk, node: ast.ClassDef) -> bool:
    walk.scope.store(node.name, node)
    walk.push([*node.decorator_list, *node.bases, *node.keywords], node)
    walk.enter(node, "class", node.body)
    return True


def _function(walk: _Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    walk.scope.store(node.name, node)
    walk.push(node.decorator_list, node)
    _parameters(walk, node, node.body)
    return True


def _lambda(walk: _Walk, node: ast.Lambda) -> bool:
    _parameters(walk, node, [node.body])
    return True


def _parameters(walk: _Walk, node: FunctionNode, body: list[Any]) -> None:
    walk.push([*node.args.defaults, *node.args.kw_defaults], node)
    walk.enter(node, "function", body)


def all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter, the starred ones too."""
    starred = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


_SPECIAL: Final[dict[type, Callable[[_Walk, Any], bool]]] = {
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.While: _while,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Global: _declared,
    ast.Nonlocal: _declared,
    ast.ExceptHandler: _named,
    ast.MatchAs: _named,
    ast.MatchStar: _named,
    ast.MatchMapping: _rest,
    ast.If: _if,
    ast.IfExp: _conditional,
    ast.BoolOp: _either,
    ast.ClassDef: _class,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _lambda,
}
"""What to note of a node; the answer true says that its children are dealt with."""
if sys.version_info >= (3, 12):
    _SPECIAL[ast.TypeAlias] = _alias
