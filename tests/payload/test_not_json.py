"""What JSON would change or lose (spec/nextskin.md E2, spec/cogover.md E3)."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import pathlib
import time
import types
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from nsplugin.canonical import pretty
from nsplugin.frozen import freeze
from nsplugin.payload import not_json
from nsplugin.pointers import UNKNOWN
from nsplugin.reading import read
from nsplugin.rules import Found

SAFE = 2**53 - 1


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Name(enum.StrEnum):
    ANN = "ann"


class Expire(BaseModel):
    key: str = "a"


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Real(float):
    pass


class Mine(dict[str, Any]):
    pass


class Many(list[Any]):
    pass


class Words(tuple[str, ...]):
    """A tuple that is no named tuple."""


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Record:
    x: int = 1


class Trap:
    """Every way of asking about it is a fault."""

    __class__ = property(lambda self: 1 / 0)

    def __repr__(self) -> str:
        raise SystemExit

    __str__ = __repr__
    __eq__ = __bool__ = __len__ = __iter__ = __getattr__ = lambda self, *_: 1 / 0
    __hash__ = None


def only(value: Any) -> Found:
    (found,) = not_json({"at": [value]}, "/cron/0/payload")
    return found


def told(value: Any) -> tuple[str, str | None]:
    found = only(value)
    assert (found.pointer, found.target) == ("/cron/0/payload/at/0", "value")
    return found.message, found.hint


FOREIGN: list[tuple[Any, str, str]] = [
    (float("nan"), "NaN is not JSON: it would become null", "write None, or leave it out"),
    (float("inf"), "Infinity is not JSON: it would become null", "write None, or leave it out"),
    (float("-inf"), "-Infinity is not JSON: it would become null", "write None, or leave it out"),
    ((1, 2), "a tuple is not JSON: it would become a list", "write a list: [1, 2]"),
    (Words(("a",)), "a Words is not JSON: it would become a list and lose its class", "write list(value)"),
    (Point(1, 2), "a Point is not JSON: it would become a list and lose its class", "write value._asdict()"),
    ({1}, "JSON has no form for a set", "write a list: sorted(value)"),
    (frozenset(), "JSON has no form for a set", "write a list: sorted(value)"),
    (b"x", "JSON has no form for bytes", "write text: value.decode(), or base64.b64encode(value).decode()"),
    (datetime.datetime(2026, 1, 1), "JSON has no form for a datetime", "write value.isoformat()"),
    (datetime.date(2026, 1, 1), "JSON has no form for a date", "write value.isoformat()"),
    (datetime.time(1), "JSON has no form for a time", "write value.isoformat()"),
    (datetime.timedelta(1), "JSON has no form for a timedelta", "write value.total_seconds()"),
    (decimal.Decimal("0.1"), "a Decimal is not JSON: its exact digits would be lost", "write str(value)"),
    (fractions.Fraction(1, 3), "JSON has no form for a Fraction", "write str(value)"),
    (1j, "JSON has no form for a complex number", "write [value.real, value.imag]"),
    (uuid.UUID(int=0), "JSON has no form for a UUID", "write str(value)"),
    (pathlib.Path("a"), "JSON has no form for a path", "write str(value)"),
    (Colour.RED, "an Enum member is not JSON: it would become its value at most", "write value.value"),
    (Level.LOW, "an Enum member is not JSON: it would become its value at most", "write value.value"),
    (Name.ANN, "an Enum member is not JSON: it would become its value at most", "write value.value"),
    (Expire(), "JSON has no form for a model", 'write value.model_dump(mode="json")'),
    (Record(), "JSON has no form for a dataclass (Record)", "write dataclasses.asdict(value)"),
    (Text("a"), "a Text is not JSON: it would become a string and lose its class", "write str(value)"),
    (Number(1), "a Number is not JSON: it would become an integer and lose its class", "write int(value)"),
    (Real(1.5), "a Real is not JSON: it would become a number and lose its class", "write float(value)"),
    (Mine(), "a Mine is not JSON: it would become a mapping and lose its class", "write dict(value)"),
    (Many(), "a Many is not JSON: it would become a list and lose its class", "write list(value)"),
    (
        collections.OrderedDict(),
        "an OrderedDict is not JSON: it would become a mapping and lose its class",
        "write dict(value)",
    ),
    (collections.deque(), "JSON has no form for a deque", "write list(value)"),
    (range(3), "JSON has no form for a range", "write list(value)"),
    (types.MappingProxyType({}), "JSON has no form for a read-only mapping", "write dict(value)"),
    (len, "JSON has no form for a function", "write the value that it returns"),
    (Expire, "JSON has no form for a class", "write a value"),
    (ValueError("x"), "JSON has no form for an exception", "write str(value)"),
    (object(), "JSON has no form for an instance of object", "write its data: strings, numbers, lists, mappings"),
    (Trap(), "JSON has no form for an instance of Trap", "write its data: strings, numbers, lists, mappings"),
    (2**53, "the integer 9007199254740992 is beyond 2^53-1: JSON readers would round it", "write it as a string"),
    (-(2**53), "the integer -9007199254740992 is beyond 2^53-1: JSON readers would round it", "write it as a string"),
    (10**6000, "the integer of about 6001 digits is beyond 2^53-1: JSON readers would round it", "write it as a string"),
    (1e17, "1e+17 is an integer beyond 2^53-1: JSON readers would round it", "write it as a string"),
]


@pytest.mark.parametrize(("value", "message", "hint"), FOREIGN, ids=[message[:40] for _, message, _ in FOREIGN])
def test_what_json_would_change_is_named_with_what_to_write(value: Any, message: str, hint: str) -> None:
    assert told(value) == (message, hint)


@pytest.mark.parametrize(
    "value", [None, True, False, 0, SAFE, -SAFE, 1.5, 5.0, -0.0, 1e21, 1e308, "", "é😀\u2028\x00", [], {}, {"": 1}]
)
def test_json_is_json(value: Any) -> None:
    """Booleans are JSON; 5.0 is."""
    assert list(not_json(value, "")) == []
    assert list(not_json(freeze({"a": [value]}), "")) == []


def test_half_a_surrogate_pair_is_pointed_at() -> None:
    found = only("ab\ud800c")
    assert (found.start, found.end) == (2, 3)
    assert found.message == "half of a surrogate pair, U+D800, is no character: JSON cannot carry it"


KEYS: list[tuple[Any, str, str, str]] = [
    (1, "/1", 'a key of JSON is a string: 1 would become "1"', 'write "1"'),
    (None, "/None", 'a key of JSON is a string: None would become "null"', 'write "null"'),
    (True, "/the value True", 'a key of JSON is a string: True would become "true"', 'write "true"'),
    ((1, 2), "/a tuple", "a key of JSON is a string, not a tuple", "write a string"),
    (Text("k"), "/k", "a key of JSON is a plain string: this one is an instance of Text", "write str(key)"),
]


@pytest.mark.parametrize(("key", "pointer", "message", "hint"), KEYS, ids=[pointer for _, pointer, _, _ in KEYS])
def test_keys_are_strings(key: Any, pointer: str, message: str, hint: str) -> None:
    (found,) = not_json({key: 1}, "")
    assert (found.pointer, found.target, found.message, found.hint) == (pointer, "key", message, hint)


def test_a_key_may_hold_no_half_of_a_pair() -> None:
    (found,) = not_json({"a\udc00": 1}, "")
    assert (found.target, found.start, found.end) == ("key", 1, 2)


def test_every_place_is_told_in_order() -> None:
    value = {"a": (1,), "b": {"c": [float("nan"), {1: {2}}]}, "d/e": b""}
    assert [found.pointer for found in not_json(value, "/p")] == [*("/p/a", "/p/b/c/0", "/p/b/c/1/1", "/p/b/c/1/1", "/p/d~1e")]


def test_what_is_unknown_is_passed_over() -> None:
    assert list(not_json({UNKNOWN: (1,), "a": [UNKNOWN, UNKNOWN], "b": UNKNOWN}, "")) == []


def test_a_value_that_contains_itself_is_told_once() -> None:
    value: dict[str, Any] = {"list": []}
    value["list"].append(value)
    (found,) = not_json(value, "")
    assert (found.pointer, found.message) == ("/list/0", "this value contains itself: JSON could not end")


def nested(levels: int, wrap: Callable[[Any], Any] = lambda value: [value]) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}, lambda value: freeze([value])])
def test_64_levels_are_json_and_65_are_not(wrap: Callable[[Any], Any]) -> None:
    assert list(not_json(nested(64, wrap), "")) == []
    (found,) = not_json(nested(65, wrap), "")
    assert found.message == "nested too deeply: this is level 65, and 64 are allowed"
    assert found.pointer.count("/") == 64


def test_a_hundred_thousand_levels_are_one_finding() -> None:
    assert len(list(not_json(nested(100_000), ""))) == 1


def test_a_value_in_many_places_is_looked_at_once() -> None:
    """A value doubled 60 times stands in 2^60 places."""
    started = time.monotonic()
    value = nested(60, lambda value: [value, value])
    assert list(not_json(value, "")) == []
    assert len(list(not_json([[[[[value]]]]], ""))) == 101
    faulty: Any = float("nan")
    for _ in range(60):
        faulty = [faulty, faulty]
    assert len(list(not_json(faulty, ""))) == 101
    assert time.monotonic() - started < 10


def test_a_value_shared_at_several_depths_is_judged_by_the_deepest() -> None:
    shared = nested(60)
    assert list(not_json([shared, [[[shared]]]], "")) == []
    (found,) = not_json([shared, [[[[shared]]]]], "")
    assert found.pointer.startswith("/1/0/0/0/0/")


def test_after_a_hundred_findings_one_says_that_there_are_more() -> None:
    found = list(not_json([float("nan")] * 1000, "/p"))
    assert len(found) == 101
    assert (found[-1].pointer, found[-1].message) == ("/p", "there are more than 100 faults in this value")


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats()
    | st.text(max_size=3)
    | st.text("\ud800\udfffa", max_size=2)
    | st.sampled_from([Level.LOW, Text("x"), b"", datetime.date(2026, 1, 1)]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=2) | st.integers(0, 2) | st.none(), inner, max_size=3)
    ),
    max_leaves=12,
)


def exact(one: Any, other: Any) -> bool:
    """Equal, of the same types to the bottom; 5.0 and 5 are the same JSON number."""
    if type(one) is float or type(other) is float:
        return type(one) in (int, float) and type(other) in (int, float) and one == other
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(type(key) is str and exact(one[key], other[key]) for key in one)
    return len(one) == len(other) and all(map(exact, one, other)) if isinstance(one, list) else one == other


def survives(value: Any) -> bool:
    """Whether a value comes back from JSON text as it was, by the writer and reader of this library."""
    try:
        document = read(pretty(value))
        return document.problems == () and exact(document.value, value)
    except (ValueError, TypeError):
        return False


@given(anything)
def test_nothing_is_found_exactly_when_the_value_survives_json(value: Any) -> None:
    found = list(not_json(value, ""))
    assert (found == []) == (survives(value) and exact(json.loads(json.dumps(value)), value))


@given(anything)
def test_a_value_among_many_is_judged_as_it_is_alone(value: Any) -> None:
    alone, among = not_json([value], ""), not_json([value, *range(1_001)], "")
    assert list(alone) == list(among)
