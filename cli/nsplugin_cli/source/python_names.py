"""What a name stands for: its one binding, or nothing known."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any, Final

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_scopes import Scope
from nsplugin_cli.source.python_uses import Held, Uses
from nsplugin_cli.source.python_values import (
    SCALARS,
    Class,
    Entries,
    External,
    Items,
    RepoModule,
    Value,
    holds_mutable,
    is_mutable,
)

if TYPE_CHECKING:
    from nsplugin_cli.source.python_evaluate import Evaluator

SDK: Final = "nsplugin"
SDK_NAMES: Final = ("define_plugin", "define_job", "Job", "Cron", "Route", "Schedule", "RetryableError")
"""What ``from nsplugin import *`` may bring that matters here."""

_LEVELS: Final = 3
"""A name costs the interpreter's stack as much as this many nested expressions."""

_BUILTINS: Final = frozenset(dir(builtins))


class Names:
    """Looks names up for an evaluator, each binding once."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._known: dict[tuple[Scope, str], Any] = {}

    def release(self) -> None:
        """Forget what was found, and the evaluator."""
        self._known.clear()
        del self._evaluator

    def look_up(self, name: str, module: Module, scope: Scope, at: ast.AST) -> Any:
        """The data of a name used in a scope at a node, and the value it comes from: a :class:`Value` or data."""
        if name in self._evaluator.loops:
            return self._evaluator.loops[name]
        home = home_of(name, scope)
        if home is None:
            return self._unbound(name, module)
        if home is scope and _before(at, home.stores[name][0]):
            return UNKNOWN
        return self.bound(name, module, home)

    def exported(self, module: Module, name: str) -> Any:
        """What another module's name stands for after that module was loaded; ``None`` when it binds no such name."""
        if name not in module.root.stores:
            return None
        value = self.bound(name, module, module.root)
        data = value.data if isinstance(value, Value) else value
        filled_elsewhere = isinstance(data, (Items, Entries)) and is_mutable(data) and not list(_parts(data))
        return UNKNOWN if filled_elsewhere else value

    def bound(self, name: str, module: Module, home: Scope) -> Any:
        """What a name of this very scope stands for."""
        key = (home, name)
        if key in self._known:
            return self._known[key]
        evaluator, loops = self._evaluator, self._evaluator.loops
        if evaluator.is_deep:
            return UNKNOWN
        self._known[key] = UNKNOWN  # for as long as it is looked for: what it leads back to is not known
        evaluator.depth += _LEVELS
        evaluator.loops = {}
        self._known[key] = self._settled(name, module, home)
        evaluator.loops = loops
        evaluator.depth -= _LEVELS
        return self._known[key]

    def _settled(self, name: str, module: Module, home: Scope) -> Any:
        node = self._only_binding(name, module, home)
        if node is None:
            return UNKNOWN
        value = self._of_binding(node, module, home)
        data = value.data if isinstance(value, Value) else value
        if isinstance(data, (Items, Entries)) and is_mutable(data):
            held = Held(keyed=isinstance(data, Entries), deep=holds_mutable(data))
            if _has_other_names(module, node) or not Uses(module).leave_alone(home, name, held):
                return UNKNOWN
        return value

    def _only_binding(self, name: str, module: Module, home: Scope) -> ast.AST | None:
        nodes = home.stores[name]
        if len(nodes) > 1:
            return _agreeing_import(nodes, module)
        node = nodes[0]
        if name in module.declared_global or module.rebinds_anything:
            return node if isinstance(node, (ast.alias, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else None
        return None if home is module.root and module.stars and self._may_be_rebound(name, node, module) else node

    def _may_be_rebound(self, name: str, node: ast.AST, module: Module) -> bool:
        """Whether a later ``from … import *`` brings the name again. What is not known to bring an import's name does not."""
        for star in module.stars:
            other = self._evaluator.modules.find(module.path, _dotted(star)) if _before(node, star) else module
            brought = isinstance(node, ast.Name) if other is None else name in other.root.stores
            if brought and other is not module:
                return True
        return False

    def _unbound(self, name: str, module: Module) -> Any:
        for star in module.stars:
            source = _dotted(star)
            if source.partition(".")[0] == SDK:
                if name in SDK_NAMES:
                    return External(f"{source}.{name}")
                continue
            other = self._evaluator.modules.find(module.path, source)
            if other is None or other is module:
                return UNKNOWN
            value = self.exported(other, name) if not name.startswith("_") else None
            if value is not None:
                return UNKNOWN if self._is_set_elsewhere(name, value, module) else value
        return External(f"builtins.{name}") if name in _BUILTINS else UNKNOWN

    def _of_binding(self, node: ast.AST, module: Module, home: Scope) -> Any:
        if isinstance(node, ast.alias):
            return self._imported(node, module)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self._evaluator.function(node, module, home)
        if isinstance(node, ast.ClassDef):
            return Value(Class(node, module), node, module)
        return self._assigned(node, module, home) if isinstance(node, ast.Name) else UNKNOWN

    def _assigned(self, node: ast.Name, module: Module, home: Scope) -> Any:
        evaluate = self._evaluator.value
        match module.parent(node):
            case ast.Assign(targets=targets, value=value) if node in targets:
                return evaluate(value, module, home)
            case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                return evaluate(value, module, home)
            case ast.Tuple(elts=names) | ast.List(elts=names) as pattern:
                statement = module.parent(pattern)
                if isinstance(statement, ast.Assign) and pattern in statement.targets:
                    return self._unpacked(names, names.index(node), evaluate(statement.value, module, home))
        return UNKNOWN

    def _unpacked(self, names: list[ast.expr], index: int, value: Value) -> Any:
        data = value.data
        starred = any(isinstance(name, ast.Starred) for name in names)
        if not isinstance(data, Items) or data.kind is set or data.open or starred or len(data.items) != len(names):
            return UNKNOWN
        return data.items[index]

    def _imported(self, alias: ast.alias, module: Module) -> Any:
        statement = module.parent(alias)
        if isinstance(statement, ast.ImportFrom):
            return self._imported_from(_dotted(statement), alias.name, module)
        name = alias.name if alias.asname else alias.name.partition(".")[0]
        return self.of_module(name, module)

    def _imported_from(self, source: str, name: str, module: Module) -> Any:
        other = self._evaluator.modules.find(module.path, source)
        if other is not None:
            value = self.exported(other, name)
            if value is not None:
                return UNKNOWN if self._is_set_elsewhere(name, value, module) else value
        inner = source + ("" if source.endswith(".") else ".") + name
        found = self._evaluator.modules.find(module.path, inner)
        if found is not None:
            return RepoModule(found)
        return UNKNOWN if other is not None or source.startswith(".") else External(inner)

    def _is_set_elsewhere(self, name: str, value: Any, module: Module) -> bool:
        """Whether a module that is loaded too may give an imported name another value (``settings.N = 5``) before."""
        data = value.data if isinstance(value, Value) else value
        modules = self._evaluator.modules
        if isinstance(data, (*SCALARS, Items, Entries)):
            modules.read_all(module)
        return modules.may_set(name)

    def of_module(self, dotted: str, module: Module) -> Any:
        """A module by its absolute name: the repository's, or an external one."""
        other = self._evaluator.modules.find(module.path, dotted)
        return External(dotted) if other is None else RepoModule(other)


def home_of(name: str, scope: Scope) -> Scope | None:
    """The scope that binds a name used in ``scope``, ``None`` when none does."""
    current: Scope | None = scope
    while current is not None:
        if name in current.outer:
            current = _outermost(current) if current.outer[name] == "global" else current.parent
        elif name in current.stores and (current.kind != "class" or current is scope):
            return current
        else:
            current = current.parent
    return None


def _outermost(scope: Scope) -> Scope:
    while scope.parent is not None:
        scope = scope.parent
    return scope


def _parts(data: Items | Entries) -> Any:
    return data.items if isinstance(data, Items) else data.pairs


def _dotted(statement: ast.ImportFrom) -> str:
    return "." * statement.level + (statement.module or "")


def _before(first: ast.AST, second: ast.AST) -> bool:
    line, other = getattr(first, "lineno", 0), getattr(second, "lineno", 0)
    return line < other or (line == other and getattr(first, "col_offset", 0) < getattr(second, "col_offset", 0))


def _has_other_names(module: Module, node: ast.AST) -> bool:
    """Whether the same assignment gives its value to several targets (``a = b = {}``)."""
    statement = module.parent(node)
    return isinstance(statement, ast.Assign) and len(statement.targets) > 1


def _agreeing_import(nodes: list[ast.AST], module: Module) -> ast.AST | None:
    """The import that binds a name, when all other bindings import the same, or stand in for it where it is missing."""
    imports = [node for node in nodes if isinstance(node, ast.alias) and not _is_fallback(node, module)]
    others = [node for node in nodes if not isinstance(node, ast.alias) and not _is_fallback(node, module)]
    if not imports or others:
        return None
    origins = {_origin(node, module) for node in imports}
    return imports[0] if len(origins) == 1 else None


def _origin(alias: ast.alias, module: Module) -> str:
    statement = module.parent(alias)
    source = _dotted(statement) if isinstance(statement, ast.ImportFrom) else ""
    return f"{source}:{alias.name}"


def _is_fallback(node: ast.AST, module: Module) -> bool:
    """Whether a binding stands in an ``except`` clause for a failed import."""
    current: ast.AST | None = node
    while current is not None:
        holder = module.parent(current)
        if isinstance(current, ast.ExceptHandler) and isinstance(holder, (ast.Try, ast.TryStar)):
            return any(isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in holder.body)
        current = holder
    return False
