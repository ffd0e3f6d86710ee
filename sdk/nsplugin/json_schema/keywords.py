"""The keywords of JSON Schema draft 2020-12 as data: the form that each one's value has, and where subschemas stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")

FORMS: Final[dict[str, str]] = {
    **dict.fromkeys(("$id", "$schema", "$ref", "$comment", "title", "description", "format", "pattern"), "text"),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), "text"),
    "$anchor": "anchor",
    "type": "types",
    "enum": "list",
    "examples": "list",
    "required": "names",
    "dependentRequired": "name lists",
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "number"),
    "multipleOf": "positive number",
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), "count"),
    **dict.fromkeys(("minContains", "maxContains"), "count"),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), "truth"),
    **dict.fromkeys(("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"), "schema"),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties", "contentSchema"), "schema"),
    **dict.fromkeys(("prefixItems", "allOf", "anyOf", "oneOf"), "schema list"),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"), "schemas by name"),
}
"""Keywords that are not here (``const``, ``default``, unknown ones) take any value."""

REFUSED: Final = frozenset({"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"})
"""Keywords whose meaning depends on where evaluation came from. pydantic writes none of them."""

IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
"""Keywords whose subschemas judge the same value again."""


def subschemas(schema: dict[Any, Any]) -> Iterator[tuple[str, tuple[str | int, ...], Any]]:
    """The values that stand in the places of subschemas: keyword, tokens from here, value (which may be none)."""
    for keyword, operand in schema.items():
        form = FORMS.get(keyword)
        if form == "schema":
            yield keyword, (keyword,), operand
        elif form == "schema list" and isinstance(operand, list):
            yield from ((keyword, (keyword, number), item) for number, item in enumerate(operand))
        elif form == "schemas by name" and isinstance(operand, dict):
            yield from ((keyword, (keyword, name), item) for name, item in operand.items())
