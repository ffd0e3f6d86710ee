"""How values are written on the administration page."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsplugin_core.admin import wording

NOW = 1_780_315_200_000


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        (0, "now"), (999, "now"), (-999, "now"), (1_000, "in 1 s"), (-59_999, "59 s ago"), (60_000, "in 1 min"),
        (-3_599_999, "59 min ago"), (3_600_000, "in 1 h"), (-86_400_000, "1 d ago"), (40 * 86_400_000, "in 40 d"),
    ],
)  # fmt: skip
def test_distances(distance: int, words: str) -> None:
    assert wording.relative(NOW + distance, NOW) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0, "0 ms"), (999, "999 ms"), (1_000, "1 s"), (2_540, "2.5 s"), (60_000, "1 min"), (200_000, "3 min 20 s"),
        (7_200_000, "2 h"), (90_061_000, "1 d 1 h"),
    ],
)  # fmt: skip
def test_durations(milliseconds: int, words: str) -> None:
    assert wording.duration(milliseconds) == words


def test_moments_sizes_and_counts() -> None:
    assert wording.utc(NOW + 5_999) == "2026-06-01 12:00:05 UTC"
    assert [wording.size(count) for count in (0, 1023, 1024, 65_536)] == ["0 B", "1023 B", "1.0 KiB", "64.0 KiB"]
    assert [wording.counted(count, "task") for count in (0, 1, 10_000)] == ["0 tasks", "1 task", "10,000 tasks"]


@given(st.text())
def test_nothing_in_text_stays_hidden(text: str) -> None:
    shown = wording.visible(text)
    hidden = [
        char for char in shown if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co") and char not in "\n\t\u200c\u200d"
    ]
    assert hidden == []
    plain = [char for char in text if unicodedata.category(char)[0] in "LNPS" and char in shown]
    assert len(plain) == sum(1 for char in text if unicodedata.category(char)[0] in "LNPS")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"b":1,"a":[true,null]}', '{\n  "b": 1,\n  "a": [\n    true,\n    null\n  ]\n}'),
        ('"ồ\u202e"', '"ồ<U+202E>"'), ("not json \x00", "not json <U+0000>"), ("1" * 5_000, "1" * 5_000),
        ("[" * 50_000, "[" * 50_000),
    ],
)  # fmt: skip
def test_payloads_are_indented_where_that_can_be_done(text: str, shown: str) -> None:
    assert wording.pretty_json(text) == shown
