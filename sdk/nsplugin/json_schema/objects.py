"""Objects held against a schema."""

from __future__ import annotations

from collections.abc import Iterator
from operator import ge, le
from typing import TYPE_CHECKING, Any, Final

from nsplugin.json_schema.mismatch import Mismatch, Schema, mapped, names
from nsplugin.json_schema.scalars import Bound, size_fault
from nsplugin.json_schema.words import SHOWN, TYPE_WORDS, several
from nsplugin.place import Place
from nsplugin.pointers import UNKNOWN
from nsplugin.wording import quoted

if TYPE_CHECKING:
    from nsplugin.json_schema.evaluate import Evaluation

_SIZES: Final[tuple[Bound, ...]] = (("minProperties", ge, "at least"), ("maxProperties", le, "at most"))
_MOST: Final = _SIZES[1:]
_NAMING: Final = frozenset({"required", "additionalProperties"})
_SELDOM: Final = frozenset({"minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas"})


def object_mismatches(evaluation: Evaluation, value: dict[Any, Any], schema: Schema, place: Place) -> Iterator[Mismatch]:
    """Every mismatch of an object. Where a key is unknown, any further keys may be there."""
    evaluation.budget.spend(len(value))
    whole = UNKNOWN not in value
    if not _NAMING.isdisjoint(schema):
        strange = _strange(evaluation, value, schema)
        required = names(schema, "required") if whole else []
        missing = [name for name in required if name not in value]
        evaluation.budget.spend(len(required) // 8 + len(missing))
        yield from _named_wrongly(evaluation, strange, missing, schema, place)
    yield from _members(evaluation, value, schema, place)
    if not _SELDOM.isdisjoint(schema):
        wrong = size_fault(len(value) - (not whole), schema, _SIZES if whole else _MOST, "key")
        yield from [Mismatch(place, wrong)] if wrong else ()
        yield from _names(evaluation, value, schema, place)
        yield from _dependent(evaluation, value, schema, place, whole)


def _strange(evaluation: Evaluation, value: dict[Any, Any], schema: Schema) -> list[str]:
    """The keys that ``additionalProperties: false`` rules out."""
    properties = schema.get("properties")
    if schema.get("additionalProperties") is not False or (isinstance(properties, dict) and UNKNOWN in properties):
        return []
    return list(additional(evaluation, value, schema))


def additional(evaluation: Evaluation, value: dict[Any, Any], schema: Schema) -> Iterator[str]:
    """The keys that neither ``properties`` nor ``patternProperties`` speaks of."""
    properties, patterns = mapped(schema, "properties"), mapped(schema, "patternProperties")
    for name in value:
        if isinstance(name, str) and name not in properties and not any(fits_key(evaluation, each, name) for each in patterns):
            yield name


def fits_key(evaluation: Evaluation, pattern: Any, name: str) -> bool:
    """Whether a key matches a pattern of ``patternProperties``. One that cannot be used might match everything."""
    from nsplugin.json_schema.patterns import PatternError, search

    try:
        return not isinstance(pattern, str) or search(pattern, name, evaluation.budget)
    except PatternError:
        return True


def _named_wrongly(
    evaluation: Evaluation, strange: list[str], missing: list[str], schema: Schema, place: Place
) -> Iterator[Mismatch]:
    """Unknown and missing keys; a misspelt one is one mismatch, not two."""
    lacking, suggestion = dict.fromkeys(missing), evaluation.budget.suggestion
    properties = mapped(schema, "properties")
    if strange:
        evaluation.budget.spend(len(properties) // 8)
        known = [name for name in properties if isinstance(name, str)]
        others = f"known: {several(map(quoted, known[:SHOWN]), more=len(known[SHOWN:]))}" if known else "remove it"
        for name in strange:
            meant = suggestion(name, lacking) or suggestion(name, known)
            if meant in lacking:
                del lacking[meant]
            hint = f"did you mean {quoted(meant)}?" if meant else others
            yield Mismatch((place, name), f"unknown key {quoted(name)}", hint, "key")
    for name in lacking:
        yield Mismatch(place, f"{quoted(name)} is missing", f"add {quoted(name)}{_of_type(properties.get(name))}")


def _of_type(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return f": {TYPE_WORDS[kind]}" if isinstance(kind, str) and kind in TYPE_WORDS else ""


def _members(evaluation: Evaluation, value: dict[Any, Any], schema: Schema, place: Place) -> Iterator[Mismatch]:
    properties, others = mapped(schema, "properties"), schema.get("additionalProperties", True)
    for name, item in value.items() if properties else ():
        if name in properties:
            yield from evaluation.mismatches(item, properties[name], (place, name))
    for pattern, own in mapped(schema, "patternProperties").items() if value else ():
        for name in value:
            if isinstance(name, str) and isinstance(pattern, str) and fits_key(evaluation, pattern, name):
                yield from evaluation.mismatches(value[name], own, (place, name))
    for name in additional(evaluation, value, schema) if isinstance(others, dict) else ():
        yield from evaluation.mismatches(value[name], others, (place, name))


def _names(evaluation: Evaluation, value: dict[Any, Any], schema: Schema, place: Place) -> Iterator[Mismatch]:
    rule = schema.get("propertyNames", True)
    for name in value if rule is not True else ():
        if isinstance(name, str):
            for found in evaluation.mismatches(name, rule, place)[:1]:
                yield Mismatch((place, name), f"the key {quoted(name)}: {found.text}", found.hint, "key")


def _dependent(evaluation: Evaluation, value: dict[Any, Any], schema: Schema, place: Place, whole: bool) -> Iterator[Mismatch]:
    required, schemas = mapped(schema, "dependentRequired"), mapped(schema, "dependentSchemas")
    for name in value if whole and required else ():
        for other in names(required, name):
            evaluation.budget.spend()
            if other not in value:
                yield Mismatch(place, f"{quoted(other)} is missing: {quoted(name)} needs it")
    for name in value if schemas else ():
        if name in schemas:
            yield from evaluation.mismatches(value, schemas[name], place)
