"""Whether a module surely lacks the attributes that an entry is looked up by, or holds something else in them."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nsplugin.platforms import Platform, every
from nsplugin.pointers import UNKNOWN
from nsplugin.spans import Span
from nsplugin_cli.source.python_handlers import described
from nsplugin_cli.source.python_module import Module, Modules
from nsplugin_cli.source.python_names import SDK
from nsplugin_cli.source.python_values import SCALARS, Class, Entries, Function, Items, Value

if TYPE_CHECKING:
    from nsplugin_cli.source.python_evaluate import Evaluator


def lacks(module: Module, modules: Modules, names: Iterable[str]) -> bool:
    """Whether loading the module binds none of these names, whatever it does: false where that cannot be told."""
    stores = module.root.stores
    if module.rebinds_anything or "__getattr__" in stores:
        return False
    if any(star.level or (star.module or "").partition(".")[0] != SDK for star in module.stars):
        return False
    return not any(_may_have(module, modules, name) for name in names)


def _may_have(module: Module, modules: Modules, name: str) -> bool:
    if name in module.root.stores or name in module.declared_global or modules.may_set(name):
        return True
    is_package = os.path.basename(module.path) == "__init__.py"
    return is_package and modules.find(module.path, f".{name}") is not None


def held_instead(module: Module, evaluator: Evaluator, names: Sequence[str]) -> tuple[str, str, Span] | None:
    """What the attributes surely hold in place of a definition: platform, attribute's value in words, and its place."""
    own = [platform for platform in every() if platform.layout.attribute in names]
    present = [platform for platform in own if platform.layout.attribute in module.root.stores]
    if len(own) != len(names) or not present or module.rebinds_anything:
        return None
    found = [(platform, _assigned(platform.layout.attribute, module, evaluator)) for platform in present]
    if not all(_is_other(platform, value, len(names)) for platform, value in found):
        return None
    platform, value = found[0]
    return platform.name, described(value).described, module.text.span_of(value.node)


def _assigned(name: str, module: Module, evaluator: Evaluator) -> Value:
    """What a name is assigned once, at the place where that is written; unknown where it is bound in another way."""
    node = module.root.stores[name][0]
    statement = module.parent(node)
    if not isinstance(node, ast.Name) or not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return Value(UNKNOWN, node, module)
    found = evaluator.names.bound(name, module, module.root)
    return Value(found.data if isinstance(found, Value) else found, statement.value, module)


def _is_other(platform: Platform, value: Value, candidates: int) -> bool:
    """Whether a value is surely no definition. A list of an attribute that was named may be one of either platform."""
    if isinstance(value.data, Items):
        return value.data.kind is set or (platform.layout.jobs == "mapping" and candidates > 1)
    return isinstance(value.data, (*SCALARS, Entries, Class)) or (isinstance(value.data, Function) and not value.data.opaque)
