"""Comments that silence findings on their line: spec/cli.md Project file."""

from __future__ import annotations

import pytest

from nsplugin.record import replace
from nsplugin.rules import Problem
from nsplugin.spans import Span
from nsplugin_cli.source.python import read_python
from nsplugin_cli.source.suppress import read_comment, silence
from python_sources import text_at


def _problem(code: str, line: int, end_line: int | None = None) -> Problem:
    span = Span(line, 1, end_line or line, 5)
    return Problem(code=code, name="n", severity="error", pointer="", message="m", span=span)


def _codes(comment: str) -> list[str] | None:
    found = read_comment(comment, 1, 1)
    return None if found is None or found.fault else [code for code, _ in found.codes]


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# nsplugin: ignore[NSP211]", ["NSP211"]),
        ("# nsplugin: ignore[NSP211,NSP209]", ["NSP211", "NSP209"]),
        ("# nsplugin:ignore [ NSP211 , NSP209 ]", ["NSP211", "NSP209"]),
        ("# nsplugin: ignore[nsp211, NSP2, cron-overlap]", ["nsp211", "NSP2", "cron-overlap"]),
        ("#nsplugin: ignore[NSP211] because the site asked for it", ["NSP211"]),
        ("# noqa: E501 # nsplugin: ignore[NSP211]", ["NSP211"]),
        ("// nsplugin: ignore[NSP211]", ["NSP211"]),
        ("/* nsplugin: ignore[NSP211] */", ["NSP211"]),
        ("# nsplugin", None),
        ("# see nsplugin.toml", None),
        ("# about nsplugin and others: ignore[NSP211]", None),
    ],
)
def test_what_a_comment_silences(comment: str, codes: list[str] | None) -> None:
    assert _codes(comment) == codes


@pytest.mark.parametrize(
    ("comment", "fault"),
    [
        ("# nsplugin: ignore", "this comment silences nothing: it names no code"),
        ("# nsplugin: ignore[]", "this ignore silences nothing: it names no code"),
        ("# nsplugin: ignore NSP211", "this comment silences nothing: it names no code"),
        ("# nsplugin: ignore[NSP211; NSP209]", "this ignore silences nothing: 'NSP211;' is no rule's code or name"),
        ("# nsplugin: ignore[E501]", "this ignore silences nothing: 'E501' is no rule's code or name"),
        ("# nsplugin: ignore[cron_overlap]", "this ignore silences nothing: 'cron_overlap' is no rule's code or name"),
        ("# nsplugin: ignore-file[NSP211]", "this comment silences nothing: 'nsplugin: ignore-file' is no instruction"),
        ("# nsplugin: noqa", "this comment silences nothing: 'nsplugin: noqa' is no instruction"),
        ("# nsplugin: ignore[NSP211", "this comment silences nothing: it names no code"),
    ],
)
def test_a_malformed_comment_says_what_is_wrong(comment: str, fault: str) -> None:
    found = read_comment(comment, 1, 1)
    assert found is not None and found.fault is not None
    assert found.fault == fault


SOURCE = '''\
x = "# nsplugin: ignore[NSP101]"  # nsplugin: ignore[NSP102]
"""
# nsplugin: ignore[NSP103]
"""
y = 'é漢'  # 😀 nsplugin: ignore[NSP104, NSP105]
z = f"{x}  # nsplugin: ignore[NSP106]"
if x:
\t# nsplugin: ignore[NSP107]
\tpass
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_only_comments_count_and_have_exact_places(newline: str) -> None:
    data = SOURCE.replace("\n", newline).encode()
    ignores = read_python(data, "a.py").ignores
    assert [[code for code, _ in ignore.codes] for ignore in ignores] == [["NSP102"], ["NSP104", "NSP105"], ["NSP107"]]
    assert [text_at(data, ignore.span) for ignore in ignores] == [
        "nsplugin: ignore[NSP102]",
        "nsplugin: ignore[NSP104, NSP105]",
        "nsplugin: ignore[NSP107]",
    ]
    assert text_at(data, ignores[1].codes[1][1]) == "NSP105"


def test_findings_on_the_line_are_silenced_and_the_rest_is_kept() -> None:
    ignores = read_python(b"a = 1  # nsplugin: ignore[NSP101, NSP102]\nb = 2\n", "a.py").ignores
    here, other, below = _problem("NSP101", 1), _problem("NSP103", 1), _problem("NSP101", 2)
    found = silence([here, other, below, _problem("NSP101", 1, 9)], ignores)
    assert found.problems == (other, below)
    assert [[code for code, _ in ignore.codes] for ignore in found.needless] == [["NSP102"]]


@pytest.mark.parametrize("written", ["NSP1", "NSP", "nsp101", "some-rule", "Some-Rule"])
def test_beginnings_and_names_silence_like_codes(written: str) -> None:
    ignores = read_python(f"a = 1  # nsplugin: ignore[{written}]\n".encode(), "a.py").ignores
    found = silence([replace(_problem("NSP101", 1), name="some-rule")], ignores)
    assert (found.problems, found.needless) == ((), ())


def test_what_silences_only_what_another_has_silenced_is_needless() -> None:
    ignores = read_python(b"a = 1  # nsplugin: ignore[NSP1, NSP101, NSP2, n]\n", "a.py").ignores
    assert ignores[0].fault is not None
    ignores = read_python(b"a = 1  # nsplugin: ignore[NSP1, NSP101, NSP2]\n", "a.py").ignores
    found = silence([_problem("NSP101", 1), _problem("NSP102", 1)], ignores)
    assert [[code for code, _ in ignore.codes] for ignore in found.needless] == [["NSP101", "NSP2"]]


def test_a_finding_over_several_lines_is_silenced_on_its_first() -> None:
    ignores = read_python(b"a = f(  # nsplugin: ignore[NSP401]\n  1,\n)  # nsplugin: ignore[NSP401]\n", "a.py").ignores
    found = silence([_problem("NSP401", 1, 3)], ignores)
    assert found.problems == ()
    assert [ignore.span.line for ignore in found.needless] == [3]


def test_malformed_and_repeated_ignores_are_needless() -> None:
    data = b"a = 1  # nsplugin: ignore\nb = 1  # nsplugin: ignore[NSP101, NSP101]\n"
    found = silence([_problem("NSP101", 2)], read_python(data, "a.py").ignores)
    assert found.problems == ()
    assert [(ignore.span.line, len(ignore.codes), ignore.fault is None) for ignore in found.needless] == [
        (1, 0, False),
        (2, 1, True),
    ]


def test_nobody_silences_what_says_that_an_ignore_is_needless() -> None:
    ignores = read_python(b"a = 1  # nsplugin: ignore[NSP901]\n", "a.py").ignores
    problem = _problem("NSP901", 1)
    assert silence([problem], ignores).problems == (problem,)
    assert len(silence([problem], ignores).needless) == 1


def test_findings_without_a_place_are_kept() -> None:
    problem = Problem(code="NSP101", name="n", severity="error", pointer="", message="m")
    assert silence([problem], ()).problems == (problem,)
