"""One pass over a tree: scopes with the names they bind and use, the calls in them, and each node's parent.

Everything else is looked up in what this pass leaves. Code that loading the module does not run (below
``if __name__ == "__main__"`` and ``if TYPE_CHECKING``) is left out.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any, Final, Literal

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Kind = Literal["module", "class", "function"]


class Scope:
    """A module, class body, function or lambda. ``stores``: what binds each name; ``outer``: those of other scopes."""

    __slots__ = (
        "calls",
        "children",
        "kind",
        "loads",
        "loops",
        "node",
        "outer",
        "parent",
        "raises",
        "returns",
        "stores",
        "yields",
    )

    def __init__(self, node: ast.AST, kind: Kind, parent: Scope | None) -> None:
        self.node = node
        self.kind = kind
        self.parent = parent
        self.stores: dict[str, list[ast.AST]] = {}
        self.loads: dict[str, list[ast.Name]] = {}
        self.calls: list[ast.Call] = []
        self.raises: list[ast.Raise] = []
        self.loops: list[ast.While | ast.For | ast.AsyncFor] = []
        self.outer: dict[str, Literal["global", "nonlocal"]] = {}
        self.children: list[Scope] = []
        self.returns = 0
        self.yields = False

    def store(self, name: str, node: ast.AST) -> None:
        """Note that ``node`` binds ``name``."""
        self.stores.setdefault(name, []).append(node)


class Tree:
    """A parsed module: its outermost scope, the parent of each node, the scope of each function, lambda and class."""

    __slots__ = ("parents", "root", "scopes")

    def __init__(self, module: ast.Module) -> None:
        """Walk the whole tree, scope after scope; without recursion, whatever the depth."""
        self.parents: dict[ast.AST, ast.AST] = {}
        self.root = Scope(module, "module", None)
        self.scopes: dict[ast.AST, Scope] = {module: self.root}
        pending: list[tuple[Scope, list[ast.AST]]] = [(self.root, list(module.body))]
        for statement in module.body:
            self.parents[statement] = module
        while pending:
            scope, nodes = pending.pop()
            _Walk(self, scope, pending).run(nodes)

    def release(self) -> None:
        """Let go of what the tree holds, once it has been read: scopes know each other, so nothing else would for long."""
        for scope in self.scopes.values():
            scope.parent = None
            scope.children = []
        self.scopes = {}
        self.parents = {}


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
    """Visits the nodes of one scope; bodies of inner scopes are put aside in ``pending``."""

    __slots__ = ("parents", "pending", "scope", "stack", "tree")

    def __init__(self, tree: Tree, scope: Scope, pending: list[tuple[Scope, list[ast.AST]]]) -> None:
        self.tree = tree
        self.parents = tree.parents
        self.scope = scope
        self.pending = pending
        self.stack: list[ast.AST] = []

    def run(self, nodes: list[ast.AST]) -> None:
        """Visit these nodes and all below them. Names are noted on the way; constants lead nowhere and are passed over.

        Written out at length: this loop runs for every node of every file.
        """
        self.stack = stack = nodes
        parents, fields, special, name = self.parents, _FIELDS, _SPECIAL, self.name
        while stack:
            node = stack.pop()
            kind = type(node)
            visit = special.get(kind)
            if visit is not None and visit(self, node):
                continue
            for field in fields[kind]:
                value = getattr(node, field)
                of = type(value)
                if of is list:
                    for item in value:
                        of = type(item)
                        if of is ast.Name:
                            parents[item] = node
                            name(item)
                        elif of is not ast.Constant and item is not None:
                            parents[item] = node
                            stack.append(item)
                elif of is ast.Name:
                    parents[value] = node
                    name(value)
                elif of is not ast.Constant and value is not None:
                    parents[value] = node
                    stack.append(value)

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

    def enter(self, node: ast.AST, kind: Kind, body: list[Any]) -> Scope:
        """Put the body of an inner scope aside."""
        inner = Scope(node, kind, self.scope)
        self.scope.children.append(inner)
        self.tree.scopes[node] = inner
        for item in body:
            self.parents[item] = node
        self.pending.append((inner, list(body)))
        return inner


def _call(walk: _Walk, node: ast.Call) -> bool:
    walk.scope.calls.append(node)
    return False


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
    if not _never_loaded(node.test):
        return False
    walk.push([node.test, *node.orelse], node)
    return True


def _never_loaded(test: ast.expr) -> bool:
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING") | ast.Constant(value=False | 0):
            return True
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return {_plain(left), _plain(right)} == {"name __name__", "text __main__"}
    return False


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
    inner = walk.enter(node, "function", body)
    for arg in all_arguments(node.args):
        walk.parents[arg] = node
        inner.store(arg.arg, arg)


def all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter, the starred ones too."""
    starred = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


_SPECIAL: Final[dict[type, Callable[[_Walk, Any], bool]]] = {
    ast.Call: _call,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.While: _loop,
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
    ast.ClassDef: _class,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _lambda,
}
"""What to note of a node; the answer true says that its children are dealt with."""
if sys.version_info >= (3, 12):
    _SPECIAL[ast.TypeAlias] = _alias
