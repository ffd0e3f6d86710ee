"""A TypeScript module: a parsed file and what its names stand for."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from tree_sitter import Node

from nsplugin_cli.source.typescript_names import SCOPES, Bound, Names, names_of, scope_of
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

    def home(self, node: Node, name: str) -> tuple[int, Bound] | None:
        """The scope (its node's id) that binds a name as it is used at ``node``, and what it binds; ``None`` for a global."""
        mark = node.id, name
        if mark not in self._homes:
            self._homes[mark] = self._home(node, name)
        return self._homes[mark]

    def _home(self, node: Node, name: str) -> tuple[int, Bound] | None:
        around = node.parent
        while around is not None:
            if around.type in SCOPES:
                names = self._scope(around)
                if name in names:
                    return around.id, names[name]
            around = around.parent
        bound = self.names.bound
        return (self.root.id, bound[name]) if name in bound else None

    def _scope(self, scope: Node) -> dict[str, Bound]:
        if scope.id not in self._scopes:
            self._scopes[scope.id] = scope_of(self, scope)
        return self._scopes[scope.id]

    def binding(self, node: Node, name: str) -> Bound | object:
        """What a name stands for where it is used; :data:`UNBOUND` for a global."""
        found = self.home(node, name)
        return UNBOUND if found is None else found[1]
