"""Public names that are imported when they are first used, so that importing a package costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def _meant(name: str, homes: Mapping[str, str]) -> str:
    from nsplugin.nearest import closest  # here: nobody pays for it who writes the names right

    near = None if name.startswith("__") else closest(name, homes)
    return f": did you mean {near!r}?" if near else ""


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's ``__getattr__``: each name comes from the module that ``homes`` says and is then kept in the package."""

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{_meant(name, homes)}", name=name)
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute
