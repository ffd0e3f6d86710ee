"""Whether a job's handler takes something out of its payload that nothing looked at (spec/nextskin.md D7)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_scopes import Scope
from nsplugin_cli.source.python_uses import loads
from nsplugin_cli.source.python_values import External, Function

MAX_STEPS: Final = 5_000
_PLAIN: Final = frozenset(
    {"print", "len", "str", "repr", "list", "dict", "tuple", "set", "sorted", "sum", "enumerate", "zip", "format", "bytes"}
    | {"min", "max", "reversed", "iter"}
)
"""Built-in functions that take a value as it comes."""
_LIBRARIES: Final = frozenset(("json", "logging", "httpx", "requests", "aiohttp", "urllib", "asyncio", "smtplib", "time"))
"""Modules whose functions are given values that somebody else has checked."""
_MISSES: Final = frozenset(
    ("KeyError", "LookupError", "TypeError", "ValueError", "AttributeError", "IndexError", "Exception", "BaseException")
)


class Unchecked:
    """Follows a payload through its handler; :meth:`first` is the first read, if nothing looks at the payload."""

    def __init__(self, evaluator: Evaluator, handler: Function, services: frozenset[str]) -> None:
        self.evaluator = evaluator
        self.module: Module = handler.module
        self.scope: Scope = handler.module.scope(handler.node)
        self.services = services
        self._reads: list[ast.expr] = []
        self._pending: list[tuple[ast.expr, Scope]] = []
        self._names: set[tuple[Scope, str]] = set()
        self._left = MAX_STEPS

    def first(self, name: str, whole: bool) -> ast.expr | None:
        """The first unchecked read. ``name``: the parameter that holds the payload; ``whole``: all arguments, it among them."""
        for node, scope in loads(self.scope, name):
            start = self._payload_of(node) if whole else node
            if start is not None:
                self._pending.append((start, scope))
        while self._pending:
            if self._is_looked_at(*self._pending.pop()):
                return None
        return min(self._reads, key=lambda node: (node.lineno, node.col_offset, node.end_col_offset), default=None)

    def _payload_of(self, node: ast.Name) -> ast.expr | None:
        holder = self.module.parent(node)
        return holder if isinstance(holder, ast.Attribute) and holder.attr == "payload" else None

    def _is_looked_at(self, node: ast.expr, scope: Scope) -> bool:
        """Follow the payload, or what came out of it, outwards; true as soon as something may check it."""
        while True:
            self._left -= 1
            holder = self.module.parent(node)
            if self._left < 0 or holder is None or (isinstance(holder, ast.Subscript) and holder.slice is node):
                return True
            if isinstance(holder, ast.expr) and self._takes_part(node, holder):
                self._reads.append(self._whole_read(holder))
                if self._may_miss(node):
                    return True
            elif isinstance(holder, ast.NamedExpr):
                if not self._bind(holder.target, scope):
                    return True
            elif not isinstance(holder, _PASSING) or (isinstance(holder, ast.IfExp) and holder.test is node):
                return self._ends_in_a_look(node, holder, scope)
            if not isinstance(holder, ast.expr):
                return True
            node = holder

    def _takes_part(self, node: ast.expr, holder: ast.expr) -> bool:
        if isinstance(holder, ast.Subscript):
            return holder.value is node and isinstance(holder.ctx, ast.Load)
        return isinstance(holder, ast.Attribute) or (isinstance(holder, ast.Call) and holder.func is node)

    def _whole_read(self, holder: ast.expr) -> ast.expr:
        called = self.module.parent(holder)
        return called if isinstance(called, ast.Call) and called.func is holder else holder

    def _may_miss(self, node: ast.expr) -> bool:
        """Whether a ``try`` around the read catches what a missing or wrong part raises."""
        inner: ast.AST = node
        holder = self.module.parent(node)
        while holder is not None and not isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if isinstance(holder, (ast.Try, ast.TryStar)) and inner in holder.body and _catches_misses(holder.handlers):
                return True
            inner, holder = holder, self.module.parent(holder)
        return False

    def _ends_in_a_look(self, node: ast.expr, holder: ast.AST, scope: Scope) -> bool:
        match holder:
            case ast.Call():
                return not self._takes_as_it_comes(holder, scope)
            case ast.keyword():
                call = self.module.parent(holder)
                return not isinstance(call, ast.Call) or not self._takes_as_it_comes(call, scope)
            case ast.Assign(targets=targets):
                return not all(self._bind(target, scope) for target in targets)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                return not self._bind(target, scope)
            case ast.For(iter=over, target=target) | ast.AsyncFor(iter=over, target=target):
                return over is not node or not self._bind(target, scope)
            case ast.comprehension(iter=over, target=target):
                return over is not node or not self._bind(target, scope)
            case ast.Expr() | ast.Return():
                return False
        return True

    def _bind(self, target: ast.expr, scope: Scope) -> bool:
        """Follow the names that a part of the payload is given; false for a target that is none."""
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        for name in names:
            if not isinstance(name, ast.Name):
                return False
            if (scope, name.id) not in self._names:
                self._names.add((scope, name.id))
                self._pending.extend(loads(scope, name.id))
        return True

    def _takes_as_it_comes(self, call: ast.Call, scope: Scope) -> bool:
        """Whether a call is of something that does not check what it is given: a service, a plain built-in function."""
        data = self.evaluator.value(call.func, self.module, scope).data
        if isinstance(data, External):
            head, _, rest = data.name.partition(".")
            return rest in _PLAIN if head == "builtins" else head in _LIBRARIES
        root: ast.AST = call.func
        while isinstance(root, (ast.Attribute, ast.Call, ast.Await, ast.Subscript)):
            root = root.func if isinstance(root, ast.Call) else root.value
        return isinstance(root, ast.Name) and root is not call.func and self._is_service(root.id, scope, 3)

    def _is_service(self, name: str, scope: Scope, depth: int) -> bool:
        """Whether a name is one of the context's services, or a local one that something of theirs was assigned to."""
        if name in self.services:
            return True
        stores = scope.stores.get(name, ())
        binding = self.module.parent(stores[0]) if stores else None
        if depth == 0 or not isinstance(binding, (ast.Assign, ast.AnnAssign)) or binding.value is None:
            return False
        return any(self._is_service(each, scope, depth - 1) for each in _names_in(binding.value) if each != name)


_PASSING: Final = (
    ast.Attribute,
    ast.Subscript,
    ast.Await,
    ast.BinOp,
    ast.FormattedValue,
    ast.JoinedStr,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Set,
    ast.IfExp,
)
"""What holds a value and is still that value, or made of it."""


def _catches_misses(clauses: list[ast.ExceptHandler]) -> bool:
    listed = (clause.type.elts if isinstance(clause.type, ast.Tuple) else [clause.type] for clause in clauses)
    caught = [kind for kinds in listed for kind in kinds]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _MISSES) for kind in caught)


def _names_in(node: ast.AST) -> Iterator[str]:
    return (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
