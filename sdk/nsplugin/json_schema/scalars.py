"""Strings and numbers held against a schema. Of one string or number the first mismatch is told: the others follow from it."""

from __future__ import annotations

from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import Any, Final

from nsplugin.json_schema.budget import Budget
from nsplugin.json_schema.forms import is_count, is_number
from nsplugin.json_schema.mismatch import Schema
from nsplugin.json_schema.words import shown
from nsplugin.wording import clipped, counted

Bound = tuple[str, Callable[[Any, Any], bool], str]

_LENGTHS: Final[tuple[Bound, ...]] = (("minLength", ge, "at least"), ("maxLength", le, "at most"))
_BOUNDS: Final[tuple[Bound, ...]] = (
    ("minimum", ge, "at least"),
    ("maximum", le, "at most"),
    ("exclusiveMinimum", gt, "more than"),
    ("exclusiveMaximum", lt, "less than"),
)


def size_fault(size: int, schema: Schema, bounds: tuple[Bound, ...], noun: str) -> str | None:
    """What is wrong with a number of characters, items or keys."""
    for keyword, holds, words in bounds:
        bound = schema.get(keyword)
        if bound is not None and is_count(bound) and not holds(size, bound):
            return f"expected {words} {counted(int(bound), noun)}, got {size:,}"
    return None


def string_fault(value: str, schema: Schema, budget: Budget) -> str | None:
    """What is wrong with a string."""
    wrong = size_fault(len(value), schema, _LENGTHS, "character")
    pattern = schema.get("pattern")
    if wrong or not isinstance(pattern, str):
        return wrong
    from nsplugin.json_schema.patterns import PatternError, search

    try:
        return None if search(pattern, value, budget) else f"expected text that matches {clipped(pattern)}, got {shown(value)}"
    except PatternError:
        return None


def number_fault(value: float, schema: Schema) -> str | None:
    """What is wrong with a number."""
    for keyword, holds, words in _BOUNDS:
        bound = schema.get(keyword)
        if bound is not None and is_number(bound) and not holds(value, bound):
            return f"expected {words} {shown(bound)}, got {shown(value)}"
    step = schema.get("multipleOf")
    if is_number(step) and step > 0 and not _is_multiple(value, step):
        return f"expected a multiple of {shown(step)}, got {shown(value)}"
    return None


def _is_multiple(value: float, step: float) -> bool:
    """Exact in the decimal digits that were written: 0.3 is a multiple of 0.1."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    from fractions import Fraction

    return Fraction(repr(value)) % Fraction(repr(step)) == 0
