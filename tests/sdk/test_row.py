"""Rows behave as the named tuples that they stand for (docs/decisions/0013-records.md)."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import pytest

from nsplugin.record import FEW
from nsplugin.row import Row


class Place(Row):
    """A place."""

    line: int
    column: int = 1

    @property
    def shown(self) -> str:
        return f"{self.line}:{self.column}"


class Like(NamedTuple):
    line: int
    column: int = 1


GIVEN: list[tuple[tuple[int, ...], dict[str, int]]] = [((2,), {}), ((2, 3), {}), ((), {"line": 2}), ((2,), {"column": 3})]


@pytest.mark.parametrize(("given", "named"), GIVEN)
def test_a_row_is_the_tuple_that_a_named_tuple_is(given: tuple[int, ...], named: dict[str, int]) -> None:
    for _ in range(FEW + 2):
        made, like = Place(*given, **named), Like(*given, **named)
        assert type(made) is Place and made == like and hash(made) == hash(like)
        assert repr(made) == repr(like).replace("Like", "Place")
        assert (made.line, made.column, made.shown) == (like.line, like.column, f"{like.line}:{like.column}")
        assert made._asdict() == like._asdict() and made._replace(line=9) == like._replace(line=9)


@pytest.mark.parametrize(("given", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"line": 1}), ((1,), {"other": 1})])
def test_wrong_arguments_are_refused(given: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="argument"):
        Place(*given, **named)


def test_it_is_copied_pickled_matched_and_unchangeable() -> None:
    made = Place(4)
    copies: list[Any] = [copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
    assert copies == [made] * 3 and {type(each) for each in copies} == {Place}
    match made:
        case Place(line, column):
            assert (line, column) == (4, 1)
    for name in ("line", "new"):
        with pytest.raises(AttributeError):
            setattr(made, name, 5)
    assert not hasattr(made, "__dict__") and Place.__doc__ == "A place."
