"""One way of writing a JSON Schema, of the many that take the same values: so that equal ones compare as equal.

References are written out, ``allOf`` is merged, ``oneOf`` of branches that exclude each other becomes ``anyOf``, texts and
annotations are left out. What cannot be rewritten with certainty stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations
from typing import Any, Final

from nsplugin.json_schema.budget import Budget
from nsplugin.json_schema.equality import key
from nsplugin.pointers import split
from nsplugin.schema_texts import undescribed

Schema = dict[str, Any]
_IDLE: Final = frozenset(
    {"default", "readOnly", "writeOnly", "format", "$schema", "$comment", "discriminator", "$defs", "definitions"}
)
"""What decides nothing (spec/manifest.md M5: formats are no checks), and what only references lead to."""
_TYPES: Final = ("null", "boolean", "object", "array", "number", "string")
_MAX: Final = {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"}
_MIN: Final = {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"}
_OF_NAMES: Final = frozenset({"properties", "patternProperties", "additionalProperties"})
_OF_ITEMS: Final = frozenset({"items", "prefixItems", "contains", "minContains", "maxContains"})
_GROUPS: Final = (frozenset({"if", "then", "else"}), frozenset({"$ref"}))
_WHOLE: Final = frozenset({"unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor"})
"""Keywords that look beyond the schema that they stand in: nothing around them is moved."""
_NOTHING: Final[Mapping[str, Any]] = {
    "required": [],
    "properties": {},
    "patternProperties": {},
    "dependentRequired": {},
    "uniqueItems": False,
    **dict.fromkeys(("minLength", "minItems", "minProperties"), 0),
    "additionalProperties": {},
    "items": {},
    "propertyNames": {},
}
"""What a keyword says that says nothing."""
_NODES: Final = 5_000
_BRANCHES: Final = 20
_DEPTH: Final = 60
_BOUNDLESS: Final = Budget(steps=math.inf)
_VALUES: Final = 20
"""So many values of an ``enum`` count as much as a node."""


class _TooMuch(Exception):
    """The schema is too large, or refers to itself in a way that is not followed."""


def plain_form(schema: Any) -> Any:
    """A schema that takes exactly the same values, written plainly. Never raises and never follows a foreign reference."""
    bare = schema
    try:
        bare = undescribed(schema)
        return _Plain(bare).root()
    except (_TooMuch, RecursionError, TypeError, ValueError, AttributeError, LookupError):  # the last four: it is no schema
        return bare


class _Plain:
    """Rewrites one schema. A reference that stands inside itself stays, and leads to the rewritten ``$defs``."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.left = _NODES
        self.open: list[str] = []
        self.kept: dict[str, None] = {}

    def root(self) -> Any:
        """The whole schema, with the definitions that references are left to."""
        if not isinstance(self.schema, Mapping) or _mentions(self.schema, _WHOLE):
            return {} if self.schema is True else self.schema
        self.open = ["#"]
        found = self.of(self.schema)
        definitions: Schema = {}
        while left := [reference for reference in self.kept if reference != "#" and reference not in definitions]:
            if left[0].rpartition("/")[0] != "#/$defs":
                raise _TooMuch
            self.open = left[:1]
            definitions[left[0]] = self.of(self.target(left[0]))
        if "#" in self.kept and not isinstance(found, dict):
            raise _TooMuch
        named = {split(reference[1:])[1]: each for reference, each in definitions.items()}
        return {**found, "$defs": named} if named and isinstance(found, dict) else found

    def target(self, reference: str) -> Any:
        """What a local reference names."""
        found = self.schema
        for token in split(reference[1:]):
            if not isinstance(found, Mapping) or token not in found:
                raise _TooMuch
            found = found[token]
        return found

    def of(self, schema: Any) -> Any:
        """A schema anywhere inside, rewritten: a dict, or ``False``."""
        self.left -= 1
        if self.left < 0 or len(self.open) > _DEPTH:
            raise _TooMuch
        if schema is False:
            return False
        if not isinstance(schema, Mapping):
            return {}
        self.left -= named_size(schema) // _VALUES
        own = self._members({key: value for key, value in schema.items() if key not in _IDLE and key not in ("allOf", "$ref")})
        parts = [self.of(part) for part in schema.get("allOf", ()) if isinstance(schema.get("allOf"), list)]
        if "$ref" in schema:
            parts.insert(0, self._referred(schema["$ref"]))
        return _joined([own, *parts])

    def _referred(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise _TooMuch
        if reference in self.open:
            self.kept[reference] = None
            return {"$ref": reference}
        self.open.append(reference)
        found = self.of(self.target(reference))
        self.open.pop()
        return found

    def _members(self, schema: Schema) -> Any:
        found: Schema = {}
        for keyword, value in schema.items():
            if keyword in ("properties", "patternProperties", "dependentSchemas") and isinstance(value, Mapping):
                found[keyword] = {name: self.of(each) for name, each in value.items()}
            elif keyword in ("anyOf", "oneOf", "prefixItems") and isinstance(value, list):
                found[keyword] = [self.of(each) for each in value]
            elif keyword in ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"):
                found[keyword] = self.of(value)
            else:
                found[keyword] = value
        return _united(_tidied(found))


def _mentions(schema: Any, words: frozenset[str]) -> bool:
    if isinstance(schema, Mapping):
        return not words.isdisjoint(schema) or any(_mentions(each, words) for each in schema.values())
    return isinstance(schema, list) and any(_mentions(each, words) for each in schema)


def named_size(schema: Mapping[str, Any]) -> int:
    """How many values stand in the ones that a schema names."""
    waiting = [schema.get("enum"), schema.get("const")]
    for item in waiting:
        if isinstance(item, (dict, list, tuple)):
            waiting.extend(item.values() if isinstance(item, dict) else item)
    return len(waiting)


def _tidied(schema: Schema) -> Schema:
    """Without what says nothing; one type as a text, ``const`` as an ``enum`` of one."""
    if "const" in schema and "enum" not in schema:
        schema["enum"] = [schema.pop("const")]
    if isinstance(schema.get("type"), list) and len(schema["type"]) == 1:
        schema["type"] = schema["type"][0]
    return {key: value for key, value in schema.items() if not (key in _NOTHING and identical(value, _NOTHING[key]))}


def identical(left: Any, right: Any) -> bool:
    """Equal, and written in the same order: Python holds ``True == 1``, a schema does not."""
    return bool(left == right) and repr(left) == repr(right)


def _united(schema: Schema) -> Any:
    """With unions as plain as they can be."""
    if "oneOf" in schema and "anyOf" not in schema and isinstance(schema["oneOf"], list):
        taken = [branch for branch in schema["oneOf"] if branch is not False]
        if len(taken) <= _BRANCHES and all(_exclude(one, other) for one, other in combinations(taken, 2)):
            schema = {**{key: value for key, value in schema.items() if key != "oneOf"}, "anyOf": taken}
    if not isinstance(schema.get("anyOf"), list):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    branches = _flat(schema["anyOf"])
    if {} in branches:
        return rest
    if not branches:
        return False
    if all(branch.keys() == {"type"} for branch in branches):
        return _joined([rest, {"type": _one_or_all(name for branch in branches for name in named_types(branch))}])
    together = [_joined([rest, branch]) for branch in branches] if rest and len(branches) <= _BRANCHES else branches
    if any(isinstance(branch, dict) and "allOf" in branch for branch in together):
        return {**rest, "anyOf": branches}
    return together[0] if len(together) == 1 else {"anyOf": [branch for branch in together if branch is not False]}


def _flat(branches: Iterable[Any]) -> list[Schema]:
    found: dict[str, Schema] = {}
    for branch in branches:
        inner = branch["anyOf"] if isinstance(branch, dict) and branch.keys() == {"anyOf"} else [branch]
        found.update((repr(each), each) for each in inner if each is not False and repr(each) not in found)
    return list(found.values())


def named_types(schema: Any) -> list[Any]:
    """The types that a schema names, or else all."""
    names = schema.get("type", list(_TYPES)) if isinstance(schema, Mapping) else list(_TYPES)
    return names if isinstance(names, list) else [names]


def _one_or_all(names: Iterable[Any]) -> Any:
    found = list(dict.fromkeys(names))
    if "number" in found:
        found = [name for name in found if name != "integer"]
    return found[0] if len(found) == 1 else found


def _kinds(schema: Schema) -> set[str]:
    if isinstance(schema.get("enum"), list):
        return {_kind(value) for value in schema["enum"]}
    return {"number" if name == "integer" else str(name) for name in named_types(schema)}


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    kinds = ((int, "number"), (float, "number"), (str, "string"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "object")


def _exclude(one: Any, other: Any) -> bool:
    """Whether no value fits both: by type, by the values that are named, or by a property that both require."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one is False or other is False
    if not _kinds(one) & _kinds(other):
        return True
    if isinstance(one.get("enum"), list) and isinstance(other.get("enum"), list):
        return not common(one["enum"], other["enum"])
    if _kinds(one) & _kinds(other) != {"object"}:
        return False
    required = set(_listed(one, "required")) & set(_listed(other, "required"))
    mine, theirs = (schema.get("properties", {}) for schema in (one, other))
    return any(_exclude(mine[name], theirs[name]) for name in required if name in mine and name in theirs)


def _listed(schema: Schema, key: str) -> list[Any]:
    value = schema.get(key, [])
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def common(values: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """Those of the values that equal one of the others as JSON: numbers by value, ``true`` is not 1."""
    known = set(map(_key, others))
    return [value for value in values if _key(value) in known]


def absent(values: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """Those of the values that equal none of the others as JSON."""
    known = set(map(_key, others))
    return [value for value in values if _key(value) not in known]


def _key(value: Any) -> Hashable:
    return (False, value) if type(value) is str else key(value, _BOUNDLESS)


def _joined(parts: Iterable[Any]) -> Any:
    """One schema for what fits all of these; an ``allOf`` where they cannot be merged."""
    left: list[Schema] = []
    seen: set[str] = set()
    for part in parts:
        if part is False:
            return False
        if not part or repr(part) in seen:
            continue
        seen.add(repr(part))
        merged = _merged(left[0], part) if left else part
        if merged is False:
            return False
        left = [merged, *left[1:]] if merged is not None else [*left, part]
    if len(left) < 2:
        return left[0] if left else {}
    return {"allOf": left}


def _merged(one: Schema, other: Schema) -> Any:
    """Both in one, ``None`` where that cannot be said with their keywords."""
    if "allOf" in one or "allOf" in other or not _independent(one, other):
        return None
    found = dict(one)
    for keyword, value in other.items():
        if keyword not in found or identical(found[keyword], value):
            found[keyword] = value
            continue
        merged = _MERGE[keyword](found[keyword], value) if keyword in _MERGE else None
        if merged is None:
            return None
        found[keyword] = merged
    if found.get("type") == [] or found.get("enum") == []:
        return False
    return _tidied(found)


def _independent(one: Schema, other: Schema) -> bool:
    """Whether no keyword of one looks at what another of the other one says."""
    for group, closing in ((_OF_NAMES, _OF_NAMES - {"properties"}), (_OF_ITEMS, _OF_ITEMS - {"items"})):
        mine, theirs = group & one.keys(), group & other.keys()
        if mine and theirs and (mine | theirs) & closing:
            return False
    return not any(group & one.keys() and group & other.keys() for group in _GROUPS) and not {"$ref"} & {*one, *other}


def _common_types(one: Any, other: Any) -> Any:
    mine, theirs = (value if isinstance(value, list) else [value] for value in (one, other))
    found = [name for name in mine if name in theirs or (name == "integer" and "number" in theirs)]
    found += [name for name in theirs if name == "integer" and "number" in mine and name not in found]
    return _one_or_all(found)


def _common_values(one: Any, other: Any) -> Any:
    if not isinstance(one, list) or not isinstance(other, list):
        return None
    return common(one, other)


def _both_required(one: Any, other: Any) -> Any:
    return list(dict.fromkeys([*one, *other])) if isinstance(one, list) and isinstance(other, list) else None


def _both_properties(one: Any, other: Any) -> Any:
    found = dict(one)
    for name, schema in other.items():
        found[name] = _joined([found[name], schema]) if name in found else schema
    return found


def _highest(one: Any, other: Any) -> Any:
    return max(one, other) if _is_number(one) and _is_number(other) else None


def _lowest(one: Any, other: Any) -> Any:
    return min(one, other) if _is_number(one) and _is_number(other) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_MERGE: Final[Mapping[str, Any]] = {
    "type": _common_types,
    "enum": _common_values,
    "required": _both_required,
    "properties": _both_properties,
    "items": lambda one, other: _joined([one, other]),
    **dict.fromkeys(_MAX, _highest),
    **dict.fromkeys(_MIN, _lowest),
}
