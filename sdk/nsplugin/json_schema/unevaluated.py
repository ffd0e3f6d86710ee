"""``unevaluatedProperties`` and ``unevaluatedItems``: what none of the schemas at work in a place has looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nsplugin.json_schema.mismatch import Mismatch, Schema, listed, mapped
from nsplugin.json_schema.objects import additional, fits_key
from nsplugin.place import Place
from nsplugin.wording import quoted

if TYPE_CHECKING:
    from nsplugin.json_schema.evaluate import Evaluation


def unevaluated_properties(evaluation: Evaluation, value: dict[Any, Any], schema: Schema, place: Place) -> Iterator[Mismatch]:
    """The mismatches of properties that no other keyword has looked at."""
    rule = schema["unevaluatedProperties"]
    seen = _seen(evaluation, value, {**schema, "unevaluatedProperties": None}, place)
    for name in [name for name in value if name not in seen and isinstance(name, str)]:
        if rule is False:
            yield Mismatch((place, name), f"unknown key {quoted(name)}", "remove it", "key")
        else:
            yield from evaluation.mismatches(value[name], rule, (place, name))


def unevaluated_items(evaluation: Evaluation, value: list[Any], schema: Schema, place: Place) -> Iterator[Mismatch]:
    """The mismatches of items that no other keyword has looked at."""
    rule = schema["unevaluatedItems"]
    seen = _seen(evaluation, value, {**schema, "unevaluatedItems": None}, place)
    for number, item in enumerate(value):
        if number not in seen:
            yield from evaluation.mismatches(item, rule, (place, str(number)))


def _seen(evaluation: Evaluation, value: Any, schema: Schema, place: Place) -> set[Any]:
    """The keys or positions that a schema which fits has looked at, itself or by the schemas that it applies in place."""
    seen = _own_items(evaluation, value, schema, place) if isinstance(value, list) else _own_keys(evaluation, value, schema)
    for branch in _applied(evaluation, value, schema, place):
        if isinstance(branch, dict) and not evaluation.mismatches(value, branch, place):
            seen |= _seen(evaluation, value, branch, place)
    return seen


def _own_keys(evaluation: Evaluation, value: dict[Any, Any], schema: Schema) -> set[Any]:
    if isinstance(schema.get("unevaluatedProperties"), (dict, bool)):
        return set(value)
    patterns = mapped(schema, "patternProperties")
    seen = {name for name in value if name in mapped(schema, "properties")}
    seen |= {name for name in value if isinstance(name, str) and any(fits_key(evaluation, each, name) for each in patterns)}
    if isinstance(schema.get("additionalProperties"), (dict, bool)):
        seen |= set(additional(evaluation, value, schema))
    return seen


def _own_items(evaluation: Evaluation, value: list[Any], schema: Schema, place: Place) -> set[int]:
    if any(isinstance(schema.get(keyword), (dict, bool)) for keyword in ("items", "unevaluatedItems")):
        return set(range(len(value)))
    seen = set(range(min(len(value), len(listed(schema, "prefixItems")))))
    if "contains" in schema:
        seen |= {number for number, item in enumerate(value) if not evaluation.mismatches(item, schema["contains"], place)}
    return seen


def _applied(evaluation: Evaluation, value: Any, schema: Schema, place: Place) -> Iterator[Any]:
    """The schemas that a schema applies to the same value."""
    if isinstance(schema.get("$ref"), str):
        yield evaluation.target(schema["$ref"])
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from listed(schema, keyword)
    if "if" in schema:
        fits = not evaluation.mismatches(value, schema["if"], place)
        yield from (schema["if"], schema.get("then")) if fits else (schema.get("else"),)
    if isinstance(value, dict):
        yield from (own for name, own in mapped(schema, "dependentSchemas").items() if name in value)
