"""The goldens of reading: what is said of each faulty text, as its author sees it. ``make update`` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nsplugin.reading import read
from nsplugin.rules import Problem

FOLDER: Final = Path(__file__).parent / "reading"

GROUPS: Final[dict[str, tuple[bytes | str, ...]]] = {
    "encoding": (
        b"",
        b" \r\n",
        b"\xef\xbb\xbf",
        b'\xef\xbb\xbf{"a": 1}',
        *(('{"a": 1}').encode(codec) for codec in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")),
        b'{"caf\xe9": "na\xefve"}',
        '{"日本": "é'.encode() + b'\xff"}',
        b'{"a": "\xed\xa0\x80"}',
        '{"a": "\ud800"}',
        '\ufeff{"a": 1}',
    ),
    "numbers": (
        b"[NaN, Infinity, -Infinity, nan, +inf]",
        b"[9007199254740991, -9007199254740991, 9007199254740992, -9007199254740992]",
        b"[9007199254740993.0, 1e17, 1e21, 1e400, -1e400]",
        b"[123456789012345678901234567890, 0.1e999]",
        b"[01, -007, +1, .5, -.5, 5., 1e, 0x1F, 0o17, 0b11, 1_000, 10n, 5s, --1, 1.2.3]",
        "[１, ½, -]".encode(),
    ),
    "strings": (
        rb'["\ud800", "\udfff\ud83d", "\ud83d\ude00", "\uD83D\u0041"]',
        rb'["\x41", "\a", "\'", "C:\Users\new", "\u12", "\u{1F600}"]',
        b'["a\tb\tc", "a\nb", "a\x00b", "a\x1b[31m"]',
        b'{"a": "b\n}',
        b'{"a": "b,\n "c": 1}',
        b'{"a: 1,\n "c": 1}',
        b'{"a": "b',
        b'{"a": "b"c", "d": 1}\n',
        b"{'a': 'it\\'s', `b`: \"c\"}",
        "{“a”: ‘b’, «c»: ＂d＂}".encode(),
        b"[b'a', u\"b\"]",
        b"['a, 1]\n",
    ),
    "keys": (
        b'{"a": 1, "b": 2, "a": 3}',
        b'{\n  "a": 1,\n  "a": NaN,\n  "b": {"c": 1, "c": 2},\n  "a": 4\n}',
        b'{"a": 1, "\\u0061": 2}',
        b"{a: 1, b-c: 2, 3: 4, null: 5}",
        b'{"a" 1, "b" = 2, "c" => 3}',
        b'{"a":, "b", "c":}',
        b"{[1]: 2}",
        b"{: 1}",
        b'["a": 1]',
        rb'{"\ud800": 1, "\q": 2}',
    ),
    "commas": (
        b"[1, 2, ]",
        b'{"a": [1,], "b": {"c": 1,},}',
        b"[1,, 2]",
        b"[, 1]",
        b"{,}",
        b"[1 2 3]",
        b'{"a": 1 "b": 2}',
        b'{"a": "x" "y", "b": 1}',
        b'{"a": 1; "b": 2}',
        "[1， 2、 3]".encode(),
    ),
    "brackets": (
        b"[1, 2",
        b"{",
        b'{"a": {"b": [1, 2',
        b'{\n  "jobs": {\n    "expire": {\n      "maxAttempts": 5\n  },\n  "cron": []\n}\n',
        b"[1, 2}",
        b'{"a": [1, 2}',
        b'{"a": 1}}',
        b'{"a": 1} {"b": 2}',
        b"[" * 65 + b"]" * 65,
        b'{"a": ' * 100_000,
        b"[" * 70 + b"]" * 70 + b" x",
    ),
    "words": (
        b'{"a": True, "b": FALSE, "c": None, "d": undefined, "e": nil}',
        b'{"a": sound, "b": not sound, "c": datetime(2026, 1, 1), "d": don\'t}',
        b'{"a": $x, "b": @y, "c": (1)}',
        b'// a manifest\n{\n  /* the id */\n  "id": 1  # one\n}',
        b'{"a": 1} // end',
        b"# nothing",
        '{"a":\u00a01,\u2028"b":\u200b2}'.encode(),
        b'{"a": 1}\x00\x00',
        b"from nsplugin import define_plugin",
        b"manifestVersion: 1\nplatform: nextskin\n",
        b"<!DOCTYPE html>",
        b"}",
    ),
    "places": (
        '{"日本😀é": 1, "日本😀é": NaN}'.encode(),
        b'{"a": 1,\r"b": x,\r\n"c": y,\n\r"d": z}',
        b'{\t"a":\tx}',
        b'{"a/b": {"c~d": [0, {"": x}]}}',
    ),
}


def files() -> Iterator[tuple[Path, bytes]]:
    """Each golden and what it should hold."""
    for group, texts in GROUPS.items():
        yield FOLDER / f"{group}.golden.txt", "\n".join(map(_told, texts)).encode()


def _told(data: bytes | str) -> str:
    document = read(data)
    return f"{_shown(data)}\n{''.join(map(_line, document.problems))}  = {_clip(repr(document.value))}\n"


def _line(problem: Problem) -> str:
    span = problem.span
    assert span is not None and problem.code == "NSP601"
    hint = f"  [{problem.hint}]" if problem.hint else ""
    return f"  {span.line}:{span.column}-{span.end_line}:{span.end_column} {_clip(problem.pointer)}: {problem.message}{hint}\n"


def _shown(data: bytes | str) -> str:
    return _clip(repr(data))


def _clip(text: str) -> str:
    return text if len(text) <= 100 else text[:97] + "..."
