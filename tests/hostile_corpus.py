"""Hostile manifests, named: what a host may be handed, by accident or on purpose. Every one must be refused, in good time.

``corpus()`` yields them in a fixed order, made anew each time without randomness. ``unreadable`` ones are no sound JSON text
(NSP601); the others are JSON, and wrong or malicious in what they say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from hostile_texts import SOUND, UNREADABLE


class Hostile(NamedTuple):
    """One manifest: a name unlike all others, the bytes, and whether reading alone must refuse them."""

    name: str
    data: bytes
    unreadable: bool


COGOVER: dict[str, Any] = {
    "manifestVersion": 1,
    "platform": "cogover",
    "id": "order_automation",
    "entry": "main:jobs",
    "jobs": [{"key": "sync", "timeoutMs": 30000, "maxAttempts": 5, "schedule": {"cron": "0 2 * * *", "timezone": "UTC"}}],
}


def corpus() -> Iterator[Hostile]:
    """Every hostile manifest."""
    for group, made in UNREADABLE.items():
        yield from (Hostile(f"{group}: {name}", data, True) for name, data in made())
    for group, values in _READABLE.items():
        yield from (Hostile(f"{group}: {name}", json.dumps(value).encode(), False) for name, value in values())


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
    yield "empty objects and many dependent names", {"items": {"dependentRequired": {key: [] for key in many}}}, [*empty, 1] * 2
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
