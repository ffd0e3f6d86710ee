"""Whether a module surely lacks the attributes that an entry is looked up by."""

from __future__ import annotations

import os
from collections.abc import Iterable

from nsplugin_cli.source.python_module import Module, Modules
from nsplugin_cli.source.python_names import SDK


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
    is_package = os.path.basename(module.path) == "__init__.py"  # noqa: PTH119
    return is_package and modules.find(module.path, f".{name}") is not None
