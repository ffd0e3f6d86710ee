"""How values are named in messages, and which name a misspelt one was meant to be."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsplugin.nearest import closest, fold, look_up
from nsplugin.wording import clipped, counted, found, integer, listed, plain, quoted, token, wanted

MEANT = [
    ("maxAttempt", ["maxAttempts", "timeoutMs"], "maxAttempts"),
    ("max_attempts", ["maxAttempts", "timeoutMs"], "maxAttempts"),
    ("MAXATTEMPTS", ["maxAttempts", "timeoutMs"], "maxAttempts"),
    ("expre", ["expire", "sync"], "expire"),
    ("exipre", ["expire", "sync"], "expire"),
    ("jbo", ["job", "key"], "job"),
    ("maxAttempts", ["maxAttempts"], "maxAttempts"),
    ("colour", ["maxAttempts", "timeoutMs"], None),
    ("a", ["b"], None),
    ("ab", ["ax"], None),
    ("cat", ["car", "cap"], None),
    ("sync_a", ["sync-a", "syncA"], None),
    ("", ["a"], None),
    ("x" * 500, ["x" * 501], None),
    ("expre", [f"name{number}" for number in range(600)] + ["expire"], None),
]


@pytest.mark.parametrize(("word", "candidates", "meant"), MEANT, ids=range(len(MEANT)))
def test_a_suggestion_is_near_and_the_only_one(word: str, candidates: list[str], meant: str | None) -> None:
    assert closest(word, candidates) == meant


def test_a_closed_set_is_met_more_narrowly() -> None:
    assert closest("FETCH", ["PATCH", "POST"]) == "PATCH"
    assert closest("FETCH", ["PATCH", "POST"], within=1) is None
    assert closest("post", ["PATCH", "POST"], within=1) == "POST"


def test_spelling_styles_fold_to_the_same() -> None:
    assert fold("time_zone") == fold("timeZone") == fold("TIME-ZONE") == "timezone"
    assert look_up("time_zone", {"timezone": "hint"}) == "hint"
    assert look_up("time", {"timezone": "hint"}) is None


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=6))
def test_a_suggestion_is_always_a_candidate(word: str, candidates: list[str]) -> None:
    assert closest(word, candidates) in (None, *candidates)


VALUES: list[tuple[Any, str, str]] = [
    (None, "None", "null"),
    (True, "the value True", "the value true"),
    (5, "the integer 5", "the integer 5"),
    (5.0, "the number 5.0", "the number 5.0"),
    (float("nan"), "the number nan", "the number nan"),
    ("5", 'the string "5"', 'the string "5"'),
    ({}, "a mapping", "an object"),
    ([], "a list", "an array"),
    ((), "a tuple", "a tuple"),
    (int, "a class", "a class"),
    (b"", "an instance of bytes", "an instance of bytes"),
    (10**400, "the integer of about 401 digits", "the integer of about 401 digits"),
]


@pytest.mark.parametrize(("value", "python", "json"), VALUES, ids=range(len(VALUES)))
def test_values_are_named_in_the_words_of_their_language(value: Any, python: str, json: str) -> None:
    assert (found(value, "python"), found(value, "json")) == (python, json)


def test_what_is_wanted_is_named_so_too() -> None:
    assert wanted(("object", "boolean"), "json") == "an object or true or false"
    assert wanted(("object", "boolean"), "python") == "a mapping or True or False"


@given(st.text())
def test_quoted_text_is_short_printable_and_on_one_line(text: str) -> None:
    shown = quoted(text)
    assert shown.isprintable() and shown[0] == shown[-1] == '"'
    assert len(shown) <= 60 * 10 + 2


def test_control_characters_and_surrogates_are_escaped() -> None:
    assert quoted("a\n\x1b[31m\ud800\u202eb é任") == '"a\\n\\x1b[31m\\ud800\\u202eb é任"'
    assert clipped("x" * 61) == "x" * 59 + "…"


class Hostile(str):
    def __str__(self) -> str:
        raise RuntimeError("must not run")

    __repr__ = __format__ = __str__


def test_nothing_of_a_values_own_is_run() -> None:
    hostile = Hostile("text")
    assert type(plain(hostile)) is str and plain(hostile) == "text"
    assert quoted(hostile) == '"text"' and token(hostile) == "text"
    assert found(hostile, "python") == 'the string "text"'


def test_keys_of_any_type_have_a_token() -> None:
    assert (token("a/b"), token(1), token(None)) == ("a/b", "1", "None")


def test_integers_of_any_size_have_a_short_form() -> None:
    assert integer(-12) == "-12"
    assert integer(10 ** (sys.get_int_max_str_digits() * 2)).startswith("of about 860")


def test_numbers_and_lists_read_well() -> None:
    assert [counted(number, "byte") for number in (0, 1, 65_537)] == ["0 bytes", "1 byte", "65,537 bytes"]
    assert [listed("abc"[:count], "or") for count in (1, 2, 3)] == ["a", "a or b", "a, b or c"]


@given(st.text("ab_", max_size=9), st.text("ab_", max_size=9))
def test_near_is_at_most_two_slips_away(word: str, name: str) -> None:
    """Held against the whole table of distances; only a band of it is computed."""
    folded, slips = fold(word) == fold(name), distance(word, name)
    assert (closest(word, [name]) == name) == (folded or slips <= (2 if len(word) > 4 else 1 if len(word) > 2 else 0))


def distance(left: str, right: str) -> int:
    table = {(row, column): row + column for row in range(len(left) + 1) for column in range(len(right) + 1)}
    for row, a in enumerate(left, 1):
        for column, b in enumerate(right, 1):
            steps = [table[row - 1, column] + 1, table[row, column - 1] + 1, table[row - 1, column - 1] + (a != b)]
            if row > 1 and column > 1 and (a, b) == (right[column - 2], left[row - 2]):
                steps.append(table[row - 2, column - 2] + 1)
            table[row, column] = min(steps)
    return table[len(left), len(right)]
