"""Where what a TypeScript expression names comes from: a global, or an export of a module from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from nsplugin.record import record
from nsplugin_cli.source.typescript_module import UNBOUND, Module, starred
from nsplugin_cli.source.typescript_names import FUNCTIONS, Bound, Imported, Part, required
from nsplugin_cli.source.typescript_tree import literal_text, plain


@record(kw_only=False)
class Site:
    """Code of the repository that an expression stands for: a function, a class, an object, a constant."""

    module: Module
    node: Node


Origin = tuple[str, ...]
"""Module and names: ``("timers", "setInterval")``, a global's module is "". ``"()"`` stands for the result of a call."""
Resolve = Callable[[str, str], Module | None]
_GLOBAL: Final = frozenset(("globalThis", "window", "global", "self"))
_HOPS: Final = 20
_SITES: Final = (
    FUNCTIONS
    | {"class_declaration", "abstract_class_declaration", "class", "object", "array", "string", "number", "regex"}
    | {"template_string", "true", "false", "null", "binary_expression", "unary_expression"}
)


class Origins:
    """Follows names through bindings, destructuring, ``require``, and the modules of the repository."""

    def __init__(self, resolve: Resolve) -> None:
        self.resolve = resolve

    def of(self, module: Module, node: Node, hops: int = 0) -> Origin | Module | Site | None:
        """The origin of an expression; for code of the repository where that stands, or the whole module; else ``None``."""
        node = plain(node)
        if hops > _HOPS:
            return None
        if node.type == "identifier":
            return self._named(module, node, hops)
        if node.type in ("member_expression", "subscript_expression"):
            target, name = node.child_by_field_name("object"), member_name(module, node)
            return None if target is None or name is None else self._part(self.of(module, target, hops + 1), name, hops)
        if node.type in ("call_expression", "await_expression"):
            whole = required(module, node)
            if whole is not None:
                return self._module(module, Imported(whole, "*"), hops)
        return Site(module, node) if node.type in _SITES else self._made(module, node, hops)

    def _named(self, module: Module, node: Node, hops: int) -> Origin | Module | Site | None:
        name = module.text(node)
        bound = module.binding(node, name)
        if bound is UNBOUND:
            return ("",) if name in _GLOBAL else ("", name)
        return self._bound(module, bound, hops)  # type: ignore[arg-type]  # mypy cannot take the sentinel out of object

    def _made(self, module: Module, node: Node, hops: int) -> Origin | Site | None:
        made = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        found = self.of(module, made, hops + 1) if made is not None else None
        if isinstance(found, Site):
            return found if node.type == "new_expression" else None
        return (*found, "()") if isinstance(found, tuple) else None

    def _bound(self, module: Module, bound: Bound, hops: int) -> Origin | Module | Site | None:
        if isinstance(bound, Imported):
            return self._module(module, bound, hops)
        if isinstance(bound, Part):
            found = self.of(module, bound.value, hops + 1)
            for key in bound.keys:
                found = self._part(found, str(key), hops)
            return found
        return None if bound is None else self.of(module, bound, hops + 1)

    def _part(self, whole: Origin | Module | Site | None, name: str, hops: int) -> Origin | Module | Site | None:
        if isinstance(whole, Module):
            return self._export(whole, name, hops + 1)
        if whole is None or isinstance(whole, Site):
            return whole
        if whole[0] != "" and len(whole) == 1 and name == "default":
            return whole
        return whole if whole == ("",) and name in _GLOBAL else (*whole, name)

    def _module(self, module: Module, imported: Imported, hops: int) -> Origin | Module | Site | None:
        own = self.resolve(imported.source, module.path)
        if own is not None:
            whole = imported.name == "*" or (imported.name == "default" and "default" not in own.names.exported)
            return own if whole else self._export(own, imported.name, hops + 1)
        if imported.source.startswith("."):
            return None
        source = imported.source.removeprefix("node:")
        return (source,) if imported.name in ("*", "default") else (source, imported.name)

    def _export(self, module: Module, name: str, hops: int) -> Origin | Module | Site | None:
        if hops > _HOPS:
            return None
        if name not in module.names.exported:
            return self._starred(module, name, hops)
        exported = module.names.exported[name]
        if isinstance(exported, str):
            return self._bound(module, module.names.bound.get(exported), hops + 1)
        return self._bound(module, exported, hops + 1)

    def _starred(self, module: Module, name: str, hops: int) -> Origin | Module | Site | None:
        """What ``export * from`` passes on, if only one module can be meant."""
        homes, outside = starred(module, name, self.resolve)
        packages = [source for source in outside if not source.startswith(".")]
        if len(homes) + len(packages) != 1:
            return None
        if homes:
            return self._export(homes[0], name, hops + 1)
        return self._part(self._module(module, Imported(packages[0], "*"), hops), name, hops)


def member_name(module: Module, node: Node) -> str | None:
    """The name after the dot, or in brackets as a literal."""
    name = node.child_by_field_name("property")
    if name is not None:
        return module.text(name)
    index = node.child_by_field_name("index")
    return literal_text(module, plain(index)) if index is not None else None
