"""TypeScript and JavaScript plugins, read and never run (spec/cli.md lint)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source.definition import SourceDefinition, SourceFile
from nsplugin_cli.source.typescript import read_typescript

PLUGIN = """import {{ definePlugin }} from "@nextskin/plugin-sdk";
{before}
export default definePlugin({{ jobs: {{ a: {job} }} }});
"""
JOBS = 'import {{ defineJob }} from "@cogover/sdk";\n{before}\nexport const jobs = [{jobs}];\n'


def read(source: str, path: str = "plugin.ts", files: dict[str, str] | None = None) -> SourceFile:
    def resolve(importer: str, written: str) -> tuple[str, bytes] | None:
        base = (Path("/" + importer).parent / written).resolve().as_posix().lstrip("/")
        for name in (base, base + ".ts", base + "/index.ts", base.removesuffix(".js") + ".ts"):
            if name in (files or {}):
                return name, (files or {})[name].encode()
        return None

    return read_typescript(source.encode(), path, resolve)


def only(source: str, path: str = "plugin.ts", files: dict[str, str] | None = None) -> SourceDefinition:
    found = read(source, path, files)
    assert found.unreadable is None
    (definition,) = found.definitions
    return definition


def job(text: str, before: str = "") -> Any:
    return only(PLUGIN.format(job=text, before=before)).raw["jobs"]["a"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("60_000", 60000),
        ("0x10", 16),
        ("1e3", 1000),
        ("2.5", 2.5),
        ("-1", -1),
        ("60 * 1000", 60000),
        ("7 / 2", 3.5),
        ("2 ** 5", 32),
        ("'5'", "5"),
        ('"a" + "b" + 1', "ab1"),
        ("`a${1 + 1}b`", "a2b"),
        ("'\\u0041\\x42\\n\\u{43}'", "AB\nC"),
        ("'\\ud83d\\ude00'", "😀"),
        ("null", None),
        ("true", True),
        ("!true", False),
        ("(5 as number)", 5),
        ("5 satisfies number", 5),
        ("5!", 5),
        ("N", 25),
        ("LIMITS.attempts", 3),
        ("LIMITS['attempts']", 3),
        ("LIST[1]", 9),
        ("true ? 1 : 2", 1),
        ("9007199254740993n", UNKNOWN),
        ("Date.now()", UNKNOWN),
        ("process.env.N", UNKNOWN),
        ("later", UNKNOWN),
        ("changed", UNKNOWN),
        ("mutated.attempts", UNKNOWN),
        ("handed.attempts", UNKNOWN),
        ("missing", UNKNOWN),
        ("'a'.repeat(1e9)", UNKNOWN),
        ("loop", UNKNOWN),
    ],
)
def test_values_are_evaluated_or_unknown_and_never_guessed(written: str, value: Any) -> None:
    before = """
const N = 25, LIMITS = { attempts: 3 } as const, LIST = [4, 9];
let later = 5;
var changed = 5; changed = 6;
const mutated = { attempts: 1 }; mutated.attempts = 2;
const handed = { attempts: 1 }; patch(handed);
const loop = loop;
"""
    found = job(f"{{ maxAttempts: {written} }}", before)["maxAttempts"]
    assert found is value if value is UNKNOWN else (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{ ...base, timeoutMs: 2 }", {"maxAttempts": 3, "timeoutMs": 2}),
        ("{ timeoutMs: 2, ...other }", {"timeoutMs": UNKNOWN, UNKNOWN: UNKNOWN}),
        ("{ ...other, timeoutMs: 2 }", {UNKNOWN: UNKNOWN, "timeoutMs": 2}),
        ("{ [key]: 1 }", {"maxAttempts": 1}),
        ("{ [other()]: 1 }", {UNKNOWN: UNKNOWN}),
        ("{ maxAttempts }", {"maxAttempts": 7}),
        ("{ maxAttempts: undefined }", {}),
        ("Object.freeze({ maxAttempts: 1 })", {"maxAttempts": 1}),
        ("{ maxAttempts: 1, maxAttempts: 2 }", {"maxAttempts": 2}),
        ("make()", UNKNOWN),
    ],
)
def test_objects(written: str, expected: Any) -> None:
    before = "const base = { maxAttempts: 3 } as const; const key = 'maxAttempts'; const maxAttempts = 7;"
    assert job(written, before) == expected


@pytest.mark.parametrize(
    "source",
    [
        'import { definePlugin as dp } from "@nextskin/plugin-sdk"; export default dp({ id: "x" })',
        'import * as sdk from "@nextskin/plugin-sdk"; export default sdk.definePlugin({ id: "x" })',
        'const { definePlugin } = require("@nextskin/plugin-sdk"); module.exports = definePlugin({ id: "x" })',
        'const sdk = require("@nextskin/plugin-sdk"); module.exports = sdk.definePlugin({ id: "x" })',
        'import { definePlugin } from "@nextskin/plugin-sdk"; const plugin = definePlugin({ id: "x" }); export default plugin',
        'import { definePlugin } from "@nextskin/plugin-sdk"; const p = definePlugin({ id: "x" }); export { p as default }',
        'import { definePlugin } from "./sdk"; export default definePlugin({ id: "x" })',
    ],
)
def test_the_definer_is_found_under_any_import(source: str) -> None:
    definition = only(source, "plugin.js", {"sdk.ts": 'export { definePlugin } from "@nextskin/plugin-sdk"'})
    assert (definition.raw, definition.attribute) == ({"id": "x"}, "default")


@pytest.mark.parametrize(
    "source",
    [
        'function definePlugin(x) { return x }\nexport default definePlugin({ id: "x" })',
        'import { definePlugin } from "./own"; export default definePlugin({ id: "x" })',
        'import { definePlugin } from "@nextskin/plugin-sdk"; export const x = 1',
    ],
)
def test_other_functions_of_that_name_define_nothing(source: str) -> None:
    assert read(source, files={"own.ts": "export function definePlugin(x) { return x }"}).definitions == ()


def test_a_job_of_another_file_is_judged_there_and_counts_here() -> None:
    files = {
        "jobs/purge.ts": 'import { defineJob } from "@cogover/sdk";'
        'export const purge = defineJob({ key: "purge", timeoutMs: 1 }, () => {})'
    }
    here = only(
        'import { purge } from "./jobs/purge";\n' + JOBS.format(before="", jobs='purge, defineJob({ key: "b" }, () => {})'),
        files=files,
    )
    assert here.raw == {"jobs": [{"key": "purge", UNKNOWN: UNKNOWN}, {"key": "b"}]}
    there = only(files["jobs/purge.ts"], "jobs/purge.ts")
    assert (there.attribute, there.raw) == (None, {"jobs": [{"key": "purge", "timeoutMs": 1}, UNKNOWN]})


def test_circular_imports_end() -> None:
    files = {"a.ts": 'export { x } from "./b"', "b.ts": 'export { x } from "./a"'}
    source = 'import { x } from "./a";\n' + PLUGIN.format(before="", job="{ maxAttempts: x }")
    assert only(source, files=files).raw == {"jobs": {"a": {"maxAttempts": UNKNOWN}}}


def test_spans_count_characters_after_wide_ones_tabs_and_crlf() -> None:
    source = 'import { definePlugin } from "@nextskin/plugin-sdk";\r\nconst 中 = "😀";\r\n'
    source += 'export default definePlugin({\r\n\t/* 中文😀 */ cron: [{ schedule: "0 \\u0033 * * *", job: "中" }] });\r\n'
    spans = only("\ufeff" + source).spans
    assert spans.locate("/cron/0/schedule") == (4, 31, 4, 47)
    assert spans.locate("/cron/0/schedule", start=2, end=3) == (4, 34, 4, 40)
    assert spans.locate("/cron/0/job", "key") == (4, 49, 4, 52)
    assert spans.locate("/cron/0/nothing") == (4, 19, 4, 59)


def test_handlers_are_known_by_kind() -> None:
    source = PLUGIN.format(
        before="async function run() {}",
        job="{ handler: run }, b: { handler: 'x' }, c: {}, d: { ...x }, e: { handler() {} }, f: { handler: y }",
    )
    handlers = only(source).handlers
    assert {pointer: (handler.callable, handler.missing) for pointer, handler in handlers.items()} == {
        "/jobs/a": (True, False),
        "/jobs/b": (False, False),
        "/jobs/c": (False, True),
        "/jobs/e": (True, False),
    }


@pytest.mark.parametrize(
    ("data", "said", "place"),
    [
        (b"const x = {", "this is no valid TypeScript, from 'const x = {' on", (1, 1)),
        (b"let a;\nlet = = 5;", "this is no valid TypeScript", (2, 7)),
        (b"\xff\xfea\x00", "this file is UTF-16", (1, 1)),
        (b"let a;\n\x00", "this file holds a NUL byte, so it is no source text", (2, 1)),
        ("let ä = '".encode() + b"\xe4'", "byte 0xe4 is not UTF-8", (1, 10)),
        (b"//" + b"x" * (1 << 20), "this file has more than 1048576 bytes, the most that are read", (1, 1)),
    ],
)
def test_a_file_that_is_no_source_has_one_finding(data: bytes, said: str, place: tuple[int, int]) -> None:
    found = read_typescript(data, "plugin.ts")
    assert found.definitions == ()
    assert found.unreadable is not None and found.unreadable.span is not None
    assert found.unreadable.message.startswith(said)
    assert found.unreadable.span[:2] == place


def test_deep_nesting_ends() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert only(PLUGIN.format(before="", job=f"{{ x: {deep} }}")).raw["jobs"]["a"]["x"] is not None
