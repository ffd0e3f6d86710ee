"""Bounds of two JSON Schemas, of numbers and of sizes: which of the new one are narrower than the old one's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from nsplugin.json_schema.forms import is_number
from nsplugin.schema_equivalents import identical, named_types

_LOWER: Final[Mapping[str, int | None]] = {
    "minimum": None,
    "exclusiveMinimum": None,
    "minLength": 0,
    "minItems": 0,
    "minProperties": 0,
    "minContains": 1,
}
"""Lower bounds, and what each is when it is not given."""
_UPPER: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
BOUNDS: Final = frozenset({*_LOWER, *_UPPER})

_End = tuple[float, int]
"""A number and which side of it: ``(0, 1)`` is just above 0."""


def narrower_bounds(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Each bound of ``new`` that refuses what ``old`` took: its keyword, and what became of it."""
    if "contains" in new and "minContains" in old:
        new = {"minContains": _LOWER["minContains"], **new}
    for keyword, least in _LOWER.items():
        if keyword in new and not _holds_above(keyword, least, old, new):
            yield keyword, _change(keyword, old, new)
    for keyword in _UPPER:
        if keyword in new and not _holds_below(keyword, old, new):
            yield keyword, _change(keyword, old, new)


def integers_only(schema: Any) -> bool:
    """Whether a schema's numbers are whole ones."""
    names = named_types(schema)
    return "integer" in names and "number" not in names


def _change(keyword: str, old: Any, new: Any) -> str:
    before = f", was {old[keyword]}" if keyword in old else ", had none before"
    return f"{keyword} is {new[keyword]} now{before}"


def _holds_above(keyword: str, least: int | None, old: Any, new: Any) -> bool:
    """Whether the old schema alone keeps values above the new lower bound."""
    now = new[keyword]
    if not is_number(now):
        return identical(now, old.get(keyword))
    if least is not None:
        then = old.get(keyword)
        return now <= (then if is_number(then) else least)
    lowest = max(_ends(old, "minimum", "exclusiveMinimum", 1), default=None)
    return lowest is not None and lowest >= _end(keyword, now, integers_only(old), 1)


def _holds_below(keyword: str, old: Any, new: Any) -> bool:
    """Whether the old schema alone keeps values below the new upper bound."""
    now = new[keyword]
    if not is_number(now):
        return identical(now, old.get(keyword))
    if keyword not in ("maximum", "exclusiveMaximum"):
        then = old.get(keyword)
        return is_number(then) and now >= then
    highest = min(_ends(old, "maximum", "exclusiveMaximum", -1), default=None)
    return highest is not None and highest <= _end(keyword, now, integers_only(old), -1)


def _ends(schema: Any, inclusive: str, exclusive: str, inwards: int) -> Iterator[_End]:
    for keyword in (inclusive, exclusive):
        if is_number(schema.get(keyword)):
            yield _end(keyword, schema[keyword], integers_only(schema), inwards)


def _end(keyword: str, bound: float, whole: bool, inwards: int) -> _End:
    """The first value that a bound of numbers takes: itself, or just beside it; of whole numbers, the next whole one."""
    exclusive = keyword.startswith("exclusive")
    if not whole:
        return bound, inwards * exclusive
    first = math.ceil(bound) if inwards > 0 else math.floor(bound)
    return first + inwards * (exclusive and first == bound), 0
