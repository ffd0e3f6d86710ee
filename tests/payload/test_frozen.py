"""Frozen JSON (spec/manifest.md M2): deep, detached, hashable, picklable, and deaf to every mutator."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsplugin.frozen import FrozenDict, FrozenList, freeze, thaw
from nsplugin.pointers import UNKNOWN

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4), max_leaves=20
)

OBJECT_MUTATORS: dict[str, Callable[[Any], object]] = {
    "init again": lambda x: x.__init__([]),
    "new attribute": lambda x: setattr(x, "extra", 1),
    "hash attribute": lambda x: setattr(x, "_hash", 1),
    "delete attribute": lambda x: delattr(x, "_hash"),
    "class": lambda x: setattr(x, "__class__", dict),
}
MAPPING_MUTATORS: dict[str, Callable[[Any], object]] = {
    **OBJECT_MUTATORS,
    "set item": lambda d: d.__setitem__("a", 1),
    "set new item": lambda d: d.__setitem__("z", 1),
    "delete item": lambda d: d.__delitem__("a"),
    "|=": lambda d: d.__ior__({"a": 1}),
    "clear": lambda d: d.clear(),
    "pop": lambda d: d.pop("a"),
    "pop absent with default": lambda d: d.pop("zz", None),
    "popitem": lambda d: d.popitem(),
    "setdefault present": lambda d: d.setdefault("a", 1),
    "setdefault absent": lambda d: d.setdefault("z", 1),
    "update": lambda d: d.update(a=1),
    "update with nothing": lambda d: d.update(),
}
SEQUENCE_MUTATORS: dict[str, Callable[[Any], object]] = {
    **OBJECT_MUTATORS,
    "set item": lambda x: x.__setitem__(0, 1),
    "set slice": lambda x: x.__setitem__(slice(0, 1), []),
    "delete item": lambda x: x.__delitem__(0),
    "+=": lambda x: x.__iadd__([1]),
    "*=": lambda x: x.__imul__(2),
    "append": lambda x: x.append(1),
    "extend": lambda x: x.extend([]),
    "insert": lambda x: x.insert(0, 1),
    "clear": lambda x: x.clear(),
    "pop": lambda x: x.pop(),
    "remove": lambda x: x.remove(1),
    "reverse": lambda x: x.reverse(),
    "sort": lambda x: x.sort(),
}


@pytest.mark.parametrize("mutate", MAPPING_MUTATORS.values(), ids=MAPPING_MUTATORS.keys())
def test_every_mutator_of_a_frozen_mapping_is_refused(mutate: Callable[[Any], object]) -> None:
    value = freeze({"a": [3, 1], "b": None})
    with pytest.raises(TypeError, match=r"a FrozenDict is frozen and cannot be changed; nsplugin\.frozen\.thaw\(value\)"):
        mutate(value)
    assert value == {"a": [3, 1], "b": None}


@pytest.mark.parametrize("mutate", SEQUENCE_MUTATORS.values(), ids=SEQUENCE_MUTATORS.keys())
def test_every_mutator_of_a_frozen_list_is_refused(mutate: Callable[[Any], object]) -> None:
    value = freeze([3, 1, {"a": 1}])
    with pytest.raises(TypeError, match=r"a FrozenList is frozen and cannot be changed"):
        mutate(value)
    assert value == [3, 1, {"a": 1}]


def test_no_mutator_of_dict_or_list_is_forgotten() -> None:
    """A later Python may add one: every public method that the frozen classes inherit unchanged is known not to change them."""
    reading = {"copy", "count", "fromkeys", "get", "index", "items", "keys", "values"}
    for frozen, plain in ((FrozenDict, dict), (FrozenList, list)):
        inherited = {n for n in dir(plain) if not n.startswith("_") and getattr(frozen, n) == getattr(plain, n, None)}
        untouched = {n for n in dir(plain) if not n.startswith("_") and n not in vars(frozen)}
        assert inherited | untouched <= reading


def test_fromkeys_cannot_fill_a_frozen_mapping() -> None:
    with pytest.raises(TypeError, match="frozen"):
        FrozenDict.fromkeys("ab", 1)


def test_frozen_to_the_bottom_and_detached_from_what_was_passed_in() -> None:
    inner: dict[str, Any] = {"list": [1, {"deep": (2, 3)}]}
    value = freeze(inner)
    inner["list"][1]["deep"] = "changed"
    inner["list"].append("changed")
    assert value == {"list": [1, {"deep": [2, 3]}]}
    assert type(value["list"][1]["deep"]) is FrozenList


def test_the_constructors_freeze_what_they_are_given() -> None:
    assert type(FrozenDict({"a": [1]})["a"]) is FrozenList
    assert type(FrozenList([{"a": 1}])[0]) is FrozenDict
    assert FrozenDict([("a", 1)]) == {"a": 1}


def test_freezing_the_frozen_is_free() -> None:
    value = freeze({"a": []})
    assert freeze(value) is value


def test_unknown_stays_unknown() -> None:
    value = freeze({UNKNOWN: UNKNOWN, "a": [UNKNOWN]})
    assert value[UNKNOWN] is UNKNOWN
    assert value["a"][0] is UNKNOWN


@given(json_values)
def test_equal_to_the_plain_value_and_back(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert thaw(frozen) == value
    assert type(thaw(frozen)) is type(value)
    assert json.dumps(frozen) == json.dumps(value)
    assert json.dumps(frozen, indent=2, sort_keys=True) == json.dumps(value, indent=2, sort_keys=True)


@given(json_values)
def test_copies_and_pickles(value: Any) -> None:
    frozen = freeze({"value": value})
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(frozen, protocol))
        assert again == frozen
        assert type(again) is FrozenDict
        assert hash(again) == hash(frozen)


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=5))
def test_equal_objects_hash_equal_whatever_the_order(value: dict[str, Any]) -> None:
    backwards = dict(reversed(value.items()))
    assert freeze(value) == freeze(backwards)
    assert hash(freeze(value)) == hash(freeze(backwards))


def test_numbers_that_are_equal_hash_equal() -> None:
    assert freeze({"a": [1]}) == freeze({"a": [1.0]})
    assert hash(freeze({"a": [1]})) == hash(freeze({"a": [1.0]}))
    assert {freeze([1]): "found"}[freeze([1.0])] == "found"


def test_thawed_copies_may_change() -> None:
    value = freeze({"a": [1]})
    plain = thaw(value)
    plain["a"].append(2)
    assert (value, plain) == ({"a": [1]}, {"a": [1, 2]})


@pytest.mark.parametrize("value", [{"a": {1, 2}}, [b"x"], object()], ids=["set", "bytes", "object"])
def test_what_is_not_json_cannot_be_frozen(value: Any) -> None:
    with pytest.raises(TypeError, match=r"cannot freeze a .*: only JSON values can be frozen"):
        freeze(value)


def test_a_value_that_contains_itself_cannot_be_frozen() -> None:
    value: list[Any] = []
    value.append({"again": value})
    with pytest.raises(ValueError, match="contains itself"):
        freeze(value)
