"""A schema written another way takes the same values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nsplugin.schema_equivalents import plain_form

STRING, NULL = {"type": "string"}, {"type": "null"}
KEY = {"type": "object", "properties": {"key": STRING}, "required": ["key"]}
AT = {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}
CAT = {"type": "object", "properties": {"kind": {"const": "cat"}}, "required": ["kind"]}
DOG = {"type": "object", "properties": {"kind": {"enum": ["dog", "wolf"]}}, "required": ["kind"]}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}

EQUIVALENT: list[tuple[Any, Any]] = [
    ({"$ref": "#/$defs/A", "$defs": {"A": KEY}}, KEY),
    ({"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": STRING}}, {"type": "array", "items": STRING}),
    ({"$ref": "#/$defs/A", "minLength": 3, "$defs": {"A": STRING}}, {"type": "string", "minLength": 3}),
    ({"allOf": [KEY]}, KEY),
    (
        {"allOf": [STRING, {"minLength": 2}, {"minLength": 5, "maxLength": 9}]},
        {"type": "string", "minLength": 5, "maxLength": 9},
    ),
    (
        {"allOf": [KEY, AT]},
        {"type": "object", "properties": {"key": STRING, "at": {"type": "integer"}}, "required": ["key", "at"]},
    ),
    ({"allOf": [{"type": ["string", "integer"]}, {"type": ["number", "null"]}]}, {"type": "integer"}),
    ({"allOf": [{"enum": [1, "a"]}, {"enum": ["a", True]}]}, {"const": "a"}),
    ({"oneOf": [STRING, NULL]}, {"anyOf": [STRING, NULL]}),
    ({"oneOf": [CAT, DOG], "discriminator": {"propertyName": "kind"}}, {"anyOf": [CAT, DOG]}),
    ({"oneOf": [{"const": 1}, {"enum": [2, 3]}]}, {"anyOf": [{"const": 1}, {"enum": [2, 3]}]}),
    ({"anyOf": [STRING, NULL]}, {"type": ["string", "null"]}),
    ({"anyOf": [{"anyOf": [CAT, DOG]}, CAT]}, {"anyOf": [CAT, DOG]}),
    ({"anyOf": [KEY]}, KEY),
    ({"anyOf": [KEY, True]}, True),
    ({"type": ["string"], "minLength": 0}, STRING),
    ({**KEY, "additionalProperties": True, "title": "Key", "default": {}}, KEY),
    ({"type": "object", "required": [], "properties": {}}, {"type": "object"}),
]


@pytest.mark.parametrize(("one", "other"), EQUIVALENT)
def test_what_takes_the_same_is_written_the_same(one: Any, other: Any) -> None:
    assert plain_form(one) == plain_form(other)


APART: list[tuple[Any, Any]] = [
    ({"oneOf": [STRING, {"minLength": 3}]}, {"anyOf": [STRING, {"minLength": 3}]}),
    ({"oneOf": [KEY, AT]}, {"anyOf": [KEY, AT]}),
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, {"anyOf": [{"type": "integer"}, {"type": "number"}]}),
    ({"oneOf": [{"const": 1}, {"const": 1.0}]}, {"anyOf": [{"const": 1}, {"const": 1.0}]}),
    (
        {"allOf": [{**KEY, "additionalProperties": False}, AT]},
        {
            "type": "object",
            "properties": {"key": STRING, "at": {"type": "integer"}},
            "required": ["key", "at"],
            "additionalProperties": False,
        },
    ),
    ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, {"pattern": "b"}),
    ({"allOf": [{"anyOf": [KEY, AT]}, {"anyOf": [CAT, DOG]}]}, {"anyOf": [KEY, AT, CAT, DOG]}),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_takes_other_values_is_written_otherwise(one: Any, other: Any) -> None:
    assert plain_form(one) != plain_form(other)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
        {"type": "object", "properties": {"again": {"$ref": "#"}}},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
        {"$ref": "https://example.com/schema"},
        {"$ref": "#/$defs/None"},
        {"$ref": 5, "allOf": 5, "anyOf": 5, "oneOf": {}, "properties": [], "required": 5, "enum": 5, "type": 5},
        True,
        False,
        None,
        5,
    ],
)
def test_what_cannot_be_written_out_stays_and_nothing_raises(schema: Any) -> None:
    plain_form(schema)


def test_a_schema_that_doubles_ends() -> None:
    doubled = {f"A{n}": {"allOf": [{"$ref": f"#/$defs/A{n + 1}"}, {"$ref": f"#/$defs/A{n + 1}"}]} for n in range(60)}
    plain_form({"$ref": "#/$defs/A0", "$defs": {**doubled, "A60": STRING}})


LEAVES = st.sampled_from(
    [
        STRING,
        NULL,
        {"type": "integer", "minimum": 2},
        {"type": ["string", "null"]},
        {"enum": ["a", 1, None]},
        {"const": True},
        {"minLength": 2},
        {"maximum": 3},
        KEY,
        AT,
        CAT,
        DOG,
        {"additionalProperties": False},
        {"properties": {"key": {"minLength": 2}}, "additionalProperties": NULL},
        {"type": "array", "items": STRING},
        {"items": {"minLength": 2}},
        {"prefixItems": [STRING]},
        {"not": NULL},
        {"$ref": "#/$defs/A"},
        True,
        False,
        {},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "allOf": st.lists(inner, min_size=1, max_size=3),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "properties": st.dictionaries(st.sampled_from(["key", "at", "kind"]), inner, max_size=2),
            "items": inner,
            "type": st.sampled_from(["object", "array", "string", ["string", "object"]]),
            "minLength": st.integers(0, 3),
        },
    ),
    max_leaves=8,
)
VALUES = st.recursive(
    st.sampled_from([None, True, 1, 1.0, 2, 3.5, "", "a", "abc", "cat", "dog"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["key", "at", "kind", "x"]), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, st.sampled_from([KEY, STRING, {"anyOf": [CAT, NULL]}]), st.lists(VALUES, min_size=1, max_size=12))
def test_the_plain_form_takes_the_same_values(schema: Any, named: Any, values: list[Any]) -> None:
    whole = {"allOf": [schema], "$defs": {"A": named}}
    given_form, plain = Draft202012Validator(whole), Draft202012Validator(plain_form(whole))
    for value in values:
        assert given_form.is_valid(value) == plain.is_valid(value), (whole, plain_form(whole), value)
