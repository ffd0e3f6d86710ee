"""Does a new payload schema refuse what the old one took? Queued payloads were written for the old one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from nsplugin.json_schema.budget import Budget
from nsplugin.pointers import join, split
from nsplugin.record import field, record, replace
from nsplugin.schema_bounds import BOUNDS, integers_only, narrower_bounds
from nsplugin.schema_equivalents import absent, common, identical, named_size, named_types, plain_form

_STEPS: Final = 5_000
_ANNOTATIONS: Final = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format"}
    | {"$schema", "$comment", "$defs"}
)
_KNOWN: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref"}
    | _ANNOTATIONS
    | BOUNDS
)

_ANY_TEXT: Final = ("", ".*", "^", "$", "^.*", ".*$", "^.*$")
"""Patterns that refuse nothing, or next to nothing."""

_FREE: Final = frozenset(
    {"type", "properties", "required", "minLength", "maxLength", "minItems", "minProperties", "minimum", "exclusiveMinimum"}
    | _ANNOTATIONS
)
"""With no other keywords, a schema of one of these types takes more values than anyone lists."""

_LISTABLE: Final[Mapping[str, list[Any]]] = {"null": [None], "boolean": [True, False]}
"""The types whose values can be listed."""

_SEES: Final[Mapping[str, tuple[str, ...]]] = {
    "unevaluatedProperties": ("properties", "patternProperties", "additionalProperties", "dependentSchemas"),
    "unevaluatedItems": ("items", "prefixItems", "contains"),
}
"""What a keyword leaves to others, besides those that apply schemas in place."""
_IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "if", "then", "else", "$ref")

_VALUES: Final = 50
"""So many values of an ``enum`` count as much as a schema."""

_SHOWN: Final = 20
"""How many values a message names."""

_UNSEEN: Final = frozenset({"oneOf", "allOf"})
"""With these, a schema may take less than its other keywords show: what those lose may never have been taken."""


@record
class Narrowing:
    """One place where the new schema refuses, or may refuse, what the old one took.

    ``pointer`` leads into the new schema. ``certain`` is false where the two could not be compared.
    """

    pointer: str
    message: str
    certain: bool = True


class _TooLarge(Exception):
    """The comparison is at its bound."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)
        self.pointer = pointer


@record(kw_only=False, frozen=False)
class _Comparison:
    old_root: Any
    new_root: Any
    same_roots: bool
    steps: int = 0
    seen: set[tuple[str, str]] = field(default_factory=set)
    budget: Budget = field(default_factory=Budget)


def narrowings(old: Any, new: Any) -> tuple[Narrowing, ...]:
    """Where ``new`` is narrower than ``old`` (both JSON Schemas, ``None`` for "anything goes").

    Empty means: every payload that the old schema takes, the new one takes as well. What cannot be compared is reported as
    not certain, never passed over. Never raises and never follows a reference outside the schema.
    """
    old_root, new_root = (True if schema is None else plain_form(schema) for schema in (old, new))
    found: dict[str, Narrowing] = {}
    try:
        comparison = _Comparison(old_root, new_root, identical(old_root, new_root))
        for item in _compare(comparison, old_root, new_root, ""):
            found.setdefault(item.pointer + item.message, item)
    except (_TooLarge, RecursionError) as end:
        pointer = end.pointer if isinstance(end, _TooLarge) else ""
        found[""] = Narrowing(pointer=pointer, message="is too large to compare", certain=False)
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
    old, new = _plain(old), _plain(new)
    comparison.steps += 1 + sum(named_size(schema) // _VALUES for schema in (old, new) if schema)
    if comparison.steps > _STEPS:
        raise _TooLarge(pointer)
    if new == {} or old is False or (comparison.same_roots and identical(old, new)):
        return
    if new is False:
        yield Narrowing(pointer=pointer, message="takes nothing any more")
        return
    if isinstance(old.get("enum"), list) and "$ref" not in repr((old, new)):
        yield from _named(comparison, old, new, pointer)
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


def _named(comparison: _Comparison, old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    """The old schema names its values: each can be asked."""
    before = _fitting(comparison, old["enum"], old)
    gone = absent(before, _fitting(comparison, before, new))
    if comparison.budget.exhausted:
        raise _TooLarge(pointer)
    if gone:
        place = join(pointer, "enum") if "enum" in new else pointer
        yield Narrowing(pointer=place, message=f"no longer takes {_several(gone)}")


def _fitting(comparison: _Comparison, values: list[Any], schema: Any) -> list[Any]:
    """Those of the values that a schema takes."""
    from nsplugin.payload_schema import mismatches

    if isinstance(schema.get("enum"), list):
        values = common(values, schema["enum"])
    rest = {keyword: value for keyword, value in schema.items() if keyword != "enum" and keyword not in _ANNOTATIONS}
    return [value for value in values if not any(mismatches(value, rest, "", budget=comparison.budget))] if rest else values


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
    names = named_types(schema)
    return [schema] if len(names) == 1 else [{**schema, "type": name} for name in names]


def _fits_one(comparison: _Comparison, schema: Any, branches: list[Any], pointer: str) -> bool:
    for branch in branches:
        before = set(comparison.seen)
        if not any(_compare(comparison, schema, branch, pointer)):
            return True
        comparison.seen = before  # what does not fit must not be taken to fit in the next branch
    return False


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
    elif "number" in old_types and integers_only(new) and not integers_only(old):
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


def _types(schema: Any) -> tuple[str, ...]:
    """The types that a schema lets through, "integer" counted as "number"."""
    if isinstance(schema, Mapping) and _named_values(schema):
        values = schema["enum"] if isinstance(schema.get("enum"), list) else [schema.get("const")]
        return tuple(dict.fromkeys(_type_of(value) for value in values))
    return tuple(dict.fromkeys("number" if name == "integer" else str(name) for name in named_types(schema)))


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
        before = old.get("enum", [old["const"]] if "const" in old else _listable(old))
        if not isinstance(before, list) or not isinstance(allowed, list):
            certain = old.keys() <= _FREE
            yield Narrowing(pointer=join(pointer, keyword), message="takes only a few named values now", certain=certain)
            continue
        gone = absent(before, allowed)
        if gone:
            yield Narrowing(pointer=join(pointer, keyword), message=f"no longer takes {_several(gone)}")


def _listable(schema: Any) -> list[Any] | None:
    """The values of a schema that takes some few by their type."""
    names = named_types(schema)
    return [value for name in names for value in _LISTABLE[name]] if set(names) <= _LISTABLE.keys() else None


def _bounds(old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    for keyword, message in narrower_bounds(old, new):
        yield Narrowing(pointer=join(pointer, keyword), message=message)


def _unknown_keywords(old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    for keyword, openers in _SEES.items():
        changed = any(old.get(name) != new.get(name) for name in (*openers, *_IN_PLACE))
        if new.get(keyword, True) not in (True, {}) and new[keyword] == old.get(keyword) and changed:
            yield Narrowing(pointer=join(pointer, keyword), message="may refuse what other keywords took before", certain=False)
    for keyword in new:
        if keyword == "multipleOf" and _divides(new[keyword], old.get(keyword, 1 if integers_only(old) else None)):
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
    required = dict.fromkeys(_list(new, "required")).keys() - set(_list(old, "required"))
    for name in _list(new, "required") if required else ():
        if name in required:
            yield Narrowing(pointer=join(pointer, "required"), message=f'requires "{name}" now')
    before, after = _mapping(old, "properties"), _mapping(new, "properties")
    for name in dict.fromkeys([*before, *after]):
        hidden = ("patternProperties" in old and name not in before) or ("patternProperties" in new and name not in after)
        found = _property(comparison, old, new, name, pointer)
        yield from (replace(item, certain=False) for item in found) if hidden else found
    was, now = old.get("additionalProperties", True), new.get("additionalProperties", True)
    if now is False and was is not False:
        yield Narrowing(pointer=join(pointer, "additionalProperties"), message="refuses further properties now")
    else:
        yield from _compare(comparison, was, now, join(pointer, "additionalProperties"))
    for pattern, was in _mapping(old, "patternProperties").items() if "patternProperties" not in new else ():
        for item in _compare(comparison, was, now, join(pointer, "additionalProperties")):
            yield replace(item, message=f"{item.message} where a key matched {_quoted(pattern)}", certain=False)


def _property(comparison: _Comparison, old: Any, new: Any, name: Any, pointer: str) -> Iterator[Narrowing]:
    """Whether the values of one property are still taken. One that a pattern may speak of might have taken any."""
    others = True if "patternProperties" in old else old.get("additionalProperties", True)
    was = _mapping(old, "properties").get(name, others)
    now = _mapping(new, "properties").get(name, new.get("additionalProperties", True))
    if now is False and was is not False:
        yield Narrowing(pointer=join(pointer, "properties"), message=f'no longer takes "{name}"')
    else:
        yield from _compare(comparison, was, now, join(pointer, "properties", name))


def _arrays(comparison: _Comparison, old: Any, new: Any, pointer: str) -> Iterator[Narrowing]:
    if "prefixItems" in old and "prefixItems" not in new:
        for was in _list(old, "prefixItems"):
            for item in _compare(comparison, was, new.get("items", True), join(pointer, "items")):
                yield replace(item, certain=False)
    yield from _compare(comparison, old.get("items", True), new.get("items", True), join(pointer, "items"))


def _list(schema: Any, key: str) -> list[Any]:
    value = schema.get(key)
    return value if isinstance(value, list) else []


def _mapping(schema: Any, key: str) -> Mapping[str, Any]:
    value = schema.get(key)
    return value if isinstance(value, Mapping) else {}


def _several(values: list[Any]) -> str:
    """Values in words; of many, the first."""
    shown = [_quoted(value) for value in values[:_SHOWN]]
    return _listed(shown if len(values) <= _SHOWN else [*shown, f"{len(values) - _SHOWN:,} others"])


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "…"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
