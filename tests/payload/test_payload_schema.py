"""Payload schemas (spec/manifest.md M5): agreement with the jsonschema library, and what is unknown."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError
from pydantic import BaseModel, Field, JsonValue
from referencing import Registry

from nsplugin.frozen import freeze
from nsplugin.payload_schema import mismatches, schema_faults
from nsplugin.pointers import UNKNOWN, split

# Agreement with the library

NAMES = ("a", "b", "c")
names = st.sampled_from(NAMES)
patterns = st.sampled_from(["^a", "b$", "^[ab]*$", "c?", "a|b", "^.$", "x{2}", "[^a]"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 4) | st.sampled_from([0.5, 1.0, -2.0, 2.5]) | st.text("abc\u00e9", max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
counts = st.integers(0, 3)
bounds = st.integers(-2, 4) | st.sampled_from([0.5, 2.0])
types = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


def schemas(*, unevaluated: bool) -> st.SearchStrategy[Any]:
    """Schemas of draft 2020-12 over a small vocabulary, so that values often fit."""
    leaves = st.booleans() | st.just({}) | types.map(lambda name: {"type": name})
    return st.recursive(leaves, lambda inner: _objects(inner, unevaluated), max_leaves=6).map(_closed)


def _objects(inner: st.SearchStrategy[Any], unevaluated: bool) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    own: dict[str, st.SearchStrategy[Any]] = {
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "enum": st.lists(values, max_size=3),
        "const": values,
        "properties": st.dictionaries(names, inner, max_size=3),
        "patternProperties": st.dictionaries(patterns, inner, max_size=2),
        "additionalProperties": inner,
        "required": st.lists(names, max_size=3, unique=True),
        "propertyNames": st.just({"maxLength": 1}) | st.just({"pattern": "^[ab]"}) | st.booleans(),
        "dependentRequired": st.dictionaries(names, st.lists(names, max_size=2, unique=True), max_size=2),
        "dependentSchemas": st.dictionaries(names, inner, max_size=2),
        "items": inner,
        "prefixItems": some,
        "contains": inner,
        "minContains": counts,
        "maxContains": counts,
        "uniqueItems": st.booleans(),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "pattern": patterns,
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), bounds),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), counts),
        **dict.fromkeys(("allOf", "anyOf", "oneOf"), some),
        **dict.fromkeys(("not", "if", "then", "else"), inner),
        "$ref": st.sampled_from(["#/$defs/a", "#/$defs/b", "#anchor"]),
        "title": st.just("title"),
        "format": st.just("email"),
        "default": values,
    }
    if unevaluated:
        own |= dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), inner)
    return st.lists(st.sampled_from(sorted(own)), min_size=1, max_size=4, unique=True).flatmap(
        lambda keywords: st.fixed_dictionaries({keyword: own[keyword] for keyword in keywords})
    )


def _closed(schema: Any) -> Any:
    """The schema with definitions for its references, which do not refer on."""
    if not isinstance(schema, dict):
        return schema
    return {
        **schema,
        "$defs": {"a": {"type": "string"}, "b": {"items": {"type": "integer"}}, "c": {"$anchor": "anchor", "type": "object"}},
    }


def library(schema: Any) -> Draft202012Validator:
    return Draft202012Validator(schema, registry=Registry())


@given(schemas(unevaluated=False), values)
@settings(max_examples=400)
def test_a_value_fits_exactly_when_the_library_says_so(schema: Any, value: Any) -> None:
    assert list(schema_faults(schema, "")) == []
    assert (list(mismatches(value, schema, "")) == []) == library(schema).is_valid(value)


@given(schemas(unevaluated=True), values)
@settings(max_examples=200)
def test_what_is_unevaluated_is_what_the_library_calls_so(schema: Any, value: Any) -> None:
    assert (list(mismatches(value, schema, "")) == []) == library(schema).is_valid(value)


@given(schemas(unevaluated=False), values)
def test_every_mismatch_stands_at_a_place_of_the_value(schema: Any, value: Any) -> None:
    for found in mismatches(value, schema, "/cron/0/payload"):
        inside = value
        for token in split(found.pointer.removeprefix("/cron/0/payload")):
            inside = inside[token] if isinstance(inside, dict) else inside[int(token)]
        assert found.message.startswith("payload") and ": " in found.message


@given(schemas(unevaluated=False), values)
def test_frozen_and_plain_are_judged_alike(schema: Any, value: Any) -> None:
    assert list(mismatches(freeze(value), freeze(schema), "")) == list(mismatches(value, schema, ""))
    assert list(schema_faults(freeze(schema), "")) == list(schema_faults(schema, ""))


keywords = ["properties", "items", "anyOf", "required", "type", "minLength", "enum", "not", "$defs", "maximum", "pattern", "a"]
broken = st.recursive(
    schemas(unevaluated=True)
    | values
    | st.sampled_from([{"type": "int"}, {"required": True}, {"minLength": -1}, {"items": [{}]}]),
    lambda inner: (
        st.dictionaries(st.sampled_from(keywords), inner, max_size=3)
        | st.dictionaries(st.just("properties"), st.dictionaries(names, inner, max_size=2))
    ),
    max_leaves=5,
)


def is_schema(schema: Any) -> bool:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return True


@given(broken)
def test_a_schema_is_one_exactly_when_the_meta_schema_says_so(schema: Any) -> None:
    """What only we refuse (references that leave or lead nowhere, patterns that are none) is set aside."""
    ours = ("leads nowhere", "leads out", "regular expression", "refers to itself")
    found = [fault for fault in schema_faults(schema, "") if not any(words in fault.message for words in ours)]
    assert (found == []) == is_schema(schema)


@given(broken)
def test_a_schema_is_judged_at_a_glance_as_it_is_in_full(schema: Any) -> None:
    schema = json.loads(json.dumps(schema))  # what stands in two places is told once
    assert list(schema_faults(schema, "")) == list(schema_faults(freeze(schema), ""))


@given(broken, values)
def test_a_malformed_schema_never_raises(schema: Any, value: Any) -> None:
    list(mismatches(value, schema, ""))


class Leaf(BaseModel):
    kind: Literal["leaf"]
    size: int = Field(ge=0, le=9)
    note: str | None = Field(None, min_length=1)


class Tree(BaseModel):
    kind: Literal["tree"]
    children: list[Tree | Leaf] = Field([], max_length=3)
    extra: JsonValue = None
    by_name: dict[str, tuple[int, str]] = {}


TREE = Tree.model_json_schema()
leaf_values = st.fixed_dictionaries(
    {"kind": st.sampled_from(["leaf", "tree", "lead"]), "size": st.integers(-1, 10) | st.none()}
)
tree_values = st.recursive(
    leaf_values,
    lambda inner: st.fixed_dictionaries(
        {"kind": st.just("tree"), "children": st.lists(inner, max_size=4)}, optional={"extra": values}
    ),
    max_leaves=6,
)


@given(tree_values)
def test_models_schemas_agree_with_the_library(value: Any) -> None:
    found = list(mismatches(value, TREE, ""))
    assert (found == []) == library(TREE).is_valid(value)
    assert len({(fault.pointer, fault.message) for fault in found}) == len(found)


# What is unknown, and what is not JSON


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (UNKNOWN, False),
        ({"a": UNKNOWN}, {"properties": {"a": {"type": "string"}}}),
        ({UNKNOWN: 1}, {"required": ["a"], "minProperties": 3}),
        ([UNKNOWN], {"minItems": 3, "prefixItems": [{"type": "string"}, {"type": "string"}]}),
        ([UNKNOWN, 1], {"prefixItems": [{"type": "string"}, {"type": "string"}], "items": False}),
        ([UNKNOWN, UNKNOWN], {"uniqueItems": True}),
        ({"a": UNKNOWN}, {"enum": [{"a": 1}], "const": {"a": 1}}),
        ({"a": UNKNOWN}, {"not": {"required": ["a"]}}),
        ({"a": UNKNOWN}, {"oneOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"a": {"const": 2}}}]}),
        ({"a": UNKNOWN}, {"if": {"properties": {"a": {"const": 1}}}, "then": False, "else": False}),
        ([UNKNOWN], {"contains": {"const": 1}}),
        ({"a": UNKNOWN}, {"unevaluatedProperties": False}),
        (5, UNKNOWN),
        (5, {"type": UNKNOWN, "minimum": UNKNOWN, "enum": UNKNOWN, "$ref": UNKNOWN}),
        (5, {"type": ["string", UNKNOWN], "enum": ["a", UNKNOWN]}),
        ({"a": 1}, {"properties": {UNKNOWN: True}, "additionalProperties": False}),
        ("a", {"anyOf": [{"type": "null"}, UNKNOWN]}),
        ("a", {"not": UNKNOWN}),
    ],
)
def test_what_is_unknown_is_taken_to_fit(value: Any, schema: Any) -> None:
    assert list(schema_faults(schema, "")) == []
    assert list(mismatches(value, schema, "")) == []


@pytest.mark.parametrize(
    ("value", "schema", "pointers"),
    [
        ({"a": UNKNOWN, "b": 1}, {"properties": {"b": {"type": "string"}}}, ["/b"]),
        ({UNKNOWN: 1, "c": 1}, {"properties": {"a": {}}, "additionalProperties": False}, ["/c"]),
        ([UNKNOWN, 1, 2, 3], {"maxItems": 2, "items": {"type": "integer"}}, [""]),
        ([1, UNKNOWN, 1], {"uniqueItems": True}, ["/2"]),
    ],
)
def test_what_is_known_beside_it_is_judged(value: Any, schema: Any, pointers: list[str]) -> None:
    assert [found.pointer for found in mismatches(value, schema, "")] == pointers


@pytest.mark.parametrize("value", [(1, 2), {1}, float("nan"), float("inf"), object(), b"a"])
def test_what_is_not_json_is_for_another_rule(value: Any) -> None:
    assert list(mismatches({"a": value}, {"properties": {"a": {"type": "null"}}}, "")) == []


# Numbers and equality as JSON has them


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        (5.0, {"type": "integer"}, True),
        (True, {"type": "integer"}, False),
        (1, {"const": 1.0}, True),
        (1, {"const": True}, False),
        (0, {"enum": [False]}, False),
        ([1, True], {"uniqueItems": True}, True),
        ([1, 1.0], {"uniqueItems": True}, False),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}], {"uniqueItems": True}, False),
        (0.3, {"multipleOf": 0.1}, True),
        (1e300, {"multipleOf": 7e-300}, False),
        ("😀", {"maxLength": 1}, True),
        ("a\n", {"pattern": "^a$"}, False),
        ("ab", {"pattern": "b"}, True),
        ("a{b", {"pattern": "^a{b$"}, True),
        ("$", {"pattern": "^[$]\\$?$"}, True),
        ("é", {"pattern": "^\\p{L}$"}, True),
    ],
)
def test_json_has_its_own_ideas_of_equality(value: Any, schema: Any, fits: bool) -> None:
    assert (list(mismatches(value, schema, "")) == []) == fits


# Start-up


def test_a_models_schema_needs_no_library() -> None:
    """Neither jsonschema nor pydantic is imported, and ``regex`` only for a pattern."""
    program = (
        "import json, sys; from nsplugin.payload_schema import mismatches, schema_faults; "
        "schema, value = json.load(sys.stdin); found = [*schema_faults(schema, ''), *mismatches(value, schema, '')]; "
        "print(len(found), [name for name in ('jsonschema', 'pydantic', 'regex', 'referencing', 'fractions', 'urllib.parse') "
        "if name in sys.modules])"
    )
    given_ = json.dumps([TREE, {"kind": "tree", "children": [{"kind": "leaf", "size": "a"}]}])
    done = subprocess.run([sys.executable, "-c", program], input=given_, capture_output=True, text=True, check=True)
    assert done.stdout == "1 []\n"
