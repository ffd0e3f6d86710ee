"""Pickling of definitions: handlers travel as the names of module attributes, as functions do everywhere in Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any


def resolved(module: str, qualified_name: str) -> Any:
    """The object of that name. Raises ``ImportError`` or ``AttributeError`` when there is none."""
    value: Any = import_module(module)
    for name in qualified_name.split("."):
        value = getattr(value, name)
    return value


def found_at(handler: Any) -> Any:
    """What stands where a function says that it is defined: itself, its decorated self, or ``None``."""
    if not isinstance(handler, FunctionType) or handler.__module__ not in sys.modules:
        return None
    try:
        return resolved(handler.__module__, handler.__qualname__)
    except AttributeError:
        return None


def importable(handler: Callable[..., Any], owner: str) -> Callable[..., Any]:
    """The handler, if pickle can name it. Raises ``PicklingError`` for a lambda or an inner function, saying what to do."""
    if isinstance(handler, FunctionType) and found_at(handler) is not handler:
        from pickle import PicklingError

        kind = "a lambda" if handler.__name__ == "<lambda>" else f"the function {handler.__qualname__}"
        message = f"{owner} cannot be pickled: its handler is {kind}, which no module attribute names"
        raise PicklingError(f"{message}; define it with def at the top level of a module")
    return handler
