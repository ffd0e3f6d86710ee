"""The goldens of payload schemas: what is said of faulty schemas and of payloads that do not fit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from nsplugin.payload_schema import mismatches, schema_faults
from nsplugin.rules import Found

FOLDER: Final = Path(__file__).parent / "payload"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(9, ge=0, multiple_of=3)


class Dog(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["dog"]
    name: str = Field(min_length=1, max_length=5, pattern="^[a-z]+$")


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    pets: list[Cat | Dog] = []
    id: int | str | None = None
    place: tuple[int, str] = (0, "")
    tags: set[str] = Field(set(), max_length=3)
    notes: dict[Annotated[str, StringConstraints(min_length=2)], int] = {}
    friend: Owner | None = None


SCHEMAS: Final[tuple[Any, ...]] = (
    5,
    [],
    {"type": "int"},
    {"type": "date"},
    {"type": ["string", "str", "none"]},
    {"type": []},
    {"properties": ["key"]},
    {"properties": {"a": {"type": "text"}, "b": 3, "c": {"minLength": -1}}},
    {"items": [{"type": "string"}]},
    {"properties": {"a": {"type": "string", "required": True}}},
    {"required": ["a", "a"]},
    {"minLength": "1", "maximum": "5", "multipleOf": 0, "uniqueItems": 1, "enum": "a", "anyOf": [], "pattern": 5, "title": 1},
    {"exclusiveMinimum": True, "minimum": 1},
    {"$defs": {"a": {"type": "object"}}, "$ref": "#/$defs/b"},
    {"$ref": "#/definitions/b"},
    {"$ref": "https://example.com/schema.json"},
    {"properties": {"a": {"$ref": "file:///etc/passwd"}, "b": {"$ref": "common.json#/a"}}},
    {"$ref": "#/title", "title": "a"},
    {"$ref": "#/default", "default": {"type": "strin"}},
    {"$ref": "#"},
    {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"},
    {"$schema": "http://json-schema.org/draft-07/schema#"},
    {"properties": {"a": {"$id": "https://example.com/a"}}},
    {"$id": "https://example.com/#a"},
    {"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a"}}},
    {"pattern": "("},
    {"patternProperties": {"[a-": {}, "^b": {"type": "strnig"}}},
    {"pattern": "(((a{9999}){9999}){9999}){9999}"},
    {"pattern": "(" * 500 + ")" * 500},
    {"pattern": "a(?R)?b"},
)

_OBJECT: Final = {
    "type": "object",
    "properties": {"key": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["key"],
    "additionalProperties": False,
}

PAYLOADS: Final[tuple[tuple[Any, Any], ...]] = (
    ({"type": "object", "properties": {"key": {"type": "string"}}}, {"key": 5}),
    (_OBJECT, {"kye": "a"}),
    (_OBJECT, {"key": "a", "colour": 1, "Count": 2}),
    (_OBJECT, {}),
    (_OBJECT, None),
    ({"type": ["string", "null"]}, 5.5),
    ({"type": "integer"}, True),
    ({"type": "integer"}, 5.5),
    ({"type": "string", "minLength": 3, "maxLength": 5, "pattern": "^[a-z]+$"}, "A"),
    ({"type": "string", "minLength": 3, "maxLength": 5, "pattern": "^[a-z]+$"}, "ABC"),
    ({"type": "string", "minLength": 3, "maxLength": 5, "pattern": "^[a-z]+$"}, "abcdef"),
    ({"pattern": "^a$"}, "a\n"),
    ({"minimum": 1, "maximum": 5}, 0),
    ({"exclusiveMinimum": 1, "exclusiveMaximum": 5}, 5),
    ({"multipleOf": 0.1}, 0.35),
    ({"enum": ["red", "green", 1, None, True]}, "gren"),
    ({"enum": [f"value{number}" for number in range(50)]}, "other"),
    ({"enum": []}, "a"),
    ({"const": "a"}, ["a"]),
    ({"items": {"type": "integer"}, "uniqueItems": True, "maxItems": 2}, [1, "x", 1, [2]]),
    ({"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}, ["a", "b", "c"]),
    ({"contains": {"type": "string"}, "minContains": 2}, [1, "a"]),
    ({"minProperties": 2, "propertyNames": {"pattern": "^[a-z]+$"}}, {"A": 1}),
    ({"patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": {"type": "string"}}, {"n_a": "x", "b": 1}),
    ({"dependentRequired": {"a": ["b", "c"]}}, {"a": 1, "c": 1}),
    ({"anyOf": [{"type": "string"}, {"type": "null"}, {"const": 5}]}, 6),
    ({"anyOf": [{"type": "string", "minLength": 3}, {"type": "null"}]}, "a"),
    ({"anyOf": [{"type": "object", "required": ["a"]}, {"title": "Pair", "type": "object", "required": ["b", "c"]}]}, {}),
    ({"oneOf": [{"type": "integer"}, {"title": "Any number", "type": "number"}]}, 3),
    ({"allOf": [{"required": ["a"]}, {"required": ["a", "b"]}]}, {}),
    ({"not": {"type": "string"}}, "a"),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}, {"a": 1}),
    ({"properties": {"a": True}, "unevaluatedProperties": False}, {"a": 1, "b": 2}),
    (False, {"a": 1}),
    ({"properties": {"a b": {"items": {"properties": {"d/e": {"type": "string"}}}}}}, {"a b": [{}, {"d/e": 1}]}),
    ({"items": {"type": "string"}}, [1] * 200),
)

OWNERS: Final[tuple[Any, ...]] = (
    {"pet": {"kind": "cat", "lives": 4}},
    {"pet": {"kind": "cow"}},
    {"pet": {}},
    {"pet": 3, "id": [], "place": [1], "tags": ["a", "b", "a", "c"], "notes": {"a": 1, "bb": "x"}},
    {"pet": {"kind": "dog", "name": "Toolong", "colour": 1}},
    {"pet": {"kind": "cat"}, "pets": [{"kind": "dog"}, {"kind": "cat", "lives": -1}, 5, {"kind": "cow"}]},
    {"pet": {"kind": "cat"}, "friend": {"pet": {"kind": "cat"}, "friend": {"pet": {"kind": "cat", "lives": "nine"}}}},
)


def files() -> Iterator[tuple[Path, bytes]]:
    """Each golden and what it should hold."""
    schemas = ((_json(schema), schema_faults(schema, "")) for schema in SCHEMAS)
    payloads = (
        (f"{_json(schema)}\n{_json(payload)}", mismatches(payload, schema, "/cron/0/payload")) for schema, payload in PAYLOADS
    )
    schema = Owner.model_json_schema()
    owners = ((_json(payload), mismatches(payload, schema, "")) for payload in OWNERS)
    for name, cases in (("schemas", schemas), ("payloads", payloads), ("models", owners)):
        yield FOLDER / f"{name}.golden.txt", "\n".join(f"{given}\n{_told(found)}" for given, found in cases).encode()


def _told(found: Iterable[Found]) -> str:
    lines = [_line(each) for each in found]
    return "".join(lines if len(lines) < 10 else [*lines[:2], f"  … {len(lines) - 3} more …\n", lines[-1]])


def _line(found: Found) -> str:
    hint = f"  [{found.hint}]" if found.hint else ""
    return f"  {found.pointer}{' (key)' if found.target == 'key' else ''} | {found.message}{hint}\n"


def _json(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 160 else text[:157] + "..."
