"""Code frames: the underline stands below the fault whatever the line holds."""

from __future__ import annotations

import pytest

from nsplugin_cli.report.frame import WIDTH, cells, frame, visible

FAULT = "FAULT"


def drawn(line: str, start: int, end: int, number: int = 7) -> list[str]:
    """The rows of the frame of ``line[start:end]``."""
    return "".join(text for _, text in frame(line, number, start + 1, end + 1)).splitlines()


def marked(rows: list[str]) -> str:
    """What stands above the underline, cell by cell."""
    first, last = rows[2].index("^"), rows[2].rindex("^")
    above, position, found = rows[1], 0, ""
    for character in above:
        if first <= position <= last:
            found += character
        position += cells(character)
    return found


@pytest.mark.parametrize(
    "before",
    [
        "",
        "    ",
        "\t",
        "\t \t",
        "日本語 = ",
        "e\u0301té ",
        "🚀🚀 ",
        "\x1b[31m",
        "\u202e",
        "\u00a0",
        "\udc80",
        "x" * 99,
        "x" * 5000,
        "日" * 80,
    ],
)
@pytest.mark.parametrize("after", ["", " # 日本", "x" * 5000])
def test_the_underline_marks_the_fault(before: str, after: str) -> None:
    rows = drawn(before + FAULT + after, len(before), len(before) + len(FAULT))
    assert marked(rows) == FAULT
    assert cells(rows[1]) <= WIDTH + len("7 | ") + 2
    assert all(row.isprintable() for row in rows)


def test_a_frame_as_it_looks() -> None:
    assert drawn('\tx = "日本", 25', 11, 13, 120) == ["    |", '120 |     x = "日本", 25', "    | " + " " * 16 + "^^"]


def test_what_is_cut_is_shown_by_ellipses() -> None:
    row = drawn("a" * 300 + FAULT + "b" * 300, 300, 305)[1]
    assert row.startswith("7 | …a") and row.endswith("b…")


@pytest.mark.parametrize(("start", "end"), [(3, 3), (3, 4), (9, 99)])
def test_a_place_at_or_after_the_end_of_the_line_is_marked_there(start: int, end: int) -> None:
    assert drawn("abc", start, end)[2] == "  |    ^"


def test_a_fault_longer_than_the_frame_is_marked_as_far_as_it_shows() -> None:
    rows = drawn("x" * 5000, 0, 5000)
    assert rows[2].count("^") == WIDTH


def test_characters_that_would_act_on_a_terminal_are_written_out() -> None:
    assert visible("a\x1b[0m\u202e\u0085\r\n\udc80é日") == "a\\x1b[0m\\u202e\\x85\\x0d\\x0a\\udc80é日"
