"""Python modules as the reader holds them, and the repository's other modules, found through ``resolve``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Final

from nsplugin.lazy import pattern
from nsplugin_cli.source.definition import Resolve
from nsplugin_cli.source.python_scopes import Scope, Tree, inner_scopes
from nsplugin_cli.source.python_text import Text, Unreadable, decode, parse

MAX_MODULES: Final = 200
"""How many other modules one file may lead to."""

_REBINDING: Final = pattern(r"\b(?:globals|exec)\s*\(|\bvars\s*\(\s*\)|\bmodules\s*\[\s*__name__")
_REBINDERS: Final = ("globals", "exec", "vars", "modules")
"""A quick look for words comes before the slower one for what they stand in."""
NEVER_OURS: Final = sys.stdlib_module_names | {"nsplugin", "pydantic"}
"""Modules that are looked for in no repository."""


class Module:
    """A parsed module: its text, scopes and parents."""

    def __init__(self, path: str, text: Text, tree: Tree) -> None:
        self.path = path
        self.text = text
        self.tree = tree
        self.root = tree.root

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds a node."""
        return self.tree.parents.get(node)

    @cached_property
    def rebinds_anything(self) -> bool:
        """Whether names may be bound by code that does not name them: ``globals()``, ``exec``."""
        source = self.text.source
        return any(word in source for word in _REBINDERS) and _REBINDING.search(source) is not None

    @cached_property
    def declared_global(self) -> frozenset[str]:
        """Names that some function declares ``global`` or ``nonlocal``."""
        source = self.text.source
        if "global" not in source and "nonlocal" not in source:
            return frozenset()
        return frozenset(name for scope in inner_scopes(self.root) for name in scope.outer)

    @cached_property
    def stars(self) -> tuple[ast.ImportFrom, ...]:
        """The ``from … import *`` of the module, in order."""
        found = (self.parent(node) for node in self.root.stores.get("*", ()))
        return tuple(sorted((node for node in found if isinstance(node, ast.ImportFrom)), key=lambda node: node.lineno))

    def imports(self) -> Iterator[str]:
        """The modules that its top level loads, packages around them included, and what it takes from them, modules or not."""
        aliases = [node for nodes in self.root.stores.values() for node in nodes if isinstance(node, ast.alias)]
        for alias in aliases:
            statement = self.parent(alias)
            name = alias.name
            if isinstance(statement, ast.ImportFrom):
                source = "." * statement.level + (statement.module or "")
                name = source + ("" if source.endswith(".") else ".") + name
            dots = [index for index, sign in enumerate(name) if sign == "." and name[:index].strip(".")]
            yield from (name[:index] for index in dots)
            yield name

    def may_set(self, name: str) -> bool:
        """Whether code of this module may set an attribute of this name of a class or a module."""
        return name in self._attributes_set or None in self._attributes_set

    @cached_property
    def _attributes_set(self) -> frozenset[str | None]:
        """The names of attributes that are set, other than on ``self``; ``None`` for a name that is not known."""
        return frozenset(attributes_set(self.root.node))

    def scope(self, node: ast.AST) -> Scope:
        """The scope that a function, lambda or class opens."""
        return self.tree.scopes[node]


_SETTERS: Final = frozenset(("setattr", "delattr", "__setattr__", "__delattr__"))


def attributes_set(tree: ast.AST) -> Iterator[str | None]:
    """The attributes that code sets: by an assignment, by ``setattr`` or through ``__dict__``."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self")):
                continue
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name(id="vars"), args=[_]):
                yield None
            case ast.Call(func=ast.Name(id=function) | ast.Attribute(attr=function)) if function in _SETTERS:
                yield _named(node.args)


def _named(arguments: list[ast.expr]) -> str | None:
    match arguments:
        case [_, ast.Constant(value=str(name)), *_]:
            return name
    return None


def read_module(path: str, data: bytes) -> Module:
    """A module from its bytes. Raises :class:`~nsplugin_cli.source.python_text.Unreadable`."""
    text = decode(data)
    return Module(path, text, Tree(parse(text)))


@lru_cache(maxsize=64)
def _kept(path: str, data: bytes) -> Module | None:
    try:
        return read_module(path, data)
    except Unreadable:
        return None


class Modules:
    """The other modules of the repository, each read once, at most :data:`MAX_MODULES`."""

    def __init__(self, resolve: Resolve | None) -> None:
        self._resolve = resolve
        self._found: dict[tuple[str, str], Module | None] = {}
        self._paths: dict[str, Module | None] = {}
        self._followed: set[str] = set()

    @property
    def may_be_found(self) -> bool:
        """Whether other modules are looked for at all."""
        return self._resolve is not None

    def add(self, module: Module) -> None:
        """Make a module known that was read elsewhere, so that it is not read again when another imports it."""
        self._paths[module.path] = module

    def may_set(self, name: str) -> bool:
        """Whether any module read so far may set an attribute of this name."""
        return any(module.may_set(name) for module in self._paths.values() if module is not None)

    def read_all(self, module: Module) -> None:
        """Read what loading a module imports, and what that imports in turn: any of it may set attributes of the others."""
        pending = [module]
        while pending:
            current = pending.pop()
            if current.path not in self._followed:
                self._followed.add(current.path)
                found = (self.find(current.path, name) for name in current.imports())
                pending.extend(other for other in found if other is not None)

    def find(self, importer: str, dotted: str) -> Module | None:
        """The repository's module that this import names, ``None`` for any other."""
        if self._resolve is None or dotted.partition(".")[0] in NEVER_OURS:
            return None
        key = (importer, dotted)
        if key not in self._found:
            self._found[key] = self._read(self._resolve(importer, dotted))
        return self._found[key]

    def _read(self, found: tuple[str, bytes] | None) -> Module | None:
        if found is None:
            return None
        path, data = found
        if path not in self._paths:
            self._paths[path] = _kept(path, data) if len(self._paths) < MAX_MODULES else None
        return self._paths[path]
