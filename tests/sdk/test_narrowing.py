"""A payload schema that got narrower is found, and never missed."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nsplugin.narrowing import narrowings

OBJECT = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OBJECT, OBJECT),
        (OBJECT, None),
        (OBJECT, {"type": "object"}),
        ({"type": "integer"}, {"type": "number"}),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}),
        ({"const": 1}, {"enum": [1, 2]}),
        ({"type": "string"}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["string", "null", "boolean"]}),
        ({"type": "string", "minLength": 3}, {"type": "string", "minLength": 1}),
        ({"$ref": "#/$defs/A", "$defs": {"A": OBJECT}}, OBJECT),
        (OBJECT, {"$ref": "#/$defs/A", "$defs": {"A": OBJECT}}),
        ({"allOf": [OBJECT, {"required": ["at"]}]}, {**OBJECT, "required": ["at", "key"]}),
        ({**OBJECT, "required": ["at", "key"]}, {"allOf": [OBJECT, {"required": ["at"]}]}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"oneOf": [{"type": "null"}, {"type": "string"}]}),
        ({"type": ["string", "integer"], "minimum": 2}, {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]}),
        ({"enum": [5]}, {"type": "integer"}),
        ({"enum": ["x"]}, {"enum": ["x"], "pattern": "x"}),
        ({"enum": ["a", 5]}, {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]}),
        ({"type": "integer", "multipleOf": 4}, {"type": "integer", "multipleOf": 2}),
        ({"type": "integer"}, {"type": "integer", "multipleOf": 1}),
        ({"type": "string"}, {"type": "string", "minLength": 0}),
        ({"type": "array"}, {"type": "array", "minItems": 0}),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
        ({"type": "integer", "maximum": 9}, {"type": "integer", "exclusiveMaximum": 10}),
        ({"type": "integer", "minimum": 0.5}, {"type": "integer", "minimum": 1}),
        ({"type": "number", "exclusiveMinimum": 0}, {"type": "number", "minimum": 0}),
        ({"type": "number", "minimum": 1}, {"type": "number", "exclusiveMinimum": 0}),
        ({"type": "integer", "minimum": 10**400}, {"type": "integer", "minimum": 1}),
        (
            {"oneOf": [{"type": "string", "title": "A"}], "properties": {"title": True}},
            {"oneOf": [{"type": "string", "description": "B"}], "properties": {"title": {"title": "T"}}},
        ),
    ],
)
def test_wider_or_equal_says_nothing(old: Any, new: Any) -> None:
    assert narrowings(old, new) == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, {"type": "object"}, "/type: no longer takes null, boolean, array, number and string"),
        (OBJECT, {**OBJECT, "required": ["key", "at"]}, '/required: requires "at" now'),
        (
            {"type": "object"},
            {"type": "object", "additionalProperties": False},
            "/additionalProperties: refuses further properties now",
        ),
        ({"type": "number"}, {"type": "integer"}, "/type: takes whole numbers only now"),
        ({"type": "string"}, {"type": "string", "minLength": 1}, "/minLength: minLength is 1 now, had none before"),
        ({"type": "string", "maxLength": 9}, {"type": "string", "maxLength": 8}, "/maxLength: maxLength is 8 now, was 9"),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, '/enum: no longer takes "b"'),
        ({"type": "string"}, {"type": "string", "pattern": "x"}, "/pattern: pattern is new"),
        ({"const": True}, {"const": 1}, "/const: no longer takes true"),
        (
            {"type": "number", "minimum": 1},
            {"type": "number", "exclusiveMinimum": 1},
            "/exclusiveMinimum: exclusiveMinimum is 1 now, had none before",
        ),
        (
            {"type": "integer", "maximum": 9},
            {"type": "integer", "exclusiveMaximum": 9},
            "/exclusiveMaximum: exclusiveMaximum is 9 now, had none before",
        ),
        ({"type": "integer"}, {"type": "integer", "minimum": 0}, "/minimum: minimum is 0 now, had none before"),
        (
            {"type": "integer", "multipleOf": 4},
            {"type": "integer", "multipleOf": 3},
            "/multipleOf: multipleOf changed",
        ),
        (OBJECT, False, ": takes nothing any more"),
        ({"type": "string", "pattern": "x"}, {"type": "string", "pattern": "y"}, "/pattern: pattern changed (not certain)"),
        (
            {"type": "string", "maxLength": 1},
            {"type": "string", "maxLength": 1, "pattern": "x"},
            "/pattern: pattern is new (not certain)",
        ),
        ({"enum": ["x", "y"]}, {"type": "string", "pattern": "x"}, ': no longer takes "y"'),
        ({"type": "array"}, {"type": "array", "uniqueItems": True}, "/uniqueItems: uniqueItems is new"),
        (
            {"oneOf": [OBJECT, {"type": "object", "required": ["at"]}], "type": "object"},
            {"type": "object", "required": ["key"]},
            '/required: requires "key" now (not certain)',
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"type": "string"},
            "/type: no longer takes null",
        ),
        (OBJECT, {"$ref": "https://example.com/x"}, ": has a $ref that could not be followed (not certain)"),
    ],
)
def test_narrower_says_where_and_how(old: Any, new: Any, expected: str) -> None:
    found = [f"{item.pointer}: {item.message}{'' if item.certain else ' (not certain)'}" for item in narrowings(old, new)]
    assert found == [expected]


def test_recursive_schemas_end() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    assert narrowings(tree, tree) == ()
    assert narrowings(tree, {**tree, "required": ["next"]})


LEAVES = st.sampled_from(
    [
        True,
        {"type": "string"},
        {"type": "integer"},
        {"type": "number", "minimum": 2},
        {"type": "string", "minLength": 2},
        {"enum": ["a", 1, None]},
        {"const": "a"},
        {"type": "null"},
        {"type": ["string", "null"]},
        {"type": "string", "pattern": "^a"},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches}),
        inner.map(lambda items: {"type": "array", "items": items}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2)},
            optional={
                "required": st.sampled_from([["a"], ["b"], ["a", "b"]]),
                "additionalProperties": st.one_of(st.booleans(), inner),
            },
        ),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.sampled_from([None, True, 1, 3, 2.5, "", "a", "ab"]),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=4,
)


def test_silence_means_that_nothing_is_refused() -> None:
    taken = 0

    @settings(max_examples=300, deadline=None)
    @given(SCHEMAS, SCHEMAS, st.lists(VALUES, min_size=1, max_size=8))
    def silence(old: Any, new: Any, values: list[Any]) -> None:
        nonlocal taken
        if narrowings(old, new):
            return
        before, after = Draft202012Validator(old), Draft202012Validator(new)
        accepted = [value for value in values if before.is_valid(value)]
        taken += len(accepted)
        assert all(map(after.is_valid, accepted))

    silence()
    assert taken >= 5, "silence about nothing says nothing"


BOUNDS = st.integers(-2, 3) | st.sampled_from([-1.5, 0.5, 2.5])
NUMBERS = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number"])},
    optional={
        **dict.fromkeys(("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"), BOUNDS),
        "multipleOf": st.integers(1, 4),
    },
)
SAMPLES = [quarter / 4 for quarter in range(-20, 21)] + list(range(-5, 6))


def test_silence_about_numbers_means_that_none_is_refused() -> None:
    taken = 0

    @settings(max_examples=300, deadline=None)
    @given(NUMBERS, NUMBERS)
    def silence(old: Any, new: Any) -> None:
        nonlocal taken
        if narrowings(old, new):
            return
        before, after = Draft202012Validator(old), Draft202012Validator(new)
        accepted = [value for value in SAMPLES if before.is_valid(value)]
        taken += len(accepted)
        assert [value for value in accepted if not after.is_valid(value)] == []

    silence()
    assert taken >= 5, "silence about nothing says nothing"


UNCERTAIN: list[tuple[Any, Any, str]] = [
    (
        {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False},
        {"type": "object", "additionalProperties": False},
        "/additionalProperties",
    ),
    (
        {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False},
        {
            "type": "object",
            "properties": {"x1": {"type": "null"}},
            "patternProperties": {"^x": {}},
            "additionalProperties": False,
        },
        "/properties/x1/type",
    ),
    ({"type": "array", "prefixItems": [{}], "items": False}, {"type": "array", "items": False}, "/items"),
    (
        {"type": "object", "properties": {"a": {}}, "unevaluatedProperties": False},
        {"type": "object", "unevaluatedProperties": False},
        "/unevaluatedProperties",
    ),
    (
        {"type": "array", "allOf": [{"prefixItems": [True]}], "unevaluatedItems": False},
        {"type": "array", "unevaluatedItems": False},
        "/unevaluatedItems",
    ),
    ({"type": "integer", "minimum": 1, "maximum": 2}, {"enum": [1, 2]}, "/enum"),
]


@pytest.mark.parametrize(("old", "new", "pointer"), UNCERTAIN)
def test_what_opened_a_closed_schema_is_missed(old: Any, new: Any, pointer: str) -> None:
    assert {(item.pointer, item.certain) for item in narrowings(old, new)} == {(pointer, False)}


def test_contains_asks_for_one_item_unless_told_otherwise() -> None:
    old = {"type": "array", "contains": {"type": "null"}, "minContains": 0}
    (found,) = narrowings(old, {"type": "array", "contains": {"type": "null"}})
    assert (found.pointer, found.message) == ("/minContains", "minContains is 1 now, was 0")


def test_types_of_few_values_are_as_good_as_their_values() -> None:
    assert narrowings({"type": "boolean"}, {"enum": [True, False]}) == ()
    assert narrowings({"type": ["null", "boolean"]}, {"enum": [False, None, True, 5]}) == ()
    assert [item.message for item in narrowings({"type": "boolean"}, {"enum": [True, 0]})] == ["no longer takes false"]


def test_what_one_branch_refused_the_next_is_not_taken_to_take() -> None:
    def schema(name: str, most: int) -> Any:
        item = {"type": "object", "properties": {"price": {"$ref": "#/$defs/Money"}}, "required": ["price"]}
        holder = {"type": "object", "properties": {"item": {"$ref": "#/$defs/Item"}}, "required": ["item"]}
        money = {"type": "integer", "maximum": most}
        defs = {"Item": item, "Money": money, "A": holder, "B": {**holder, "title": "B"}}
        refers = {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]} if name == "both" else holder
        unseen = {"unevaluatedItems": False}  # where such a keyword stands, references are not written out
        return {**refers, "$defs": {**defs, "Unseen": unseen}}

    assert narrowings(schema("one", 100), schema("both", 50))
    assert narrowings(schema("one", 50), schema("both", 100)) == ()


NAMES = [f"a{number}" for number in range(20_000)]
OTHERS = [f"b{number}" for number in range(20_000)]


def chain(last: Any, links: int) -> Any:
    defs = {f"a{number}": {"$ref": f"#/$defs/a{number + 1}"} for number in range(links)}
    return {"$ref": "#/$defs/a0", "$defs": {**defs, f"a{links}": last}}


def shared(named: Any) -> Any:
    return {"properties": {f"p{number}": {"$ref": "#/$defs/a"} for number in range(3_000)}, "$defs": {"a": named}}


LARGE: list[tuple[Any, Any]] = [
    ({"enum": NAMES}, {"enum": OTHERS}),
    ({"enum": NAMES}, {"type": "string", "pattern": "^(?:a|aa)+b$"}),
    ({"type": "object", "required": NAMES}, {"type": "object", "required": OTHERS}),
    (chain({"type": "integer"}, 600), chain({"type": "string"}, 600)),
    (shared({"enum": NAMES}), shared({"enum": OTHERS})),
    (shared({"const": NAMES}), shared({"const": OTHERS})),
    ({"anyOf": [{"const": name, "minLength": 1} for name in NAMES]}, {"anyOf": [{"const": name} for name in OTHERS]}),
    ({"oneOf": [{"enum": NAMES[n::20]} for n in range(20)]}, {"oneOf": [{"enum": OTHERS[n::20]} for n in range(20)]}),
    ({"allOf": [{"pattern": name} for name in NAMES[:4_000]]}, {"allOf": [{"pattern": name} for name in OTHERS[:4_000]]}),
    ({"type": "array", "prefixItems": [{"type": "null"}] * 20_000}, {"type": "array", "items": {"enum": NAMES}}),
]


@pytest.mark.parametrize(("old", "new"), LARGE, ids=range(len(LARGE)))
def test_large_schemas_are_compared_in_time(old: Any, new: Any) -> None:
    """M6: never a hang. In CPU seconds; each takes about one."""
    started = time.process_time()
    assert narrowings(old, new)
    assert time.process_time() - started < 8
