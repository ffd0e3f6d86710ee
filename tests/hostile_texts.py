"""Hostile manifests that are no sound JSON text (NSP601), in groups; :mod:`hostile_corpus` names them."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any

MEBIBYTE = 1 << 20

SOUND: dict[str, Any] = {
    "manifestVersion": 1,
    "platform": "nextskin",
    "id": "cache-expiry",
    "entry": "plugin:plugin",
    "jobs": {"expire": {"maxAttempts": 5}},
    "cron": [{"schedule": "0 3 * * *", "job": "expire", "payload": {"key": "daily"}}],
}
"""A manifest that nothing is wrong with; the hostile ones are made of it."""

TEXT = json.dumps(SOUND, indent=2)


def _with(text: str) -> bytes:
    """The sound manifest with a payload that is this text."""
    return TEXT.replace('{\n        "key": "daily"\n      }', text).encode()


Named = Iterator[tuple[str, bytes]]


def _encodings() -> Named:
    yield "empty", b""
    yield "one space", b" "
    yield "white space", b" \t\r\n" * 100
    yield "byte order mark alone", codecs.BOM_UTF8
    yield "byte order mark", codecs.BOM_UTF8 + TEXT.encode()
    yield "two byte order marks", codecs.BOM_UTF8 * 2 + TEXT.encode()
    for codec in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        yield codec, TEXT.encode(codec)
        yield f"{codec} with its mark", ("\ufeff" + TEXT).encode(codec)
        yield f"{codec} cut", TEXT.encode(codec)[:-1]
    yield "utf-7", ("+AHs-" + TEXT[1:]).encode()
    yield "ebcdic", TEXT.encode("cp037")
    for name, data in {
        "latin-1": "é".encode("latin-1"),
        "lone continuation": b"\x80",
        "cut sequence": "é".encode()[:1],
        "overlong slash": b"\xc0\xaf",
        "overlong zero": b"\xc0\x80",
        "encoded surrogate": b"\xed\xa0\x80",
        "encoded surrogate pair": b"\xed\xa0\xbd\xed\xb8\x80",
        "beyond unicode": b"\xf4\x90\x80\x80",
        "five bytes": b"\xf8\x88\x80\x80\x80",
        "ff and fe": b"\xff\xfe",
        "thirty latin-1 letters": "äöü".encode("latin-1") * 10,
    }.items():
        yield f"{name} in a string", _with('"%s"').replace(b"%s", data)
        yield f"{name} between tokens", TEXT.encode() + data
    yield "nothing but ff", b"\xff" * 1000
    yield "gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + bytes(range(256))
    yield "png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256))
    yield "zip", b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(range(256))
    yield "every byte", bytes(range(256))
    yield "zero bytes", bytes(1000)


def _sizes() -> Named:
    yield "one byte over a mebibyte", TEXT.encode().ljust(MEBIBYTE + 1)
    yield "two mebibytes", TEXT.encode().ljust(2 * MEBIBYTE)
    yield "two mebibytes of a string", b'"' + b"a" * 2 * MEBIBYTE + b'"'
    yield "a mebibyte of quotes", b'"' * MEBIBYTE
    yield "a mebibyte of backslashes", b'["' + b"\\" * (MEBIBYTE - 2)
    yield "a mebibyte of spaces", b" " * MEBIBYTE
    yield "a mebibyte of commas", b"[" + b"," * (MEBIBYTE - 2) + b"]"
    yield "a mebibyte of NaN", b"[" + b"NaN," * (MEBIBYTE // 4 - 1) + b"0]"
    yield "a mebibyte of duplicates", b"{" + b'"a":1,' * (MEBIBYTE // 6 - 1) + b'"a":1}'
    yield "a mebibyte of bad escapes", b'["' + b"\\q" * (MEBIBYTE // 2 - 2) + b'"]'
    yield "a mebibyte of half pairs", b'["' + b"\\ud800" * (MEBIBYTE // 6 - 1) + b'"]'
    yield "a mebibyte of comments", b"/**/" * (MEBIBYTE // 4)
    yield "a mebibyte of words", b"[a" + b" a" * (MEBIBYTE // 2 - 2) + b"]"
    yield "a mebibyte of digits", b"[" + b"9" * (MEBIBYTE - 2) + b"]"
    yield "a mebibyte of lines", b'"a\n' * (MEBIBYTE // 3)
    yield "a long key over many children", b'{"' + b"k" * (MEBIBYTE // 2) + b'":[' + b"1," * (MEBIBYTE // 4 - 16) + b"NaN]}"


def _depths() -> Named:
    for levels in (65, 66, 100, 1_000, 10_000, 100_000):
        yield f"{levels} lists", b"[" * levels + b"]" * levels
        yield f"{levels} objects", b'{"a":' * levels + b"1" + b"}" * levels
    yield "100,000 lists left open", b"[" * 100_000
    yield "100,000 objects left open", b'{"a":' * 100_000
    yield "a mebibyte of brackets", b"[" * MEBIBYTE
    yield "mixed to 70 levels", b'[{"a":' * 35 + b"1" + b"}]" * 35
    yield "two deep places", b"[" + b"[" * 80 + b"]" * 80 + b"," + b"[" * 80 + b"]" * 80 + b"]"
    yield "a payload of 100 levels", _with("[" * 100 + "]" * 100)
    yield "closers alone", b"]" * 100_000
    yield "openers and closers crossed", b"[{" * 30 + b"]}" * 30


def _numbers() -> Named:
    for number in (
        *("NaN", "Infinity", "-Infinity", "nan", "inf", "-inf", "+Infinity", "1e400", "-1e400", "1e999999999", "0.1e400"),
        *("9007199254740992", "-9007199254740992", "9007199254740993", "18446744073709551616", "1e16", "9007199254740992.0"),
        *(
            "01",
            "-01",
            "00",
            "0x10",
            "0o7",
            "0b1",
            "1_000",
            "+1",
            ".5",
            "-.5",
            "5.",
            "1.e5",
            "1e",
            "1e+",
            "1.2.3",
            "--1",
            "-",
            "+",
        ),
        *("1n", "5s", "1,5", "1'000", "١", "１", "½", "²", "1e5e5", "0x", "Ⅷ", "1e１"),
    ):
        yield number, _with(number)
    yield "6,000 digits", _with("9" * 6_000)
    yield "minus 6,000 digits", _with("-" + "9" * 6_000)
    yield "6,000 digits and a fraction", _with("9" * 6_000 + ".5")
    yield "an exponent of 6,000 digits", _with("1e" + "9" * 6_000)
    yield "100,000 zeros before", _with("0" * 100_000 + "1")


def _strings() -> Named:
    for name, inside in {
        "half pair, high": r"\ud800",
        "half pair, low": r"\udfff",
        "half pair, upper case": r"\uD8AB",
        "pair the wrong way round": r"\ude00\ud83d",
        "two high halves": r"\ud83d\ud83d",
        "half pair and a letter": r"\ud83da",
        "bad escape x": r"\x41",
        "bad escape a": r"\a",
        "bad escape 0": r"\0",
        "bad escape quote": r"\'",
        "bad escape in a path": r"C:\Users\me",
        "short unicode escape": r"\u12",
        "unicode escape without digits": r"\u",
        "unicode escape in braces": r"\u{1F600}",
        "unicode escape with a sign": r"\u+123",
        "unicode escape with wide digits": "\\u００４１",
        "raw tab": "\t",
        "raw line feed": "\n",
        "raw carriage return": "\r",
        "raw zero": "\0",
        "raw escape": "\x1b[31m",
        "raw bell": "\a",
        "raw unit separator": "\x1f",
        "backslash and line feed": "\\\n",
        "quote inside": 'a"b',
    }.items():
        yield name, _with(f'"{inside}"')
        yield f"{name} in a key", _with(f'{{"{inside}": 1}}')
    yield "string without end", TEXT[:-20].encode()
    yield "string without end on its line", TEXT.replace('"cache-expiry",', '"cache-expiry,').encode()
    yield "backslash before the end", _with('"abc\\"')
    for name, opening, closing in (("single", "'", "'"), ("typographic", "“", "”"), ("wide", "＂", "＂"), ("back", "`", "`")):
        yield f"{name} quotes", _with(f"{opening}abc{closing}")
    yield "bytes of Python", _with("b'abc'")
    yield "three quotes", _with('"""abc"""')
    yield "two strings", _with('"abc" "def"')


def _shapes() -> Named:
    yield "a manifest of Python", repr(SOUND).encode()
    yield "every key bare", TEXT.replace('"', "").encode()
    yield "line comment", TEXT.replace("{", "{ // sound", 1).encode()
    yield "block comment", TEXT.replace("{", "{ /* sound */", 1).encode()
    yield "hash comment", TEXT.replace("{", "{ # sound", 1).encode()
    yield "comment without end", TEXT.encode() + b"/* sound"
    yield "comment alone", b"// sound"
    for name, value in {
        "trailing comma in a list": "[1, 2,]",
        "trailing comma in an object": '{"a": 1,}',
        "comma alone in a list": "[,]",
        "comma alone in an object": "{,}",
        "leading comma": "[,1]",
        "two commas": "[1,,2]",
        "no comma in a list": "[1 2]",
        "no comma in an object": '{"a": 1 "b": 2}',
        "no colon": '{"a" 1}',
        "no value": '{"a":}',
        "no value and a comma": '{"a":,"b":1}',
        "key alone": '{"a"}',
        "two colons": '{"a"::1}',
        "colon in a list": '["a": 1]',
        "colon alone": "{:}",
        "value without key": '{1, "a": 2}',
        "number as key": "{1: 2}",
        "null as key": "{null: 2}",
        "list as key": "{[1]: 2}",
        "object as key": "{{}: 2}",
        "bare key": "{a: 1}",
        "bare value": '{"a": b}',
        "equals sign": '{"a" = 1}',
        "arrow": '{"a" => 1}',
        "semicolon": '{"a": 1; "b": 2}',
        "True": "True",
        "False": "False",
        "None": "None",
        "undefined": "undefined",
        "TRUE": "TRUE",
        "nil": "nil",
        "call": "datetime(2026, 1, 1)",
        "template": "{{ payload }}",
        "dollar": "${payload}",
        "ellipsis": "[1, ...]",
        "parentheses": "(1, 2)",
        "set": "{1, 2}",
        "wide marks": "｛“a”：1，“b”：2｝",
        "no-break space": '{\u00a0"a": 1}',
        "zero width space": '{\u200b"a": 1}',
        "line separator": '{\u2028"a": 1}',
        "byte order mark inside": '{\ufeff"a": 1}',
        "form feed": '{\f"a": 1}',
        "vertical tab": '{\v"a": 1}',
        "zero byte": '{\0"a": 1}',
        "duplicate key": '{"a": 1, "a": 2}',
        "duplicate key, escaped": '{"a": 1, "\\u0061": 2}',
        "three equal keys": '{"a": 1, "b": 2, "a": 3, "a": 4}',
        "two pairs of duplicates and NaN": '{"a": 1, "a": 2, "b": NaN, "c": {"d": 1, "d": 2}}',
        "duplicate empty key": '{"": 1, "": 2}',
        "list closed as object": "[1, 2}",
        "object closed as list": '{"a": 1]',
        "list left open": "[1, 2",
        "object left open": '{"a": 1',
    }.items():
        yield name, _with(value)
    for key in ("manifestVersion", "platform", "id", "jobs", "cron"):
        yield f"{key} twice", TEXT.replace("{", f'{{"{key}": null,', 1).encode()
    yield "a bracket too many", TEXT.encode() + b"}"
    yield "a bracket too few", TEXT[:-1].encode()
    yield "text behind", TEXT.encode() + b" sound"
    yield "two manifests", TEXT.encode() * 2
    yield "a manifest a line", b"{}\n{}\n{}\n"
    yield "carriage returns and NaN", TEXT.replace("\n", "\r").encode().replace(b"5", b"NaN")
    yield "zero bytes behind", TEXT.encode() + bytes(16)


def _others() -> Named:
    yield "yaml", b"manifestVersion: 1\nplatform: nextskin\n"
    yield "toml", b'manifestVersion = 1\nplatform = "nextskin"\n'
    yield "python", b"from nsplugin import define_plugin\nplugin = define_plugin()\n"
    yield "typescript", b"export default definePlugin({ jobs: {} })\n"
    yield "html", b"<!DOCTYPE html><html><body>404</body></html>"
    yield "xml", b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    yield "javascript prefix", b")]}',\n" + TEXT.encode()
    yield "merge conflict", b"<<<<<<< HEAD\n" + TEXT.encode() + b"\n=======\n{}\n>>>>>>> main\n"
    yield "shell", b"#!/bin/sh\nrm -rf /\n"
    yield "pickle", b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s."
    for mark in "[]{},:\"'-+/\\.#$@`":
        yield f"the character {mark} alone", mark.encode()


def _cuts() -> Named:
    """A sound manifest that stops too early, at every nineteenth character."""
    for end in range(1, len(TEXT) - 1, 19):
        yield f"after {end} characters", TEXT[:end].encode()


UNREADABLE = {
    "encoding": _encodings,
    "size": _sizes,
    "depth": _depths,
    "number": _numbers,
    "string": _strings,
    "shape": _shapes,
    "other language": _others,
    "cut": _cuts,
}
