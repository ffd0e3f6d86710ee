"""Payload schemas (spec/manifest.md M5): what would take for ever ends in one finding, and no reference leaves the schema."""

from __future__ import annotations

import json
import socket
import urllib.request
from typing import Any

import pytest

from nsplugin.payload_schema import Budget, mismatches, schema_faults
from nsplugin.rules import Found


def only(found: Any) -> Found:
    (one,) = found
    assert isinstance(one, Found)
    return one


BRANCHING: dict[str, Any] = {
    "$ref": "#/$defs/a0",
    "$defs": {**{f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}, "a40": {"type": "string"}},
}


def test_branches_without_end_are_one_finding() -> None:
    found = only(mismatches(5, BRANCHING, "/p"))
    assert found.message == "the payload cannot be held against its schema: it takes too many steps"
    assert found.pointer == "/p"
    assert (found.hint or "").startswith("make the payload or the schema smaller; anyOf, oneOf and $ref ")
    assert list(mismatches("a", BRANCHING, "/p")) == []


def test_what_is_unevaluated_is_bounded_too() -> None:
    schema = {"$defs": BRANCHING["$defs"], "properties": {"a": {"$ref": "#/$defs/a0"}}, "unevaluatedProperties": False}
    found = list(mismatches({"a": 5}, schema, "/p"))
    assert ["cannot be held" in fault.message for fault in found] == [True]
    schema = {"patternProperties": {"^(a|a)+$": True}, "unevaluatedProperties": False}
    assert "backtracks without end" in only(mismatches({"a" * 40 + "!": 1}, schema, "")).message


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"not": {"$ref": "#"}}, {"if": {"$ref": "#"}}])
def test_a_loop_is_a_fault_of_the_schema_and_no_hang(schema: Any) -> None:
    assert "refers to itself" in only(schema_faults(schema, "")).message
    assert "leads back to itself" in only(mismatches(5, schema, "")).message


def test_recursion_into_the_value_is_no_loop() -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    assert list(schema_faults(schema, "")) == []
    value: dict[str, Any] = {}
    for _ in range(60):
        value = {"next": value}
    assert list(mismatches(value, schema, "")) == []


@pytest.mark.parametrize("pattern", ["^(a|a)+$", "^(a|aa)+$", "^(a|b|ab)*c$", "(.*a){25}b"])
def test_a_pattern_that_backtracks_without_end_is_one_finding(pattern: str) -> None:
    found = list(mismatches({"key": "a" * 5_000 + "!"}, {"properties": {"key": {"pattern": pattern}}}, "/p"))
    assert [fault.message for fault in found] in (
        [f'the payload cannot be held against its schema: the pattern "{pattern}" backtracks without end'],
        [message for message in [f"p.key: expected text that matches {pattern}, got"] if found[0].message.startswith(message)]
        and [found[0].message],
    )


def test_checks_that_share_a_budget_are_bounded_together() -> None:
    budget = Budget(5_000)
    assert len(list(mismatches(5, BRANCHING, "/a", budget=budget))) == 1
    left = budget.steps
    assert [list(mismatches(5, BRANCHING, "/b", budget=budget)) for _ in range(1000)] == [[]] * 1000
    assert budget.steps == left


def test_the_largest_payloads_stay_within_the_budget() -> None:
    """What fits into 64 KiB is judged to its end."""
    schema = {"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}]}}
    value = [1] * 21_840
    assert len(json.dumps(value, separators=(",", ":"))) < 65_536
    assert list(mismatches(value, schema, "")) == []
    assert only(mismatches([*value[:-1], -1], schema, "")).pointer == "/21839"


def test_a_value_in_a_billion_places_is_one_finding() -> None:
    value: Any = 1
    for _ in range(60):
        value = [value, value]
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}
    assert len(list(mismatches(value, schema, ""))) == 1
    assert len(list(mismatches(value, {"uniqueItems": True}, ""))) == 1


def test_a_schema_that_is_too_large_is_one_finding() -> None:
    schema = {"properties": {f"p{n}": {"pattern": f"^{n}{{2}}$"} for n in range(20_000)}}
    assert only(schema_faults(schema, "/s")) == Found(
        pointer="/s", message="the schema is too large to check", hint="make it smaller, or remove it"
    )


def test_a_schema_that_contains_itself_ends() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"a": schema}
    schema["allOf"] = [{"anyOf": [schema]}]
    assert "refers to itself" in only(schema_faults(schema, "")).message


@pytest.mark.parametrize("levels", [63, 64, 1_000, 50_000])
def test_schemas_stand_in_each_other_at_most_64_levels_deep(levels: int) -> None:
    schema: Any = {}
    for _ in range(levels):
        schema = {"items": schema}
    assert [fault.message[:17] for fault in schema_faults(schema, "")] == (["nested too deeply"] if levels > 63 else [])
    list(mismatches([[[1]]], schema, ""))


# Nothing is fetched


@pytest.mark.parametrize(
    "reference",
    [
        *(
            "http://127.0.0.1:9/a.json",
            "https://example.com/a.json#/b",
            "file:///etc/passwd",
            "a.json",
            "../a.json#/b",
            "//example.com/a",
        ),
        *(
            "urn:uuid:00000000-0000-0000-0000-000000000000",
            "data:application/json,{}",
            "https://json-schema.org/draft/2020-12/schema",
        ),
        *("?", "a#", ".", "%23", "#/$defs/none", "#none", "#/title", "#/$defs/a/0", "#/anyOf/01", "#/anyOf/-1", "#/anyOf/1"),
    ],
)
def test_a_reference_that_leaves_the_schema_is_a_fault_and_never_followed(
    reference: str, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """M5: never fetched."""

    def no(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was opened")

    monkeypatch.setattr(socket.socket, "connect", no)
    monkeypatch.setattr(urllib.request, "urlopen", no)
    schema = {
        "title": "a",
        "$defs": {"a": {}},
        "anyOf": [{}],
        "properties": {"x": {"$ref": reference}},
        "unevaluatedProperties": False,
    }
    found = only(schema_faults(schema, "/s"))
    assert found.pointer == "/s/properties/x/$ref"
    assert found.message.startswith(f'"{reference[:50]}')
    list(mismatches({"x": 1, "y": 2}, schema, ""))
    assert not recwarn.list


@pytest.mark.parametrize(
    ("reference", "schema"),
    [
        ("#", {}),
        ("#/$defs/a", {"$defs": {"a": {"type": "integer"}}}),
        ("#/$defs/a~1b%25", {"$defs": {"a/b%": {"type": "integer"}}}),
        ("#/$defs/a%20b", {"$defs": {"a b": {"type": "integer"}}}),
        ("#there", {"$defs": {"a": {"$anchor": "there", "type": "integer"}}}),
        ("https://example.com/a#/$defs/a", {"$id": "https://example.com/a", "$defs": {"a": {"type": "integer"}}}),
        ("#/examples/0", {"examples": [{"type": "integer"}]}),
        ("#/$defs/a/anyOf/0", {"$defs": {"a": {"anyOf": [{"type": "integer"}]}}}),
    ],
)
def test_a_reference_inside_the_schema_is_followed(reference: str, schema: Any) -> None:
    whole = {**schema, "properties": {"x": {"$ref": reference}}}
    assert list(schema_faults(whole, "")) == []
    assert list(mismatches({"x": 1}, whole, "")) == []
    if reference != "#":
        assert only(mismatches({"x": "a"}, whole, "/payload")).message == 'payload.x: expected an integer, got "a"'


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        ({"uniqueItems": True}, [[number] for number in range(8_000)]),
        ({"items": {"enum": list(range(50_000))}}, [1, 2, 3]),
    ],
)
def test_fifteen_large_payloads_are_within_the_bound(schema: Any, payload: Any) -> None:
    """Looked up, not compared with each other: the size alone exhausts nothing (spec/manifest.md M5)."""
    budget = Budget()
    assert [list(mismatches(payload, schema, "/payload", budget=budget)) for _ in range(15)] == [[]] * 15


# Bounds that steps do not count


def test_patterns_together_take_no_longer_than_the_budget() -> None:
    budget = Budget(seconds=0.01)
    (found,) = mismatches(["a" * 14 + "b"] * 20_000, {"items": {"pattern": "^(?:a|aa)+$"}}, "/p", budget=budget)
    assert found.message == "the payload cannot be held against its schema: its patterns take too long"
    assert -0.1 < budget.seconds <= 0


def test_of_many_constants_a_sentence_names_the_first_and_counts_the_others() -> None:
    names = [f"name{number}" for number in range(300)]
    shown = ", ".join(f'"{name}"' for name in names[:7])
    (one,) = mismatches("other", {"enum": names}, "/p")
    assert one.message == f'p: expected {shown} or 293 others, got "other"'
    (both,) = mismatches("other", {"anyOf": [{"enum": names}, {"type": "integer"}]}, "/p")
    assert both.message == f'p: expected {shown} or 294 others, got "other"'


def test_what_is_wrong_by_every_branch_is_told_once() -> None:
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    schema = {"anyOf": [{**texts, "required": ["a"]}, {**texts, "required": ["b"]}]}
    assert [found.pointer for found in mismatches({"k1": 1, "k2": 2}, schema, "/p")] == ["/p/k1", "/p/k2"]
