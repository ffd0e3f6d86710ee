"""Whether a list or dict that a name holds stays as it was written: no use of the name can change it or hand it on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from nsplugin.record import record
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_scopes import Scope

MAX_USES: Final = 2_000
"""A name with more uses than this is not followed."""

MAX_NAMES: Final = 20
"""A value that goes by more names than this is not followed."""

_READERS: Final = frozenset(("get", "items", "keys", "values", "copy", "index", "count", "join"))
_PURE: Final = frozenset(
    {"dict", "list", "tuple", "set", "frozenset", "len", "sorted", "isinstance", "print", "str", "repr", "sum", "min", "max"}
    | {"any", "all", "bool", "type", "id", "hash", "MappingProxyType", "dumps", "deepcopy"}
)
_SPREADS: Final = frozenset(("enumerate", "zip", "iter", "reversed", "filter", "map"))
_TAKERS: Final = frozenset(("define_plugin", "define_job", "Job", "Cron", "Route", "Schedule"))
"""The SDK's own: they copy what they are given."""
_QUIET: Final = frozenset(("enqueue", "debug", "info", "warning", "error", "exception"))


@record(kw_only=False)
class Held:
    """What a name holds, as far as it matters here: a dict (``keyed``) or not, with parts that could be changed or not."""

    keyed: bool
    deep: bool


_WRAPPED: Final = Held(keyed=False, deep=True)
"""A container that the value was put into."""


class Uses:
    """The uses of a value in one module, under whatever names."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.left = MAX_USES
        self.seen: set[tuple[Scope, str, Held]] = set()

    def leave_alone(self, scope: Scope, name: str, held: Held) -> bool:
        """Whether every use of the name, in its scope and those inside it, only reads."""
        if (scope, name, held) in self.seen:
            return True
        if len(self.seen) >= MAX_NAMES:
            return False
        self.seen.add((scope, name, held))
        if scope.kind == "module" and self._stands_outside_functions(scope, name):
            return all(self._only_reads(node, scope, held) for node in scope.loads.get(name, ()))
        return all(self._only_reads(node, where, held) for node, where in loads(scope, name))

    def _stands_outside_functions(self, scope: Scope, name: str) -> bool:
        """Whether the text holds the name no more often than the module's own code, so that functions need no look."""
        return self.module.text.source.count(name) == len(scope.loads.get(name, ())) + len(scope.stores[name])

    def _only_reads(self, node: ast.AST, scope: Scope, held: Held) -> bool:
        """Follow the value outwards through what holds it until it is clear what becomes of it."""
        while True:
            self.left -= 1
            parent = self.module.parent(node)
            if parent is None or self.left < 0:
                return False
            step = self._step(node, parent, held)
            if step is not None:
                return step
            match parent:
                case ast.Assign(targets=targets):
                    return all(self._alias(target, scope, held) for target in targets)
                case ast.AnnAssign(target=target):
                    return self._alias(target, scope, held)
                case ast.List() | ast.Tuple() | ast.Set() | ast.Dict() | ast.keyword():
                    held = _WRAPPED
            node = parent

    def _alias(self, target: ast.expr, scope: Scope, held: Held) -> bool:
        return isinstance(target, ast.Name) and self.leave_alone(scope, target.id, held)

    def _step(self, node: ast.AST, parent: ast.AST, held: Held) -> bool | None:
        """True: harmless; false: it may be changed; ``None``: the parent is (or holds) the value, so look further out."""
        match parent:
            case ast.Attribute():
                return None if self._is_read(parent) else False
            case ast.Subscript():
                return self._subscript(node, parent, held)
            case ast.Call():
                return self._call(node, parent, held)
            case ast.keyword(arg=None) | ast.Starred() | ast.FormattedValue() | ast.Compare() | ast.UnaryOp():
                return True
            case ast.BinOp() | ast.Expr() | ast.Assert() | ast.If() | ast.While() | ast.match_case() | ast.AugAssign():
                return True
            case ast.Dict():
                pairs = zip(parent.keys, parent.values, strict=True)
                return None if any(value is node and key is not None for key, value in pairs) else True
            case ast.For(iter=over) | ast.AsyncFor(iter=over) | ast.comprehension(iter=over):
                return not held.deep or over is not node or (held.keyed and isinstance(node, ast.Name))
            case ast.keyword() | ast.List() | ast.Tuple() | ast.Set() | ast.BoolOp() | ast.IfExp():
                return None
        return None if isinstance(parent, (ast.Assign, ast.AnnAssign)) else False

    def _is_read(self, node: ast.Attribute) -> bool:
        called = self.module.parent(node)
        return node.attr in _READERS and isinstance(called, ast.Call) and called.func is node

    def _subscript(self, node: ast.AST, parent: ast.Subscript, held: Held) -> bool | None:
        if parent.slice is node:
            return True
        if not isinstance(parent.ctx, ast.Load):
            return False
        return None if held.deep else True

    def _call(self, node: ast.AST, parent: ast.Call, held: Held) -> bool | None:
        if parent.func is node:
            attribute = node.attr if isinstance(node, ast.Attribute) else ""
            return None if held.deep and attribute in ("get", "values", "items") else True
        name = last_name(parent.func)
        if name in _PURE or name in _TAKERS or name in _QUIET:
            return True
        return (None if held.deep else True) if name in _SPREADS else False


def last_name(func: ast.expr) -> str:
    """The name that a call is made by: ``c`` of ``a.b.c(…)``."""
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def origins(scope: Scope, module: Module) -> set[str]:
    """The outermost modules that the code of a scope imports from; a dot for the repository's own."""
    parents, alias = module.tree.parents, ast.alias
    statements = {parents[node] for nodes in scope.stores.values() for node in nodes if type(node) is alias}
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.Import):
            found.update([each.name.partition(".")[0] for each in statement.names])
        elif isinstance(statement, ast.ImportFrom):
            found.add("." if statement.level else (statement.module or "").partition(".")[0])
    return found


def loads(scope: Scope, name: str) -> Iterator[tuple[ast.Name, Scope]]:
    """Where a scope's name is read: there, and in the functions and classes inside it that do not bind the name anew."""
    pending = [scope]
    while pending:
        inner = pending.pop()
        for node in inner.loads.get(name, ()):
            yield node, inner
        for child in inner.children:
            if child.kind == "class" or name not in child.stores or name in child.outer:
                pending.append(child)
