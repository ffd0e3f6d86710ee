"""Where each pointer stands: columns in characters, whatever the file's encoding and line ends."""

from __future__ import annotations

import codecs
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsplugin.spans import Position, Span
from nsplugin_cli.source.python import read_python
from nsplugin_cli.source.python_strings import characters
from nsplugin_cli.source.python_text import decode, parse
from python_sources import definition, problems, text_at

PLUGIN = """\
from nsplugin import Cron, Job, Route, define_plugin
LIMIT = 60_000
OPTIONS = {"timeout_ms": LIMIT}
async def expire(ctx): ...
plugin = define_plugin(
    id="cache-expiry",
    capabilities=["storage.kv", 'x'],
    jobs={"expire": Job(expire, max_attempts=3 + 2, **OPTIONS), "two": {"handler": expire, "maxAttempts": 1}},
    cron=[Cron("0 3 * * *", job="expire", payload={"key": [1, "daily"]})],
    routes={"POST /a/b": Route(expire, auth="user")},
)
"""
VALUES = {
    "/id": '"cache-expiry"',
    "/capabilities": "[\"storage.kv\", 'x']",
    "/capabilities/1": "'x'",
    "/jobs/expire": "Job(expire, max_attempts=3 + 2, **OPTIONS)",
    "/jobs/expire/maxAttempts": "3 + 2",
    "/jobs/expire/timeoutMs": "60_000",
    "/jobs/two": '{"handler": expire, "maxAttempts": 1}',
    "/jobs/two/maxAttempts": "1",
    "/cron/0/schedule": '"0 3 * * *"',
    "/cron/0/payload": '{"key": [1, "daily"]}',
    "/cron/0/payload/key/1": '"daily"',
    "/routes/POST ~1a~1b/auth": '"user"',
}
KEYS = {
    "/id": "id",
    "/jobs": "jobs",
    "/jobs/expire": '"expire"',
    "/jobs/expire/maxAttempts": "max_attempts",
    "/jobs/expire/timeoutMs": '"timeout_ms"',
    "/jobs/two/maxAttempts": '"maxAttempts"',
    "/cron/0/job": "job",
    "/cron/0/payload/key": '"key"',
    "/routes/POST ~1a~1b": '"POST /a/b"',
}
WIDE = PLUGIN.replace("LIMIT", "größe").replace("    id=", "    # 漢字 😀\n\tid=").replace('"daily"', '"täglich 😀"')


def _assert_places(data: bytes, source: str, encoding: str) -> None:
    (found,) = read_python(data, "plugin.py").definitions
    for pointer, text in VALUES.items():
        expected = text.replace("daily", "täglich 😀") if source is WIDE else text
        assert text_at(data, found.spans.locate(pointer), encoding) == expected
    for pointer, text in KEYS.items():
        assert text_at(data, found.spans.locate(pointer, "key"), encoding) == text


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("source", [PLUGIN, WIDE])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_every_pointer_has_its_place(source: str, newline: str, mark: bytes) -> None:
    data = mark + source.replace("\n", newline).encode()
    _assert_places(data, source, "utf-8-sig")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso-8859-15", "utf-8", "utf-8-sig", "mac-roman"])
@pytest.mark.parametrize("first_line", ["", "#!/usr/bin/env python3\n"])
def test_an_encoding_cookie_is_followed(encoding: str, first_line: str) -> None:
    source = f"{first_line}# -*- coding: {encoding} -*-\nNAME = 'é'\n" + PLUGIN.replace("cache-expiry", "caché-expiry")
    data = source.encode(encoding.removesuffix("-sig"))
    (found,) = read_python(data, "plugin.py").definitions
    assert found.raw["id"] == "caché-expiry"
    assert text_at(data, found.spans.locate("/id"), encoding.removesuffix("-sig")) == '"caché-expiry"'
    assert text_at(data, found.spans.locate("/jobs/expire/maxAttempts"), encoding.removesuffix("-sig")) == "3 + 2"


def test_form_feeds_and_tabs_are_one_character_each() -> None:
    source = "from nsplugin import *\n\f\nif True:\n\tplugin\t=\tdefine_plugin(\tid\t=\t'é\tx',\f version='1')\n"
    found = definition(source)
    assert found.spans.locate("/id") == Span(4, 31, 4, 36)
    assert found.spans.locate("/version") == Span(4, 47, 4, 50)


def test_separators_that_only_some_editors_break_lines_at_do_not() -> None:
    source = "from nsplugin import *\nX = 'a\u2028b\x0cc\x85d\x1c'\nplugin = define_plugin(id='x')\n"
    assert definition(source).spans.locate("/id") == Span(3, 27, 3, 30)


def test_values_by_name_stand_where_they_are_written_and_those_of_other_modules_where_they_are_used() -> None:
    source = "from nsplugin import *\nfrom names import ID\nVERSION = '1.0'\nplugin = define_plugin(id=ID, version=VERSION)\n"
    found = definition(source, lambda importer, dotted: ("names.py", b"\n\n\n\nID = 'abc'"))
    assert found.raw == {"id": "abc", "version": "1.0"}
    assert text_at(source, found.spans.locate("/id")) == "ID"
    assert text_at(source, found.spans.locate("/version")) == "'1.0'"


@pytest.mark.parametrize(
    ("literal", "underlined"),
    [
        ('"0 25 * * *"', "25"),
        ("'0 25 * * *'", "25"),
        ('r"0 25 * * *"', "25"),
        ('f"0 25 * * *"', "25"),
        ('"0\\x2025 * * *"', "25"),
        ('"\\x30 25 * * *"', "25"),
        ('"\\60 2\\u0035 * * *"', "2\\u0035"),
        ('"0 \\N{DIGIT TWO}5 * * *"', "\\N{DIGIT TWO}5"),
        ('"0 " "25 * * *"', "25"),
        ('"0 "\n    # why\n    "25 * * *"', "25"),
        ('("0 "\n "25 * * *")', "25"),
        ('"0 2" "5 * * *"', '2" "5'),
        ('"0 \\\n25 * * *"', "25"),
        ('"""0 25 * * *"""', "25"),
        ("'''0 25 * * *'''", "25"),
        ('"0\t25 * * *"', "25"),
        ('u"0 25 * * *"', "25"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_fault_inside_a_string_has_its_own_columns(literal: str, underlined: str, newline: str) -> None:
    source = (
        "from nsplugin import *\ndef f(ctx): ...\n"
        f"plugin = define_plugin(jobs={{'é': Job(f)}}, cron=[Cron({literal}, job='é')])\n"
    )
    found = [problem for problem in problems(source.replace("\n", newline)) if problem.code == "NSP203"]
    assert [text_at(source, problem.span) for problem in found] == [underlined]


def test_a_string_that_is_put_together_is_underlined_as_a_whole() -> None:
    source = (
        "from nsplugin import *\ndef f(ctx): ...\nH = 25\n"
        "plugin = define_plugin(jobs={'a': Job(f)}, cron=[Cron(f'0 {H} * * *', job='a')])\n"
    )
    (problem,) = problems(source)
    assert (problem.code, text_at(source, problem.span)) == ("NSP203", "f'0 {H} * * *'")


PLAIN = ["a", "é", "漢", "😀", " ", "\t", "#", "(", "{", "}", "%"]
ESCAPES = ["\\n", "\\\\", "\\'", '\\"', "\\x41", "\\u00e9", "\\U0001F600", "\\101", "\\d", "\\N{BULLET}", "\\\n", "\\0"]
PIECES = st.sampled_from([*PLAIN, *ESCAPES])
PREFIXES = st.sampled_from(["", "r", "R", "u", "f", "F", "rf", "Rf", "fR"])


@st.composite
def literals(draw: st.DrawFn) -> str:
    prefix = draw(PREFIXES)
    quote = draw(st.sampled_from(['"', "'", '"""', "'''"]))
    pieces = draw(st.lists(PIECES, max_size=8))
    if "f" in prefix.lower():
        pieces = [{"{": "{{", "}": "}}", "\\N{BULLET}": "x"}.get(piece, piece) for piece in pieces]
    if len(quote) == 3:
        pieces = [*pieces, draw(st.sampled_from(["", "\n", "x\n  y"]))]
    return f"{prefix}{quote}{''.join(pieces)}{quote}"


@settings(max_examples=300, deadline=None)
@given(st.lists(literals(), min_size=1, max_size=3), st.sampled_from(["\n", "\r\n", "\r"]))
def test_each_character_of_a_literal_is_found(parts: list[str], newline: str) -> None:
    """The source from one character's place to the next one's, evaluated alone, is that character."""
    joined = "x = (" + " \\\n  ".join(parts) + "  # end\n)\n"
    text = decode(joined.replace("\n", newline).encode())
    node = parse(text).body[0].value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = eval(joined[len("x = ") :])
    places = characters(text, node, value)
    assert len(places) == len(value) + 1
    assert list(places) == sorted(places)
    for place, following, character in zip(places, places[1:], value, strict=False):
        piece = _between(text.lines, place, following)
        assert character == "\n" or piece.startswith((character, "\\")), (joined, piece, character)


def _between(lines: list[str], start: Position, end: Position) -> str:
    if start.line == end.line:
        return lines[start.line - 1][start.column - 1 : end.column - 1]
    return lines[start.line - 1][start.column - 1 :]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="aé漢😀 \t", max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_columns_do_not_depend_on_what_stands_before(before: str, newline: str) -> None:
    source = f"from nsplugin import *\nx = '{before}'; plugin = define_plugin(id='{before}!')\n"
    data = source.replace("\n", newline).encode()
    (found,) = read_python(data, "plugin.py").definitions
    assert text_at(data, found.spans.locate("/id")) == f"'{before}!'"
