"""When two JSON values are equal: numbers by value, truth values apart from numbers, objects whatever their order."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from nsplugin.json_schema.budget import Budget


def key(value: Any, budget: Budget) -> Hashable:
    """Something hashable that two JSON values share exactly when they are equal. Takes an eighth of a step a value."""
    budget.spend(0.125)
    if isinstance(value, dict):
        return "object", frozenset((name, key(item, budget)) for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return "array", tuple(key(item, budget) for item in value)
    return (type(value) is bool, value)
