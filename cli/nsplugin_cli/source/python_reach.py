"""The functions that a handler leads to, and whether all that it can run was read."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Any, Final

from nsplugin.record import record
from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_names import home_of
from nsplugin_cli.source.python_scopes import Scope
from nsplugin_cli.source.python_values import SCALARS, Class, Entries, External, Function, Instance, Items, RepoModule, Value

MAX_FUNCTIONS: Final = 200
_HARMLESS: Final = sys.stdlib_module_names | {"builtins", "pydantic", "nsplugin"}
_ANYTHING: Final = frozenset(
    ("builtins.exec", "builtins.eval", "builtins.__import__", "builtins.globals", "importlib", "importlib.import_module")
)


@record(kw_only=False)
class Reach:
    """``functions``: the handler and what it leads to. ``externals``: what of other modules these name.

    ``complete``: nothing they run is left out but the context's own services and the libraries in ``externals``.
    """

    functions: tuple[Function, ...]
    externals: frozenset[str]
    complete: bool


class Reacher:
    """Collects the functions and classes of the repository whose names a function's code mentions, and so on."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._functions: list[Function] = []
        self._externals: set[str] = set()
        self._complete = True
        self._scopes: list[tuple[Scope, Module]] = []
        self._seen: set[ast.AST] = set()

    def of(self, function: Function) -> Reach:
        """What a handler leads to."""
        self._function(function)
        while self._scopes:
            scope, module = self._scopes.pop()
            for name, loads in scope.loads.items():
                self._name(name, loads, scope, module)
            self._scopes.extend((child, module) for child in scope.children)
        return Reach(tuple(self._functions), frozenset(self._externals), self._complete)

    def _function(self, function: Function) -> None:
        if function.node in self._seen:
            return
        self._seen.add(function.node)
        self._complete &= not function.opaque
        if len(self._functions) >= MAX_FUNCTIONS:
            self._complete = False
            return
        self._functions.append(function)
        self._scopes.append((function.module.scope(function.node), function.module))

    def _name(self, name: str, loads: list[ast.Name], scope: Scope, module: Module) -> None:
        value = self.evaluator.value(loads[0], module, scope)
        if not isinstance(value.data, (RepoModule, External)):
            home = home_of(name, scope)
            if home is None or home is module.root or isinstance(value.data, (Function, Class)):
                self._take(value.data)
            return
        for load in loads:
            self._take(self.evaluator.value(_longest(load, module), module, scope).data)

    def _take(self, data: Any) -> None:
        if isinstance(data, Function):
            self._function(data)
        elif isinstance(data, (Class, Instance)):
            self._class(data.of if isinstance(data, Instance) else data)
        elif isinstance(data, External):
            self._externals.add(data.name)
            self._complete &= data.name.partition(".")[0] in _HARMLESS and data.name not in _ANYTHING
        elif isinstance(data, (Items, Entries)):
            for part in _parts(data):
                self._take(part.data)
        elif not isinstance(data, SCALARS):
            self._complete = False

    def _class(self, found: Class) -> None:
        if found.node in self._seen:
            return
        self._seen.add(found.node)
        self._complete &= not found.node.decorator_list
        self._scopes.append((found.module.scope(found.node), found.module))
        for base in (*found.node.bases, *(keyword.value for keyword in found.node.keywords)):
            self._take(self.evaluator.value(base, found.module, found.module.root).data)


def _longest(node: ast.expr, module: Module) -> ast.expr:
    """The whole dotted name that begins with a name: ``a.b.c``."""
    holder = module.parent(node)
    while isinstance(holder, ast.Attribute):
        node, holder = holder, module.parent(holder)
    return node


def _parts(data: Items | Entries) -> Iterator[Value]:
    if isinstance(data, Items):
        yield from data.items
    else:
        yield from (part for pair in data.pairs for part in pair)


def is_caught(statement: ast.AST, module: Module) -> bool:
    """Whether a ``try`` of the same function has clauses around the statement: what leaves it is then another exception."""
    node: ast.AST | None = statement
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        holder = module.parent(node)
        if isinstance(holder, (ast.Try, ast.TryStar)) and holder.handlers and node in holder.body:
            return True
        node = holder
    return False
