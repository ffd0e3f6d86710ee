"""Hostile manifests, named: what a host may be handed, by accident or on purpose. Every one must be refused, in good time.

``corpus()`` yields them in a fixed order, made anew each time without randomness. ``unreadable`` ones are no sound JSON text
(NSP601); the others are JSON, and wrong or malicious in what they say.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

MEBIBYTE = 1 << 20


class Hostile(NamedTuple):
    """One manifest: a name unlike all others, the bytes, and whether reading alone must refuse them."""

    name: str
    data: bytes
    unreadable: bool


SOUND: dict[str, Any] = {
    "manifestVersion": 1,
    "platform": "nextskin",
    "id": "cache-expiry",
    "entry": "plugin:plugin",
    "jobs": {"expire": {"maxAttempts": 5}},
    "cron": [{"schedule": "0 3 * * *", "job": "expire", "payload": {"key": "daily"}}],
}
"""A manifest that nothing is wrong with; the hostile ones are made of it."""

COGOVER: dict[str, Any] = {
    "manifestVersion": 1,
    "platform": "cogover",
    "id": "order_automation",
    "entry": "main:jobs",
    "jobs": [{"key": "sync", "timeoutMs": 30000, "maxAttempts": 5, "schedule": {"cron": "0 2 * * *", "timezone": "UTC"}}],
}

TEXT = json.dumps(SOUND, indent=2)


def corpus() -> Iterator[Hostile]:
    """Every hostile manifest."""
    for group, made in _UNREADABLE.items():
        yield from (Hostile(f"{group}: {name}", data, True) for name, data in made())
    for group, values in _READABLE.items():
        yield from (Hostile(f"{group}: {name}", json.dumps(value).encode(), False) for name, value in values())


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


_UNREADABLE = {
    "encoding": _encodings,
    "size": _sizes,
    "depth": _depths,
    "number": _numbers,
    "string": _strings,
    "shape": _shapes,
    "other language": _others,
    "cut": _cuts,
}

Values = Iterator[tuple[str, Any]]


def _tops() -> Values:
    yield from {"null": None, "true": True, "number": 5, "string": "sound", "list": [], "list of one": [SOUND]}.items()
    yield "empty object", {}
    yield "its own text", json.dumps(SOUND)
    yield "version of tomorrow", {**SOUND, "manifestVersion": 2}
    yield "version as text", {**SOUND, "manifestVersion": "1"}
    yield "version true", {**SOUND, "manifestVersion": True}
    yield "unknown platform", {**SOUND, "platform": "../nextskin"}
    yield "platform as list", {**SOUND, "platform": ["nextskin"]}
    yield "keys of object prototypes", {**SOUND, "__proto__": {"admin": True}, "constructor": {}, "toString": 1}
    yield "ten thousand unknown keys", {**SOUND, **{f"key{n}": n for n in range(10_000)}}
    yield "an unknown key of 100,000 characters", {**SOUND, "k" * 100_000: 1}
    yield "keys of terminal sequences", {**SOUND, "\x1b[2J\x1b[31mred": 1, "right\u202eleft": 2}


def _fields() -> Values:
    """Each field with each wrong type, and with what only looks right."""
    for field in ("id", "entry", "jobs", "cron"):
        for name, value in {
            "null": None,
            "true": True,
            "number": 5,
            "list of lists": [[[]]],
            "object": {"a": {"b": 1}},
        }.items():
            yield f"{field} is {name}", {**SOUND, field: value}
    for name, text in {
        "empty": "",
        "line feed at the end": "cache-expiry\n",
        "path": "../../etc/passwd",
        "65 characters": "a" * 65,
        "zero": "a\0b",
        "markup": "<script>alert(1)</script>",
        "quotes": "'; DROP TABLE tasks; --",
        "right to left": "\u202eabc",
        "wide letters": "ａｂｃ",
    }.items():
        yield f"id {name}", {**SOUND, "id": text}
        yield f"job name {name}", {**SOUND, "jobs": {text: {}}, "cron": []}
    for field in ("maxAttempts", "timeoutMs"):
        for value in (0, -1, 601_000, 5.5, "5", None, True, [], {}, 2**53 - 1, -(2**53) + 1):
            yield f"{field} is {value!r}", {**SOUND, "jobs": {"expire": {field: value}}}
    yield "100,000 jobs with a wrong type", {**SOUND, "jobs": {f"j{n}": n for n in range(50_000)}}
    yield "cogover: 51 jobs", {**COGOVER, "jobs": [{"key": f"j{n}"} for n in range(51)]}
    yield "cogover: jobs of every type", {**COGOVER, "jobs": [None, True, 5, "a", [], {}]}


def _schedules() -> Values:
    for text in (
        *(
            "",
            " ",
            "* * * *",
            "* * * * * *",
            "@daily",
            "@reboot",
            "MON * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
        ),
        *(
            "* * * * 8",
            "0 0 30 2 *",
            "0 0 31 4,6,9,11 *",
            "*/0 * * * *",
            "5-1 * * * *",
            "5/10 * * * *",
            "L * * * *",
            "? * * * *",
        ),
        *(
            "0 3 * * *\n",
            "0\u00a03 * * *",
            "０ 3 * * *",
            "0 3 * * *;rm -rf /",
            "-1 * * * *",
            "1,,2 * * * *",
            "* * * * *" + " " * 5_000 + "*",
        ),
        *(
            "9" * 6_000 + " * * * *",
            "*/" + "9" * 6_000 + " * * * *",
            "0," * 40_000 + "0 * * * *",
            "\0 * * * *",
            "<script> * * * *",
        ),
    ):
        yield f"{text[:30]!r}, {len(text)} characters", {**SOUND, "cron": [{"schedule": text, "job": "expire"}]}
    yield "job that is not there", {**SOUND, "cron": [{"schedule": "0 3 * * *", "job": "expird"}]}
    yield "job as object", {**SOUND, "cron": [{"schedule": "0 3 * * *", "job": {}}]}
    yield "a time zone of its own", {**SOUND, "cron": [{"schedule": "0 3 * * *", "job": "expire", "timezone": "UTC"}]}
    yield (
        "5,000 impossible schedules",
        {**SOUND, "cron": [{"schedule": f"0 0 30 2 {n % 7},8", "job": "expire"} for n in range(5_000)]},
    )
    for zone in (
        "../etc/passwd",
        "/etc/passwd",
        "",
        "localtime",
        "Europe/berlin",
        "UTC+19",
        "right/UTC",
        "A" * 100_000,
        "\0",
        5,
        None,
    ):
        job = {"key": "sync", "schedule": {"cron": "0 2 * * *", "timezone": zone}}
        yield f"cogover: time zone {str(zone)[:20]!r}", {**COGOVER, "jobs": [job]}


def _payloads() -> Values:
    def paid(payload: Any) -> Any:
        return {**SOUND, "cron": [{"schedule": "0 3 * * *", "job": "expire", "payload": payload}]}

    yield "a byte too many", paid("a" * (65_536 - 1))
    yield "quotes that double", paid('"' * 32_768)
    yield "control characters", paid("\x01" * 11_000)
    yield "four bytes each", paid("😀" * 16_384)
    yield "half a mebibyte", paid(["x" * 1_000] * 500)
    yield "a hundred thousand numbers", paid([1] * 100_000)


def _schemas() -> Values:
    def held(schema: Any, payload: Any = None) -> Any:
        cron = [{"schedule": "0 3 * * *", "job": "expire", "payload": payload}]
        return {**SOUND, "jobs": {"expire": {"payloadSchema": schema}}, "cron": cron}

    for name, schema in {
        "remote reference": {"$ref": "http://127.0.0.1:9/schema.json"},
        "secure remote reference": {"$ref": "https://example.com/schema.json#/a"},
        "file reference": {"$ref": "file:///etc/passwd"},
        "relative file": {"$ref": "../../secrets.json"},
        "relative file with pointer": {"$ref": "definitions.json#/a"},
        "network path": {"$ref": "//example.com/schema.json"},
        "urn": {"$ref": "urn:uuid:00000000-0000-0000-0000-000000000000"},
        "data url": {"$ref": "data:application/json,{}"},
        "meta schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        "reference to nowhere": {"$ref": "#/$defs/none"},
        "reference to a string": {"$ref": "#/title", "title": "a"},
        "reference to an unknown anchor": {"$ref": "#none"},
        "reference that is a number": {"$ref": 5},
        "reference to itself": {"$ref": "#"},
        "two that refer to each other": {
            "$ref": "#/$defs/a",
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        },
        "loop through anyOf": {"anyOf": [{"type": "string"}, {"allOf": [{"$ref": "#"}]}]},
        "loop through not": {"not": {"$ref": "#"}},
        "loop through if": {"if": {"$ref": "#"}},
        "loop behind escapes": {"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"$ref": "#/%24defs/a~1b%25"}}},
        "dynamic reference": {"$dynamicRef": "#node", "$defs": {"a": {"$dynamicAnchor": "node"}}},
        "recursive reference": {"$recursiveRef": "#"},
        "identity that changes the base": {"properties": {"a": {"$id": "http://example.com/", "$ref": "schema.json"}}},
        "identity and a relative reference": {"$id": "http://example.com/a/", "$ref": "b"},
        "another dialect": {"$schema": "http://json-schema.org/draft-07/schema#"},
        "a dialect to fetch": {"$schema": "https://example.com/dialect"},
        "a dialect in a file": {"$schema": "file:///etc/passwd"},
        "unknown type": {"type": "int"},
        "types that are none": {"type": [5, None]},
        "no types": {"type": []},
        "properties as list": {"properties": []},
        "items as list": {"items": [{}]},
        "required as truth": {"required": True},
        "negative length": {"minLength": -1},
        "a multiple of nothing": {"multipleOf": 0},
        "no alternatives": {"anyOf": []},
        "alternatives of every type": {"anyOf": [None, 5, "a", []]},
        "a pattern that is none": {"pattern": "("},
        "a pattern without end": {"pattern": "[a-"},
        "a pattern of 500 groups": {"pattern": "(" * 500 + ")" * 500},
        "a pattern that fills memory": {"pattern": "(((a{9999}){9999}){9999}){9999}"},
        "a pattern of 100,000 characters": {"pattern": "a|" * 50_000},
        "a pattern that calls itself": {"pattern": "(?R)*"},
        "a key pattern that is none": {"patternProperties": {"[": {}}},
        "5,000 wrong schemas": {"properties": {f"p{n}": n for n in range(5_000)}},
        "20,000 patterns": {"properties": {f"p{n}": {"pattern": f"^{n}{{3}}$"} for n in range(20_000)}},
    }.items():
        yield name, held(schema)
    branching = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 3} for n in range(40)}
    yield "branches without end", held({"$ref": "#/$defs/a0", "$defs": {**branching, "a40": {"type": "string"}}}, 5)
    wide = {f"a{n}": {"oneOf": [{"properties": {"b": {"$ref": f"#/$defs/a{n + 1}"}}}] * 2} for n in range(50)}
    deep: Any = 5
    for _ in range(50):
        deep = {"b": deep}
    yield "branches at every level", held({"$ref": "#/$defs/a0", "$defs": {**wide, "a50": {"type": "string"}}}, deep)
    chain = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(3_000)}
    yield "3,000 references in a row", held({"$ref": "#/$defs/a0", "$defs": {**chain, "a3000": {"type": "string"}}}, 5)
    for pattern in ("^(a|a)+$", "^(a|aa)+$", "(.*a){25}b", "^((a+)*b?)*$", "(a?){30}a{30}c", "^(\\w+\\s?)*$"):
        yield f"pattern {pattern} on a trap", held({"pattern": pattern}, "a" * 40 + "!")
    yield "a trap in every item", held({"items": {"pattern": "^(a|a)+$"}}, ["a" * 40 + "!"] * 500)
    yield "a trap in key patterns", held({"patternProperties": {"^(a|a)+$": False}, "minProperties": 2}, {"a" * 40 + "!": 1})
    yield from ((f"wide: {name}", held(schema, payload)) for name, schema, payload in _wide())
    yield "a payload that fits nothing", held(False, {"a": 1})
    yield "a thousand mismatches", held({"items": {"type": "string"}}, [1] * 1_000)
    yield "equal items by the thousand", held({"uniqueItems": True}, [[n % 7] for n in range(5_000)])
    yield "a multiple of a millionth", held({"multipleOf": 7e-300}, 1.5e300)
    yield "unevaluated branches", held({"anyOf": [{"properties": {"a": True}}] * 50, "unevaluatedProperties": False}, {"b": 1})


def _wide() -> Iterator[tuple[str, Any, Any]]:
    """Schemas with much to look through, for payloads that make it be looked through often."""
    many = {f"r{n}": {} for n in range(20_000)}
    closed = {"type": "object", "additionalProperties": False}
    strange = {f"k{n}": 0 for n in range(20_000)}
    yield "unknown keys beside missing ones", {**closed, "required": [*many]}, strange
    yield "unknown keys beside known ones", {**closed, "properties": many}, strange
    empty: list[Any] = [{}] * 50_000
    yield "empty objects and many properties", {"items": {"required": ["x"], "properties": many}}, empty
    yield "empty objects and many dependent names", {"items": {"dependentRequired": dict.fromkeys(many, [])}}, [*empty, 1] * 2
    yield "empty objects and many dependent schemas", {"items": {"dependentSchemas": many}, "maxItems": 1}, empty
    yield "empty objects and many key patterns", {"items": {"patternProperties": {"a": {}, "b": {}}}, "maxItems": 1}, empty
    yield "texts that are none of many", {"items": {"enum": [*many]}}, [*strange]
    yield "numbers that are none of many", {"items": {"enum": [*range(20_000)]}}, [*range(30_000, 50_000)]
    near = {f"a{'c' * 118}{n:03}": {} for n in range(499)}
    yield "names of 122 characters, all near", {**closed, "properties": near}, {f"b{'c' * 118}{n:03}z": 0 for n in range(3_000)}
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    yield "numbers in two objects of texts", {"anyOf": [texts, {**texts, "title": "x"}]}, {f"k{n}": n for n in range(20_000)}
    tags = [{"properties": {f"{letter}{n}": {"const": 1} for n in range(8_000)}} for letter in "ab"]
    yield "wrong tags of two branches", {"anyOf": tags}, {f"{letter}{n}": 2 for letter in "ab" for n in range(8_000)}
    name = "n" * 200_000
    reference = {"items": {"$ref": f"#/$defs/{name}"}, "$defs": {name: {"type": "string"}}, "maxItems": 1}
    yield "a reference of 200,000 characters", reference, ["a"] * 60_000
    yield "a pattern that is slow, but not very", {"items": {"pattern": "^(?:a|aa)+$"}}, ["a" * 12 + "b"] * 30_000


_READABLE = {"top": _tops, "field": _fields, "schedule": _schedules, "payload": _payloads, "schema": _schemas}
