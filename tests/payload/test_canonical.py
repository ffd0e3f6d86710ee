"""Canonical form, digest, readable form (spec/manifest.md M3 M4) and sizes (spec/nextskin.md E2, spec/cogover.md E3)."""

from __future__ import annotations

import hashlib
import json
import struct
import time
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from node_json import NODE, stringified
from nsplugin.canonical import canonical, compact_size, digest, json_size, pretty
from nsplugin.frozen import freeze
from nsplugin.pointers import UNKNOWN

SAFE = 2**53 - 1
needs_node = pytest.mark.skipif(NODE is None, reason="NODE IS MISSING: sizes are not compared with JSON.stringify")

texts = st.text(max_size=8)
texts_across_planes = st.text(alphabet="a\u00e9\ud7ff\ue000\uffff\U00010000\U0010ffff", max_size=3)
scalars = st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.floats(allow_nan=False, allow_infinity=False) | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=25
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (5.0, "5"),
        (-0.0, "0"),
        (0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (123456789.125, "123456789.125"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (0.1 + 0.2, "0.30000000000000004"),
        (SAFE, "9007199254740991"),
        (-float(SAFE), "-9007199254740991"),
        (1e16, "10000000000000000"),
    ],
)
def test_numbers_take_their_javascript_form(number: float, text: str) -> None:
    assert canonical(number) == text.encode()
    assert pretty([number]) == f"[\n  {text}\n]\n".encode()
    assert json_size({"a": number}) == len('{"a":}') + len(text)


@given(json_values)
def test_the_canonical_form_is_that_of_rfc_8785(value: Any) -> None:
    """M4"""
    assert canonical(value) == rfc8785.dumps(value)


@given(st.dictionaries(texts_across_planes, st.integers(0, 3), max_size=8))
def test_keys_are_sorted_by_utf_16_units(value: dict[str, int]) -> None:
    assert canonical(value) == rfc8785.dumps(value)


def test_the_order_of_keys_does_not_reach_the_canonical_form() -> None:
    assert canonical({"b": 1, "a": {"d": 1, "c": 2}}) == b'{"a":{"c":2,"d":1},"b":1}'


def test_the_digest_is_the_sha_256_of_the_canonical_form() -> None:
    """M4"""
    assert digest({"b": 1.0, "a": "é"}) == "sha256:" + hashlib.sha256('{"a":"é","b":1}'.encode()).hexdigest()


@pytest.mark.parametrize(
    "value",
    [SAFE + 1, -SAFE - 1, [10**5000], float("nan"), {"a": float("inf")}, "\ud800", {"\udfff": 1}, {1: 2}, [{1, 2}], b"x"],
    ids=["2^53", "-2^53", "5001 digits", "NaN", "Infinity", "surrogate", "surrogate key", "number as key", "set", "bytes"],
)
def test_what_the_canonical_form_cannot_carry_is_refused(value: Any) -> None:
    for write in (canonical, digest):
        with pytest.raises(ValueError, match=r".+"):
            write(value)


@pytest.mark.parametrize("write", [canonical, pretty])
def test_what_contains_itself_or_is_too_deep_is_refused(write: Any) -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (cycle, deep):
        with pytest.raises(ValueError, match=r".+"):
            write(value)


def test_the_readable_form_keeps_order_and_characters() -> None:
    """M3"""
    value = {"z": [], "a": {}, "é": ["日本", {"t": True, "n": None}]}
    assert pretty(value).decode() == (
        '{\n  "z": [],\n  "a": {},\n  "é": [\n    "日本",\n    {\n      "t": true,\n      "n": null\n    }\n  ]\n}\n'
    )


@given(json_values)
def test_every_written_form_reads_back_as_the_same_value(value: Any) -> None:
    doubles = {"parse_int": float}  # 2^56 and more: JavaScript writes the shortest digits of the same double
    assert json.loads(pretty(value), **doubles) == value
    assert json.loads(canonical(value), **doubles) == value


@given(json_values)
def test_frozen_values_are_written_as_plain_ones(value: Any) -> None:
    assert canonical(freeze(value)) == canonical(value)
    assert pretty(freeze(value)) == pretty(value)
    assert json_size(freeze(value)) == json_size(value)


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("a", 3),
        ('"', 4),
        ("\\", 4),
        ("\n\t\b\f\r", 12),
        ("\x00\x1f", 14),
        ("\x7f", 3),
        ("é", 4),
        ("\u2028", 5),
        ("日", 5),
        ("😀", 6),
        ("\ud800", 8),
        ("a\udfffé", 11),
        ("\ud83d\ude00", 6),
        ({}, 2),
        ([], 2),
        ({"a": [1, None]}, 14),
        ([True, False], 12),
        (float("nan"), 4),
        (float("-inf"), 4),
        (10**400, 4),
        (2**60, 19),
    ],
    ids=ascii,
)
def test_sizes_count_escape_sequences_as_javascript_writes_them(value: Any, size: int) -> None:
    """E2, E3: quotes, backslashes and control characters count as their escape sequences."""
    assert json_size(value) == size


@pytest.mark.parametrize("fill", ["a", "é", '"', "\x01", "😀"])
def test_sizes_are_exact_at_the_limit_of_a_payload(fill: str) -> None:
    """E2: 65536 and 65537 bytes."""
    each = json_size(fill) - 2
    count, rest = divmod(65_536 - len('{"a":""}'), each)
    assert json_size({"a": fill * count + "x" * rest}) == 65_536
    assert json_size({"a": fill * count + "x" * (rest + 1)}) == 65_537


@given(json_values)
def test_the_quick_way_measures_the_same_or_nothing(value: Any) -> None:
    assert compact_size(value) in (None, json_size(value))


@pytest.mark.parametrize("value", [{"a": [1, "é", None, True]}, [], {"a": {"b": [[2**53 - 1]]}}])
def test_the_quick_way_is_open_to_values_without_fractions(value: Any) -> None:
    assert compact_size(value) == json_size(value)


@pytest.mark.parametrize("value", [1.5, [2**53], {1: "a"}, [UNKNOWN], {UNKNOWN: 1}, ["\ud800"], [float("nan")]])
def test_the_quick_way_is_closed_to_what_needs_care(value: Any) -> None:
    assert compact_size(value) is None


def test_what_is_unknown_counts_nothing() -> None:
    assert json_size([UNKNOWN]) == 2
    assert json_size({"a": UNKNOWN, UNKNOWN: "long"}) == len('{"a":}')


def test_a_value_that_stands_in_many_places_is_measured_once() -> None:
    """A shared value doubles 60 times: written out it would fill 2^60 places."""
    value: Any = "x" * 1_000_000
    value = [value] * 1_000
    for _ in range(60):
        value = [value, value]
    started = time.monotonic()
    assert json_size(value) == 2**60 * (1_000 * 1_000_003 + 1) + 3 * (2**60 - 1)
    assert time.monotonic() - started < 10


def test_what_contains_itself_or_is_too_deep_has_a_size_too() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert json_size(cycle) == len("[1,]")
    assert json_size(deep) == 128


def _doubles() -> list[float]:
    patterns = (int.from_bytes(hashlib.sha256(bytes([n % 256, n // 256])).digest()[:8], "big") for n in range(3000))
    doubles = [struct.unpack(">d", pattern.to_bytes(8, "big"))[0] for pattern in patterns]
    return [double for double in doubles if double - double == 0]


@needs_node
def test_numbers_are_those_of_node() -> None:
    values = [*_doubles(), *(10.0**power for power in range(-30, 31)), *(float(n) for n in range(-5, 5))]
    for value, (compact, _) in zip(values, stringified(values), strict=True):
        assert canonical(value).decode() == compact
        assert json_size(value) == len(compact)


@needs_node
def test_sizes_and_readable_forms_are_those_of_node() -> None:
    every = [chr(code) for code in (*range(0x300), *range(0x2000, 0x2100), *range(0xD7F0, 0xE010), 0xFEFF, 0xFFFD, 0x1F600)]
    nested = [{"k": every[:5], "empty": [{}, [], ""]}, [[["deep", {"a": {"b": [1.5, -0.0]}}]]], {"日本": None, '"': "\\"}]
    values = [*every, *("x" + character for character in every), "".join(every), "\ud83d\ude00 \ude00\ud83d", *nested]
    for value, (compact, indented) in zip(values, stringified(values), strict=True):
        assert json_size(value) == len(compact.encode())
        if "\\ud" not in compact:
            assert pretty(value).decode() == indented + "\n"


def test_keys_that_are_no_strings_are_refused() -> None:
    for write in (canonical, pretty):
        with pytest.raises(ValueError, match="key"):
            write({1: 2})


def test_what_contains_itself_is_refused() -> None:
    endless: dict[Any, Any] = {"a": 1.5, 2: 3}
    endless["self"] = endless
    for write in (canonical, pretty):
        with pytest.raises(ValueError):
            write(endless)
