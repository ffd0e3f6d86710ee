"""A payload schema without what is written in it for people only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_TEXTS: Final = frozenset(("title", "description", "examples", "deprecated", "$comment"))
_NAMED: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""Keywords whose value holds schemas by names of the author's choice."""
_INNER: Final = frozenset(
    {"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"}
    | {"anyOf", "oneOf", "allOf", "prefixItems", "unevaluatedItems", "unevaluatedProperties"}
)
_DEPTH: Final = 64


def undescribed(schema: Any, depth: int = 0) -> Any:
    """The schema without titles, descriptions, examples and comments: it takes exactly the same values.

    What lies deeper than any schema does is left as it is.
    """
    if depth > _DEPTH:
        return schema
    if isinstance(schema, list):
        return [undescribed(each, depth + 1) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _undescribed(key, value, depth + 1) for key, value in schema.items() if key not in _TEXTS}


def _undescribed(keyword: str, value: Any, depth: int) -> Any:
    if keyword in _NAMED and isinstance(value, Mapping):
        return {name: undescribed(each, depth + 1) for name, each in value.items()}
    return undescribed(value, depth) if keyword in _INNER else value
