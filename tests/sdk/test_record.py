"""Records behave as the frozen, slotted dataclasses that they stand for (docs/decisions/0013-records.md)."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import Any, ClassVar

import pytest

from nsplugin.record import FEW, field, names, record, replace, values


@record
class Point:
    """Two numbers."""

    KIND: ClassVar[str] = "point"
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)
    hidden: int = field(default=0, repr=False)

    @property
    def sum(self) -> int:
        return self.x + self.y


@record
class Named(Point):
    name: str = "n"

    @cached_property
    def shout(self) -> str:
        return self.name.upper()


@record(kw_only=False, frozen=False)
class Pair:
    left: int
    right: int = 1


@record(kw_only=False)
class Complaint(Exception):
    """An exception's attributes are not set as another object's are."""

    text: str


@record(eq=False)
class Own:
    only: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Like:
    x: int
    y: int = 2
    tags: list[str] = dataclass_field(default_factory=list)
    hidden: int = dataclass_field(default=0, repr=False)


@pytest.mark.parametrize("given", [{"x": 1}, {"x": 1, "y": 3}, {"x": 1, "tags": ["a"], "hidden": 9}])
def test_a_record_says_and_holds_what_a_dataclass_does(given: dict[str, Any]) -> None:
    made, like = Point(**given), Like(**given)
    assert repr(made) == repr(like).replace("Like", "Point")
    assert values(made) == (like.x, like.y, like.tags, like.hidden)
    assert made == Point(**given) != Point(**given | {"x": 7})


@pytest.mark.parametrize("wrong", [{}, {"x": 1, "z": 2}])
@pytest.mark.parametrize("before", [0, FEW + 1])
def test_wrong_arguments_are_refused(wrong: dict[str, Any], before: int) -> None:
    for _ in range(before):
        Point(x=1)
    with pytest.raises(
        TypeError, match=r"Point\.__init__\(\) (missing 1 required keyword-only|got an unexpected keyword) argument"
    ):
        Point(**wrong)
    with pytest.raises(TypeError, match="positional"):
        Point(*(1, 2))


def test_defaults_are_made_anew_for_each() -> None:
    assert Point(x=1).tags is not Point(x=1).tags


def test_it_is_frozen_and_has_no_other_attributes() -> None:
    made = Point(x=1)
    for name in ("x", "new"):
        with pytest.raises(AttributeError, match=f"Point.{name} cannot be changed"):
            setattr(made, name, 5)
        with pytest.raises(AttributeError, match=f"Point.{name} cannot be changed"):
            delattr(made, name)
    assert not hasattr(made, "__dict__") and Point.KIND == "point" and made.sum == 3


def test_a_base_gives_its_fields_first_and_cached_properties_have_room() -> None:
    made = Named(x=1, name="b")
    assert names(Named) == ("x", "y", "tags", "hidden", "name")
    assert (made.shout, made.shout, made.y) == ("B", "B", 2)
    assert made != Point(x=1) and repr(made) == "Named(x=1, y=2, tags=[], name='b')"


def test_an_open_record_is_changed_matched_by_place_and_not_hashed() -> None:
    made = Pair(5)
    made.right = 6
    match made:
        case Pair(left, right):
            assert (left, right) == (5, 6)
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)


def test_equality_and_hash_go_by_value_unless_told_otherwise() -> None:
    assert Own(only=1) != Own(only=1)
    frozen = record(type("Frozen", (), {"__annotations__": {"a": "int"}}))
    assert len({frozen(a=1), frozen(a=1), frozen(a=2)}) == 2


@pytest.mark.parametrize("made", [Point(x=1, tags=["a"]), Named(x=2), Pair(1, 2)])
def test_it_is_copied_pickled_and_replaced(made: Any) -> None:
    assert copy.copy(made) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made
    first = names(made)[0]
    other = replace(made, **{first: 99})
    assert getattr(other, first) == 99 and values(other)[1:] == values(made)[1:]


@pytest.mark.parametrize(("given", "named"), [((), {}), ((1, 2, 3), {}), ((), {"left": 1, "other": 2}), ((1,), {"left": 2})])
def test_wrong_places_are_refused(given: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match=r"Pair\.__init__\(\)"):
        Pair(*given, **named)


def test_the_first_records_are_made_as_the_later_ones() -> None:
    fresh = record(kw_only=False)(type("Fresh", (), {"__annotations__": {"a": "int", "b": "int"}, "b": 2}))
    made = [each for _ in range(FEW) for each in (fresh(1), fresh(1, 2), fresh(a=1), fresh(1, b=2))]
    assert set(made) == {fresh(1)} and {repr(each) for each in made} == {"Fresh(a=1, b=2)"}


def test_an_exception_may_be_a_record() -> None:
    for _ in range(FEW + 2):
        with pytest.raises(Complaint) as caught:
            raise Complaint("why")
        assert caught.value.text == "why"
