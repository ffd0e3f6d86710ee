"""What is done when it is first needed, so that a start does not pay for it: imports of public names, regular expressions."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, AnyStr, cast


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


class _Pattern:
    """Stands for a regular expression and becomes its methods when one is asked for."""

    __slots__ = ("__dict__", "_flags", "_text")

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, value)
        return value


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A regular expression that is compiled when it is first used: a start pays for none that its run does not need."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))
