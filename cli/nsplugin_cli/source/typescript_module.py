"""A TypeScript module: a parsed file and what its names stand for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final

from tree_sitter import Node

from nsplugin_cli.source.typescript_names import Bound, Names, names_of, scope_of
from nsplugin_cli.source.typescript_tree import Source

UNBOUND: Final = object()
"""What a name stands for that nothing in the module binds: a global."""


class Module(Source):
    """A parsed file whose names can be looked up. ``data`` is UTF-8 without a byte order mark."""

    @cached_property
    def names(self) -> Names:
        """The top level's bindings and exports."""
        return names_of(self)

    @cached_property
    def _scopes(self) -> dict[int, dict[str, Bound]]:
        return {}

    @cached_property
    def _homes(self) -> dict[tuple[int, str], tuple[int, Bound] | None]:
        return {}

    @cached_property
    def steadiness(self) -> dict[tuple[str, int, bool], bool]:
        """What was found out of names that hold objects: whether all that is done with them is to read them."""
        return {}

    @cached_property
    def written_members(self) -> dict[int, Any]:
        """What was found out of enums and classes, by their nodes."""
        return {}

    def home(self, node: Node, name: str) -> tuple[int, Bound] | None:
        """The scope (its node's id) that binds a name as it is used at ``node``, and what it binds; ``None`` for a global."""
        mark = node.id, name
        if mark not in self._homes:
            self._homes[mark] = self._home(node, name)
        return self._homes[mark]

    def _home(self, node: Node, name: str) -> tuple[int, Bound] | None:
        for scope in self._around(node):
            names = self._scope(scope)
            if name in names:
                return scope.id, names[name]
        bound = self.names.bound
        return (self.root.id, bound[name]) if name in bound else None

    def _around(self, node: Node) -> Iterator[Node]:
        """The scopes around a node, the nearest first. A node's own parents are not asked: each of them costs a walk."""
        starts, scopes, outer = self._nesting
        at = bisect_right(starts, node.start_byte) - 1 if node.id != self.root.id else -1
        while at >= 0:
            if scopes[at].end_byte >= node.end_byte and scopes[at].id != node.id:
                yield scopes[at]
            at = outer[at]

    @cached_property
    def _nesting(self) -> tuple[list[int], list[Node], list[int]]:
        """Where each scope starts, the scopes, and the index of the one around each (or -1)."""
        scopes = self.captured.get("scope", [])
        outer: list[int] = []
        open_: list[int] = []
        for at, scope in enumerate(scopes):
            while open_ and scopes[open_[-1]].end_byte <= scope.start_byte:
                open_.pop()
            outer.append(open_[-1] if open_ else -1)
            open_.append(at)
        return [scope.start_byte for scope in scopes], scopes, outer

    def _scope(self, scope: Node) -> dict[str, Bound]:
        if scope.id not in self._scopes:
            self._scopes[scope.id] = scope_of(self, scope)
        return self._scopes[scope.id]

    @cached_property
    def calls_by_name(self) -> dict[str, list[Node]]:
        """The calls that name a function outright, by that name."""
        found: dict[str, list[Node]] = {}
        for call in self.calls:
            called = call.child_by_field_name("function")
            if called is not None and called.type == "identifier":
                found.setdefault(self.text(called), []).append(call)
        return found

    @cached_property
    def made(self) -> dict[int, bool]:
        """What was found out of functions: whether loading the module calls them."""
        return {}

    def binding(self, node: Node, name: str) -> Bound | object:
        """What a name stands for where it is used; :data:`UNBOUND` for a global."""
        found = self.home(node, name)
        return UNBOUND if found is None else found[1]


def starred(module: Module, name: str, resolve: Callable[[str, str], Module | None]) -> tuple[list[Module], list[str]]:
    """Where ``export * from`` may have a name from: modules that export it themselves, and sources that are not found."""
    homes: list[Module] = []
    outside: list[str] = []
    seen, open_ = {module.path}, [module]
    for passing in open_:
        for source in passing.names.stars:
            target = resolve(source, passing.path)
            if target is None:
                outside.append(source)
            elif target.path not in seen:
                seen.add(target.path)
                (homes if name in target.names.exported else open_).append(target)
    return homes, outside
