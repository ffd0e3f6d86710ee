"""Does a new payload schema refuse what the old one took? Queued payloads were written for the old one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from nsplugin.pointers import join, split
from nsplugin.record import field, record, replace
from nsplugin.schema_equivalents import plain_form

_STEPS: Final = 5_000
_TYPES: Final = ("null", "boolean", "object", "array", "number", "string")
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
_KNOWN: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs"}
    | {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "$schema", "$comment"}
    | set(_LOWER)
    | set(_UPPER)
)
_ANNOTATIONS: Final = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "format",
        "$schema",
        "$comment",
        "$defs",
    }
)


_ANY_TEXT: Final = ("", ".*", "^", "$", "^.*", ".*$", "^.*$")
"""Patterns that refuse nothing, or next to nothing."""

_UNSEEN: Final = frozenset({"oneOf", "allOf"})
"""With these, a schema may take less than its other keywords show: what those lose may never have been taken."""

_End = tuple[float, int]
"""A number and which side of it: ``(0, 1)`` is just above 0."""


@record
class Narrowing:
    """One place where the new schema refuses, or may refuse, what the old one took.

    ``pointer`` leads into the new schema. ``certain`` is false where the two could not be compared.
    """

    pointer: str
    message: str
    certain: bool = True


@record(kw_only=False, frozen=False)
class _Comparison:
    old_root: Any
    new_root: Any
    steps: int = 0
    seen: set[tuple[str, str]] = field(default_factory=set)


def narrowings(old: Any, new: Any) -> tuple[Narrowing, ...]:
    """Where ``new`` is narrower than ``old`` (both JSON Schemas, ``None`` for "anything goes").

    Empty means: every payload that the old schema takes, the new one takes as well. What cannot be compared is reported as
    not certain, never passed over. Never raises and never follows a reference outside the schema.
    """
    old_root, new_root = (True if schema is None else plain_form(schema) for schema in (old, new))
    comparison = _Comparison(old_root, new_root)
    found = {item.pointer + item.message: item for item in _compare(comparison, old_root, new_root, "")}
    return tuple(replace(item, pointer=_as_written(item.pointer, new)) for item in found.values())


def _as_written(pointer: str, schema: Any) -> str:
    """A pointer into the plain form, where ``const`` is an ``enum`` of one value, as a pointer into the schema itself."""
    if not pointer.endswith("/enum"):
        return pointer
    holder = schema
    for token in split(pointer)[:-1]:
        holder = holder.get(token) if isinstance(holder, Mapping) else None
    is_const = isinstance(holder, Mapping) and "const" in holder and "enum" not in holder
    return pointer.removesuffix("enum") + "const" if is_const else pointer


def _compare(comparison: _Comparison, old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    comparison.steps += 1
    if comparison.steps > _STEPS:
        yield Narrowing(pointer=pointer, message="is too large to compare", certain=False)
        return
    old, new = _plain(old), _plain(new)
    if new == {} or old is False or (_equal(old, new) and _equal(comparison.old_root, comparison.new_root)):
        return
    if new is False:
        yield Narrowing(pointer=pointer, message="takes nothing any more")
        return
    if isinstance(old.get("enum"), list) and "$ref" not in repr((old, new)):
        yield from _named(old, new, pointer)
        return
    if "$ref" in old or "$ref" in new:
        yield from _referred(comparison, old, new, pointer)
        return
    if "anyOf" in old:
        yield from _old_union(comparison, old, new, pointer)
    elif "anyOf" in new:
        yield from _new_union(comparison, old, new, pointer)
    elif _UNSEEN & old.keys():
        yield from (replace(item, certain=False) for item in _keywords(comparison, old, new, pointer))
    else:
        yield from _keywords(comparison, old, new, pointer)


def _named(old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    """The old schema names its values: each can be asked."""
    from nsplugin.payload_schema import mismatches

    taken = [value for value in old["enum"] if not any(mismatches(value, old, ""))]
    gone = [value for value in taken if any(mismatches(value, new, ""))]
    if gone:
        place = join(pointer, "enum") if "enum" in new else pointer
        yield Narrowing(pointer=place, message=f"no longer takes {_listed([_quoted(value) for value in gone])}")


def _equal(left: Any, right: Any) -> bool:
    """Equal as JSON: Python holds ``True == 1``, a schema does not."""
    return bool(left == right) and repr(left) == repr(right)


def _plain(schema: Any) -> Any:
    if schema is True:
        return {}
    return schema if isinstance(schema, Mapping) or schema is False else {}


def _referred(comparison: _Comparison, old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    pair = (str(old.get("$ref")) + repr(id(old)), str(new.get("$ref")) + repr(id(new)))
    if pair in comparison.seen:
        return
    comparison.seen.add(pair)
    if "$ref" in old:
        old = _resolve(comparison.old_root, old)
    if "$ref" in new:
        new = _resolve(comparison.new_root, new)
    if old is None or new is None:
        yield Narrowing(pointer=pointer, message="has a $ref that could not be followed", certain=False)
        return
    yield from _compare(comparison, old, new, pointer)


def _resolve(root: Any, schema: Mapping[str, Any]) -> Any:
    """What a local reference names, or ``None``: also when keywords stand beside it, which would narrow it."""
    reference = schema["$ref"]
    if not isinstance(reference, str) or not reference.startswith("#") or set(schema) - _ANNOTATIONS != {"$ref"}:
        return None
    for token in split(reference[1:]):
        if not isinstance(root, Mapping) or token not in root:
            return None
        root = root[token]
    return root


def _old_union(comparison: _Comparison, old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    """Each branch that the old union took must be taken by the new schema."""
    if not isinstance(old["anyOf"], list) or not _only(old, "anyOf"):
        yield from _opaque(old, new, pointer)
        return
    for branch in old["anyOf"]:
        yield from _compare(comparison, branch, new, pointer)


def _new_union(comparison: _Comparison, old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    """The old schema must fit into one branch of the new union; a split over several branches is not certain."""
    if not isinstance(new["anyOf"], list) or not _only(new, "anyOf"):
        yield from _opaque(old, new, pointer)
        return
    parts = [part for part in _parts(old) if not _fits_one(comparison, part, new["anyOf"], pointer)]
    if not parts:
        return
    old_types = [name for part in parts for name in _types(part)]
    certain = any(not any(name in _types(branch) for branch in new["anyOf"]) for name in old_types)
    yield Narrowing(pointer=pointer, message="takes fewer kinds of value than before", certain=certain)


def _parts(schema: Any) -> list[Any]:
    """The schema by its values, or else by its types: what fits it fits one of these."""
    if isinstance(schema.get("enum"), list):
        return [{**schema, "enum": [value]} for value in schema["enum"]]
    names = _named_types(schema)
    return [schema] if len(names) == 1 else [{**schema, "type": name} for name in names]


def _fits_one(comparison: _Comparison, schema: Any, branches: list[Any], pointer: str) -> bool:
    return any(not list(_compare(comparison, schema, branch, pointer)) for branch in branches)


def _only(schema: Mapping[str, Any], keyword: str) -> bool:
    return set(schema) - _ANNOTATIONS == {keyword}


def _opaque(old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    if old != new:
        yield Narrowing(pointer=pointer, message="changed in a way that cannot be compared", certain=False)


def _keywords(comparison: _Comparison, old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    old_types, new_types = _types(old), _types(new)
    lost = [name for name in old_types if name not in new_types]
    if lost and not _named_values(new):
        yield Narrowing(pointer=join(pointer, "type"), message=f"no longer takes {_listed(lost)}")
    elif "number" in old_types and _integers_only(new) and not _integers_only(old):
        yield Narrowing(pointer=join(pointer, "type"), message="takes whole numbers only now")
    yield from _values(old, new, pointer)
    for compare in (_bounds, _unknown_keywords):
        yield from compare(old, new, pointer)
    if "object" in old_types and "object" in new_types:
        yield from _objects(comparison, old, new, pointer)
    if "array" in old_types and "array" in new_types:
        yield from _arrays(comparison, old, new, pointer)


def _named_values(schema: Any) -> bool:
    return "enum" in schema or "const" in schema


def _named_types(schema: Any) -> list[Any]:
    names = schema.get("type", list(_TYPES)) if isinstance(schema, Mapping) else list(_TYPES)
    return names if isinstance(names, list) else [names]


def _types(schema: Any) -> tuple[str, ...]:
    """The types that a schema lets through, "integer" counted as "number"."""
    if isinstance(schema, Mapping) and _named_values(schema):
        values = schema["enum"] if isinstance(schema.get("enum"), list) else [schema.get("const")]
        return tuple(dict.fromkeys(_type_of(value) for value in values))
    return tuple(dict.fromkeys("number" if name == "integer" else str(name) for name in _named_types(schema)))


def _integers_only(schema: Any) -> bool:
    names = _named_types(schema)
    return "integer" in names and "number" not in names


def _type_of(value: Any) -> str:
    kinds: tuple[tuple[type[Any], str], ...] = (
        (bool, "boolean"),
        (int, "number"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (Mapping, "object"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _values(old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    """Enumerations: every value that was allowed must still be."""
    for keyword in ("enum", "const"):
        if keyword not in new:
            continue
        allowed = new[keyword] if keyword == "enum" else [new[keyword]]
        before = old.get("enum", [old["const"]] if "const" in old else None)
        if not isinstance(before, list) or not isinstance(allowed, list):
            yield Narrowing(pointer=join(pointer, keyword), message="takes only a few named values now")
            continue
        gone = [value for value in before if not any(_same(value, other) for other in allowed)]
        if gone:
            yield Narrowing(pointer=join(pointer, keyword), message=f"no longer takes {_listed([_quoted(v) for v in gone])}")


def _same(left: Any, right: Any) -> bool:
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _bounds(old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    for keyword, least in _LOWER.items():
        if keyword in new and not _holds_above(keyword, least, old, new):
            yield _bound(pointer, keyword, old, new)
    for keyword in _UPPER:
        if keyword in new and not _holds_below(keyword, old, new):
            yield _bound(pointer, keyword, old, new)


def _holds_above(keyword: str, least: int | None, old: Any, new: Any) -> bool:
    """Whether the old schema alone keeps values above the new lower bound."""
    now = new[keyword]
    if not _is_number(now):
        return _equal(now, old.get(keyword))
    if least is not None:
        return bool(now <= _number_or(old.get(keyword), least))
    lowest = max(_ends(old, "minimum", "exclusiveMinimum", 1), default=None)
    return lowest is not None and lowest >= _end(keyword, now, _integers_only(old), 1)


def _holds_below(keyword: str, old: Any, new: Any) -> bool:
    """Whether the old schema alone keeps values below the new upper bound."""
    now = new[keyword]
    if not _is_number(now):
        return _equal(now, old.get(keyword))
    if keyword not in ("maximum", "exclusiveMaximum"):
        then = old.get(keyword)
        return _is_number(then) and bool(now >= then)
    highest = min(_ends(old, "maximum", "exclusiveMaximum", -1), default=None)
    return highest is not None and highest <= _end(keyword, now, _integers_only(old), -1)


def _ends(schema: Any, inclusive: str, exclusive: str, inwards: int) -> Iterator[_End]:
    for keyword in (inclusive, exclusive):
        if _is_number(schema.get(keyword)):
            yield _end(keyword, schema[keyword], _integers_only(schema), inwards)


def _end(keyword: str, bound: float, whole: bool, inwards: int) -> _End:
    """The first value that a bound of numbers takes: itself, or just beside it; of whole numbers, the next whole one."""
    exclusive = keyword.startswith("exclusive")
    if not whole:
        return bound, inwards * exclusive
    first = math.ceil(bound) if inwards > 0 else math.floor(bound)
    return first + inwards * (exclusive and first == bound), 0


def _is_number(value: Any) -> bool:
    return type(value) is int or (isinstance(value, float) and math.isfinite(value))


def _number_or(value: Any, least: int) -> Any:
    return value if _is_number(value) else least


def _bound(pointer: str, keyword: str, old: Any, new: Any) -> Narrowing:
    before = f", was {old[keyword]}" if keyword in old else ", had none before"
    return Narrowing(pointer=join(pointer, keyword), message=f"{keyword} is {new[keyword]} now{before}")


def _unknown_keywords(old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    for keyword in new:
        if keyword == "multipleOf" and _divides(new[keyword], old.get(keyword, 1 if _integers_only(old) else None)):
            continue
        if keyword not in _KNOWN and new[keyword] != old.get(keyword):
            what = f"{keyword} changed" if keyword in old else f"{keyword} is new"
            yield Narrowing(pointer=join(pointer, keyword), message=what, certain=_surely_narrows(keyword, old, new))


def _surely_narrows(keyword: str, old: Any, new: Any) -> bool:
    """Whether some value that fitted before does not fit now because of this keyword."""
    if _named_values(old):
        return False
    if keyword == "multipleOf":
        unbounded = not {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} & old.keys()
        return unbounded and "number" in _types(old) and type(new[keyword]) is int and type(old.get(keyword, 1)) is int
    if keyword in old:
        return False
    if keyword == "pattern":
        free = not {"maxLength", "minLength"} & old.keys() and new[keyword] not in _ANY_TEXT
        return free and "string" in _types(old)
    return keyword == "uniqueItems" and "array" in _types(old) and not {"items", "maxItems", "prefixItems"} & old.keys()


def _divides(now: Any, then: Any) -> bool:
    """Whether each multiple of ``then`` is one of ``now``; asked of whole numbers only, which divide without rounding."""
    return type(now) is int and type(then) is int and now > 0 and then % now == 0


def _objects(comparison: _Comparison, old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    required = [name for name in _list(new, "required") if name not in _list(old, "required")]
    for name in required:
        yield Narrowing(pointer=join(pointer, "required"), message=f'requires "{name}" now')
    before, after = _mapping(old, "properties"), _mapping(new, "properties")
    for name in dict.fromkeys([*before, *after]):
        was = before.get(name, old.get("additionalProperties", True))
        now = after.get(name, new.get("additionalProperties", True))
        if now is False and was is not False:
            yield Narrowing(pointer=join(pointer, "properties"), message=f'no longer takes "{name}"')
        else:
            yield from _compare(comparison, was, now, join(pointer, "properties", name))
    was, now = old.get("additionalProperties", True), new.get("additionalProperties", True)
    if now is False and was is not False:
        yield Narrowing(pointer=join(pointer, "additionalProperties"), message="refuses further properties now")
    else:
        yield from _compare(comparison, was, now, join(pointer, "additionalProperties"))


def _arrays(comparison: _Comparison, old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    yield from _compare(comparison, old.get("items", True), new.get("items", True), join(pointer, "items"))


def _list(schema: Any, key: str) -> list[Any]:
    value = schema.get(key)
    return value if isinstance(value, list) else []


def _mapping(schema: Any, key: str) -> Mapping[str, Any]:
    value = schema.get(key)
    return value if isinstance(value, Mapping) else {}


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "…"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
