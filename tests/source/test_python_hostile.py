"""Files that nobody wrote to be read: one finding at its place, or none; never a traceback, never a hang."""

from __future__ import annotations

import ast
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsplugin.spans import Span
from nsplugin_cli.source.definition import SourceFile
from nsplugin_cli.source.python import read_python

N = 100_000
IMPORT = "from nsplugin import define_plugin\n"
DEEP = {
    "minus": "-" * N + "1",
    "not": "not " * N + "1",
    "round": "(" * N,
    "round, closed": "(" * N + ")" * N,
    "square": "[" * N + "]" * N,
    "curly": "{1:" * N,
    "lambda": "lambda:" * N + "1",
    "condition": "a if b else " * N + "1",
    "sum": "1+" * N + "1",
    "power": "2**" * N + "1",
    "attribute": "a" + ".a" * N,
    "call": "a" + "()" * N,
    "index": "a" + "[0]" * N,
    "elif": "if a:\n pass\n" + "elif a:\n pass\n" * N,
    "blocks": "".join(" " * n + "if a:\n" for n in range(300)),
    "f-string": 'f"{' * N,
    "walrus": "(a:=" * N,
    "star": "*" * N,
    "await": "await " * N + "x",
}
LONG = {
    "assignments": "x=" * N + "1",
    "strings": "x=" + '"a" ' * N,
    "comparisons": "a<" * N + "b",
    "names": "a" * 1_000_000,
    "semicolons": "a;" * (N // 2),
    "digits": "x = " + "1" * 1_000_000,
    "hexadecimal": "x = 0x" + "f" * 1_000_000,
    "line feeds": "\n" * 1_000_000,
    "backslashes": "\\\n" * N,
    "decorators": "@a\n" * (N // 4) + "def f(): pass",
    "comment": "#" * 1_000_000,
    "one line": "x = '" + "a" * 1_000_000 + "'",
    "ignores": "x = 1  # nsplugin: ignore[NSP211]\n" * 20_000,
}


def _quickly(data: bytes) -> SourceFile:
    before = time.monotonic()
    found = read_python(data, "plugin.py")
    assert time.monotonic() - before < 20
    return found


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in DEEP.items()])
def test_a_hundred_thousand_levels_are_one_finding(source: str) -> None:
    found = _quickly((IMPORT + source + "\n").encode())
    assert found.definitions == () and found.unreadable is not None
    assert found.unreadable.span is not None and found.unreadable.message


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in LONG.items()])
def test_a_megabyte_is_read_or_refused_in_good_time(source: str) -> None:
    found = _quickly((IMPORT + source + "\n").encode())
    assert found.definitions == ()


@pytest.mark.parametrize(
    ("data", "message", "span"),
    [
        (b"x = (1\ny = 2\n", "'(' was never closed", Span(1, 5, 1, 6)),
        (b"def broken(:\n  pass\n", "this file does not parse: invalid syntax", Span(1, 12, 1, 13)),
        ("é = '漢' 1\n".encode(), "invalid syntax", Span(1, 9, 1, 10)),
        (b"\xef\xbb\xbfx = $\n", "invalid syntax", Span(1, 5, 1, 6)),
        (b"if x:\npass\n", "expected an indented block", Span(2, 1, 2, 5)),
        (b"if x:\r\n\tpass\r\n        pass\r\n", "inconsistent use of tabs", Span(3, 1, 3, 2)),
        (b"x = 'abc\n", "unterminated string literal", Span(1, 5, 1, 6)),
        (b"print 'hello'\n", "Missing parentheses", Span(1, 1, 1, 14)),
        (b"x = 1\0\n", "NUL byte", Span(1, 6, 1, 7)),
        (b"\x7fELF\x02\x01\x01\0\0\0\xff", "is not utf-8: byte 0xff", Span(1, 11, 1, 12)),
        (b"a\r\nb\rc = '\xe9'\n", "is not utf-8: byte 0xe9", Span(3, 6, 3, 7)),
        (b"# coding: latin-5000\n", "the encoding 'latin-5000' is not known", Span(1, 1, 1, 2)),
        (b"#!/bin/sh\n# coding: nope\n", "the encoding 'nope' is not known", Span(2, 1, 2, 2)),
        (b"# coding: rot13\n", "the encoding 'rot13' is not known", Span(1, 1, 1, 2)),
        (b"# coding: punycode\n", "the encoding 'punycode' is not known", Span(1, 1, 1, 2)),
        *(
            (f"# coding: {name}\n".encode() + b"x = 1\n" * 150_000, f"the encoding '{name}' is not known", Span(1, 1, 1, 2))
            for name in ("punycode-", "-punycode", "Punycode", ".punycode.", "idna", "-idna-", "IDNA")
        ),
        (b"\xef\xbb\xbf# coding: latin-1\n", "byte order mark", Span(1, 1, 1, 2)),
        (b"# coding: ascii\nx = '\xc3\xa9'\n", "is not ascii: byte 0xc3", Span(2, 6, 2, 7)),
        ("x".encode("utf-16"), "is not utf-8", Span(1, 1, 1, 2)),
        (b"x = '\xed\xa0\x80'\n", "is not utf-8", Span(1, 6, 1, 7)),
        (b"x" * (1 << 20) + b"x", "more than 1048576 bytes, the most that are read", Span(1, 1, 1, 1)),
        (b"x = 1" + b"0" * 5000, "Exceeds the limit", Span(1, 1, 1, 2)),
    ],
)
def test_a_file_that_does_not_parse_is_one_finding_with_its_place(data: bytes, message: str, span: Span) -> None:
    found = read_python(data, "plugin.py")
    assert found.unreadable is not None and message in found.unreadable.message
    assert found.unreadable.span is not None
    assert found.unreadable.span[:2] == span[:2]
    assert found.unreadable.span[2:] >= found.unreadable.span[:2]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\xef\xbb\xbf",
        b"\f\n",
        b"x = '\\d \\z'\n",
        b"x = 1\r",
        b"# -*- coding: utf8 -*-\n",
        b"# coding=UTF-8\n",
        b"#\n\n# coding: nope\n",
        b"x = 1\n# coding: nope\n",
        b"'''\n# coding: nope\n'''\n",
        b"\xef\xbb\xbf# vim: set fileencoding=utf-8 :\nx = 1\n",
        b"match x:\n  case {'a': b, **rest}: pass\n  case [*_]: pass\n",
        b"try:\n  pass\nexcept* E:\n  pass\n",
        b"async def f():\n  async for x in y: yield x\n  return\n",
        b"type_x = lambda *a, b=1, **c: (yield)\n",
        b"def f(a, /, b, *, c=1, **d): nonlocal_ = 1\n",
        b"import a.b.c, d as e\nfrom . import f\nfrom .. import *\n",
    ],
)
def test_what_the_interpreter_takes_is_read(data: bytes) -> None:
    assert read_python(data + b"# nsplugin\n" if data.endswith(b"\n") else data, "plugin.py").unreadable is None


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_as_the_interpreter_reads_them(data: bytes) -> None:
    """The interpreter's own parser is the oracle of what parses; older ones overlook bad bytes in comments."""
    found = read_python(b"#nsplugin\n\n" + data, "plugin.py")
    try:
        data.decode()
        ast.parse(b"#nsplugin\n\n" + data)
    except (SyntaxError, ValueError):
        assert found.unreadable is not None
    else:
        assert found.unreadable is None


CALLS = ["define_plugin(", "define_job(", "Job(", "Cron(", "ctx.jobs.enqueue(", "lambda ctx:", "await ", "raise "]
SIGNS = ["=", "{", "}", "[", "]", ")", ",", ":", "**", "*", "+", ".", "@", " ", "\n", "# nsplugin: ignore["]
WORDS = ["jobs", "'a'", "1", "f", "x", "payload", "return ", "def f(ctx):\n  ", "class A:\n  ", "if x:\n  ", "while True:\n  "]
PIECES = st.sampled_from([*CALLS, *SIGNS, *WORDS])


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=25))
def test_no_arrangement_of_plugin_code_breaks_the_reader(pieces: list[str]) -> None:
    found = read_python(("from nsplugin import *\n" + "".join(pieces) + "\n").encode(), "plugin.py")
    for definition in found.definitions:
        assert definition.spans.locate("/jobs/0") is not None
        for pointer in definition.spans.texts:
            definition.spans.locate(pointer, "value", 0, 1)
