"""NSP301-303 over the payloads of schedules and the schemas of jobs."""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import pytest

from manifest_samples import codes, entry, found, nextskin, only, problems
from nsplugin.pointers import UNKNOWN


def paying(*payloads: Any, schema: Any = None) -> dict[str, Any]:
    job = {} if schema is None else {"payloadSchema": schema}
    entries = [entry(f"0 {hour} * * *", payload=payload) for hour, payload in enumerate(payloads)]
    return nextskin(jobs={"expire": job}, cron=entries)


def sized(total: int, filler: str = "a") -> dict[str, str]:
    """A payload of that many bytes as JSON."""
    each = len(json.dumps(filler, ensure_ascii=False).encode()) - 2
    payload = {"k": filler * ((total - 8) // each)}
    payload["k"] += "x" * (total - 8 - len(payload["k"]) * each)
    assert len(json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()) == total
    return payload


@pytest.mark.parametrize("filler", ["a", "é", "任", "𝄞", '"', "\\", "\n"])
def test_a_payload_of_65536_bytes_is_taken_and_one_more_is_not(filler: str) -> None:
    """spec/nextskin.md E2: bytes of UTF-8 of the serialised payload, escapes counted as they are written."""
    assert codes(paying(sized(65_536, filler))) == []
    problem = only(paying(sized(65_537, filler)))
    assert (problem.code, problem.pointer) == ("NSP302", "/cron/0/payload")
    assert "65,537 bytes" in problem.message and "65,536" in problem.message


def test_control_characters_count_as_their_escapes() -> None:
    """spec/cogover.md E3, the same count: \\u0001 has six bytes."""
    assert codes(paying("\x01" * 10_922)) == []  # 65,534
    assert codes(paying("\x01" * 10_923)) == ["NSP302"]  # 65,540


@pytest.mark.parametrize("payload", [["a" * 70_000, UNKNOWN], {"a": "a" * 70_000, "b": [UNKNOWN]}, {"a" * 70_000: UNKNOWN}])
def test_the_size_of_what_is_partly_unknown_is_told_as_a_least(payload: Any) -> None:
    """It is too large whatever the rest is, and how large is not known."""
    (problem,) = problems(paying(payload))
    assert problem.message == "the payload has more than 65,536 bytes as JSON; NextSkin takes at most 65,536"


def test_what_is_unknown_may_be_small() -> None:
    assert codes(paying(["a" * 60_000, UNKNOWN])) == []


NOT_JSON = [math.nan, math.inf, (1,), {1}, b"x", datetime.date(2026, 3, 8), object(), 2**53, {1: "a"}, "\ud800", len]


@pytest.mark.parametrize("value", NOT_JSON)
def test_what_json_would_change_is_refused_at_its_place(value: Any) -> None:
    """spec/nextskin.md E2; spec/cogover.md E3."""
    problem = only(paying({"a": [1, {"b/c": value}]}), origin="python")
    assert problem.code == "NSP301"
    assert problem.pointer.startswith("/cron/0/payload/a/1/b~1c")


def test_each_such_value_is_a_finding() -> None:
    assert found(paying({"a": math.nan, "b": (1,)}, {"c": b""}), origin="python") == [
        ("NSP301", "/cron/0/payload/a"),
        ("NSP301", "/cron/0/payload/b"),
        ("NSP301", "/cron/1/payload/c"),
    ]


def test_a_payload_that_is_not_json_is_not_held_to_size_or_schema() -> None:
    """One fault gives one finding, with no cascade (spec/cli.md)."""
    payload = {"blob": b"x" * 70_000, "text": "x" * 70_000}
    assert codes(paying(payload, schema={"required": ["key"]}), origin="python") == ["NSP301"]
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    assert codes(paying(cycle, schema={"type": "string"}), origin="python") == ["NSP301"]


SCHEMA = {"type": "object", "properties": {"key": {"type": "string", "minLength": 1}}, "required": ["key"]}


@pytest.mark.parametrize("payload", [{"key": "daily"}, {"key": "d", "more": [None]}])
def test_a_payload_that_fits_is_fine(payload: Any) -> None:
    """spec/manifest.md M5."""
    assert codes(paying(payload, schema=SCHEMA)) == []


MISMATCHES = [
    ({}, "/cron/0/payload"),
    ({"key": ""}, "/cron/0/payload/key"),
    ({"key": 5}, "/cron/0/payload/key"),
    (None, "/cron/0/payload"),
]


@pytest.mark.parametrize(("payload", "pointer"), MISMATCHES)
def test_a_payload_that_does_not_fit_its_schema_is_said_where(payload: Any, pointer: str) -> None:
    """spec/nextskin.md C9 C10: null stays null, and is held to the schema as it is."""
    assert found(paying(payload, schema=SCHEMA)) == [("NSP303", pointer)]


def test_no_payload_is_an_empty_object() -> None:
    """spec/nextskin.md C9."""
    raw = nextskin(jobs={"expire": {"payloadSchema": SCHEMA}}, cron=[entry()])
    assert found(raw) == [("NSP303", "/cron/0/payload")]
    assert codes(nextskin(jobs={"expire": {"payloadSchema": {"type": "object"}}}, cron=[entry()])) == []
    assert codes(nextskin(jobs={"expire": {"payloadSchema": {"type": "null"}}}, cron=[entry(payload=None)])) == []


BAD_SCHEMAS = [
    ({"type": "strin"}, "/jobs/expire/payloadSchema/type"),
    ({"properties": {"a": {"minLength": "1"}}}, "/jobs/expire/payloadSchema/properties/a/minLength"),
    ({"$ref": "https://example.com/schema.json"}, "/jobs/expire/payloadSchema/$ref"),
    ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "/jobs/expire/payloadSchema/properties/a/$ref"),
    ({"$ref": "#/$defs/missing"}, "/jobs/expire/payloadSchema/$ref"),
]


@pytest.mark.parametrize(("schema", "pointer"), BAD_SCHEMAS)
def test_a_schema_that_is_none_is_said_at_its_place_and_holds_no_payload(schema: Any, pointer: str) -> None:
    """spec/manifest.md M5: a remote $ref is an error, never fetched."""
    assert found(paying({"a": 5}, schema=schema)) == [("NSP303", pointer)]


def test_a_schema_that_is_not_json_is_said() -> None:
    problem = only(paying({}, schema={"enum": [math.nan]}), origin="python")
    assert (problem.code, problem.pointer) == ("NSP303", "/jobs/expire/payloadSchema/enum/0")


@pytest.mark.parametrize("schema", [True, False])
def test_a_schema_may_be_a_boolean(schema: bool) -> None:
    assert codes(paying({}, schema=schema)) == ([] if schema else ["NSP303"])


def test_unknown_parts_are_not_held_to_anything() -> None:
    assert codes(paying(UNKNOWN, {"key": UNKNOWN}, {UNKNOWN: UNKNOWN}, schema=SCHEMA), origin="python") == []
    assert codes(paying({"a": 1}, schema=UNKNOWN), origin="python") == []
    assert codes(nextskin(jobs={"expire": {UNKNOWN: UNKNOWN}}, cron=[entry(payload={})]), origin="python") == []


def test_a_payload_of_a_job_that_is_not_declared_is_held_to_no_schema() -> None:
    raw = nextskin(jobs={"expire": {"payloadSchema": False}}, cron=[entry(job="expired", payload={})])
    assert codes(raw) == ["NSP204"]


def test_a_schema_that_branches_without_end_comes_to_an_end() -> None:
    """No input makes a command hang (spec/manifest.md M6): the checks of one manifest are bounded together."""
    loop = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}] * 2}}, "$ref": "#/$defs/a"}
    for depth in range(30):
        loop["$defs"][chr(98 + depth)] = {"anyOf": [{"$ref": f"#/$defs/{chr(99 + depth)}"}] * 2}
    loop["$defs"][chr(128)] = False
    raw = nextskin(
        jobs={"expire": {"payloadSchema": loop}},
        cron=[entry(f"{minute} {hour} * * *", payload={}) for minute in range(20) for hour in range(20)],
    )
    assert "NSP303" in {problem.code for problem in problems(raw)}
