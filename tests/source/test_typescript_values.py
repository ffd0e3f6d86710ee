"""What a TypeScript expression is worth, and when a value that was written once may be another by the time it is used."""

from __future__ import annotations

from typing import Any

import pytest

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source.typescript import read_typescript
from typescript_sources import repository

FILES = {
    "limits.ts": "export const limits = { n: 1, inner: { n: 2 } };\nexport let later = { n: 3 };\n"
    "export const names = ['a', 'b'];",
    "changed.ts": "export const limits = { n: 1 };\nlimits.n = 2;",
    "two.ts": "export * from './limits';\nexport * from './changed';",
    "common.cjs": "exports.limits = { n: 1 };\nexports.limits.n = 2;\nexports.names = ['a'];\n"
    "exports.twice = 1;\nexports.twice = 2;",
}


def value(expression: str, before: str = "") -> Any:
    """What an expression evaluates to where a plugin's id stands, below some statements."""
    head = 'import { definePlugin } from "@nextskin/plugin-sdk";'
    source = f"{head}\n{before}\nexport default definePlugin({{ id: {expression} }});"
    file = read_typescript(source.encode(), "plugin.ts", repository(FILES))
    assert file.unreadable is None, file.unreadable
    return file.definitions[0].raw["id"]


SAME = [
    "console.log(o.n, o);",
    "const p = o; log(p.n);",
    "const { n } = o; let m = n; m = 5;",
    "const copy = { ...o }; copy.n = 5;",
    "function read(limits) { return limits.n + 1 }\nread(o);",
    "const text = JSON.stringify(o) + Object.keys(o).join();",
    "if (o.n > 1) log(o.n);",
    "function other(o) { o.n = 5 }",
    "function other() { const o = { n: 2 }; o.n = 5 }",
    "{ let o = { n: 2 }; o.n = 5 }",
    "for (const o of others) o.n = 5;",
    "try { run() } catch (o) { o.n = 5 }",
    "export { o };",
    "type Limits = typeof o;",
    "const q = Object.freeze(o);",
    "const text = `${o.n}` + o.n;",
    "class A { o = 5; set() { this.o = 6 } }",
    "// o.n = 5",
    "const text = 'o.n = 5';",
]


@pytest.mark.parametrize("statement", SAME)
def test_an_object_that_is_only_read_stays_as_it_was_written(statement: str) -> None:
    assert value("o.n", f"const o = {{ n: 1 }};\n{statement}") == 1


CHANGED = [
    "o.n = 5;",
    "o['n'] = 5;",
    "o.n++;",
    "o.n += 1;",
    "delete o.n;",
    "(o as any).n = 5;",
    "o!.n = 5;",
    "[o.n] = [5];",
    "({ n: o.n } = { n: 5 });",
    "for (o.n of [5]) {}",
    "const p = o; p.n = 5;",
    "let p = o; p.n = 5;",
    "let p; p = o; p.n = 5;",
    "var p = o, q = p; q.n = 5;",
    "const p = { inner: o }; p.inner.n = 5;",
    "const [p] = [o]; p.n = 5;",
    "const p = choice ? o : other; p.n = 5;",
    "const p = other || o; p.n = 5;",
    "function set() { const p = o; p.n = 5 }",
    "function set() { o.n = 5 }",
    "const set = () => { o.n = 5 };",
    "function get() { return o }\nget().n = 5;",
    "const get = () => o;",
    "function set(p) { p.n = 5 }\nset(o);",
    "const set = (p) => { p.n = 5 };\nset(o);",
    "function set({ inner }) { inner.n = 5 }\nset({ inner: o });",
    "for (const p of [o]) p.n = 5;",
    "[o].forEach((p) => { p.n = 5 });",
    "Object.values({ o }).map((p) => { p.n = 5; return p });",
    "Object.assign(o, { n: 5 });",
    "const p = Object.assign(o, {}); p.n = 5;",
    "Object.defineProperty(o, 'n', { value: 5 });",
    "Reflect.set(o, 'n', 5);",
    "patch(o);",
    "patch({ o });",
    "patch(...[o]);",
    "new Patch(o);",
    "o.bump();",
    "other.o = o;",
    "list.push(o);",
    "function* all() { yield o }",
    "throw o;",
    "eval('o.n = 5');",
    "o.n ||= 5;",
    "delete o!.n;",
    "++o!.n;",
    "const sum = 1 + o!.n++;",
    "void o!.bump();",
    "const sum = 'x' + o!.bump();",
    "typeof patch!(o);",
]


@pytest.mark.parametrize("statement", CHANGED)
def test_an_object_that_something_may_change_is_unknown(statement: str) -> None:
    assert value("o.n", f"const o = {{ n: 1 }};\n{statement}") is UNKNOWN
    assert value("{ ...o }.n", f"const o = {{ n: 1 }};\n{statement}") is UNKNOWN


@pytest.mark.parametrize(
    "statement",
    [
        "o.inner.n = 5;",
        "const { inner } = o; inner.n = 5;",
        "const p = { ...o }; p.inner.n = 5;",
        "o.list.push(1);",
        "o.list.sort();",
        "for (const p of Object.values(o)) p.n = 5;",
        "[...o.list].forEach(change);",
        "const p = o.inner; p.n++;",
    ],
)
def test_what_an_object_holds_is_followed_too(statement: str) -> None:
    before = f"const o = {{ inner: {{ n: 1 }}, list: [{{}}] }};\n{statement}"
    assert value("o.inner.n", before) is UNKNOWN
    assert value("o.inner.n", before.replace(statement, "o.list.map((item) => item.n).join();")) == 1


@pytest.mark.parametrize("statement", ["let n = 1;", "var n = 1;", "let n; n = 1;", "export let n = 1;", "declare const n: 1;"])
def test_a_variable_that_may_get_another_value_is_unknown(statement: str) -> None:
    assert value("n", statement) is UNKNOWN


def test_scopes_are_javascripts_own() -> None:
    assert value("n", "const n = 1; { const n = 2 } function f(n) { const m = n }") == 1
    assert value("((n) => n)(2)", "const n = 1;") == 2
    assert value("n", "function f() { n = 2 }\nconst n = 1;") == 1, "a constant cannot be assigned to"


@pytest.mark.parametrize(
    ("before", "expression", "expected"),
    [
        ("import { limits } from './limits';", "limits.n", 1),
        ("import { limits } from './limits';\nlimits.n = 5;", "limits.n", UNKNOWN),
        ("import { limits } from './limits';\nconst p = limits; p.inner.n = 5;", "limits.inner.n", UNKNOWN),
        ("import { later } from './limits';", "later.n", UNKNOWN),
        ("import * as all from './limits';", "all.limits.n", 1),
        ("import * as all from './limits';\nall.limits.n = 5;", "all.limits.n", UNKNOWN),
        ("import { limits } from './changed';", "limits.n", UNKNOWN),
        ("import { limits } from './two';", "limits.n", UNKNOWN),
        ("import { names } from './two';", "names[1]", "b"),
        ("const { limits } = require('./common');", "limits.n", UNKNOWN),
        ("const { names } = require('./common');", "names[0]", "a"),
        ("const { twice } = require('./common');", "twice", UNKNOWN),
        ("const { inner: { n } } = { inner: { n: 2 } };", "n", 2),
        ("const [, second] = ['a', 'b'];", "second", "b"),
        ("const { a = 5 } = { a: 1 };", "a", UNKNOWN),
        ("const { a, ...rest } = { a: 1, b: 2 };", "rest.b", UNKNOWN),
        ("const list = [1, , 3];", "list[2]", UNKNOWN),
    ],
)
def test_parts_and_imports(before: str, expression: str, expected: Any) -> None:
    assert value(expression, before) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'ab'.repeat(2)", "abab"),
        ("'x'.repeat(251)", "x" * 251),
        ("'x'.repeat(0)", ""),
        ("'x'.repeat(-1)", UNKNOWN),
        ("'x'.repeat(1e9)", UNKNOWN),
        ("'x'.repeat(n)", UNKNOWN),
        ("'\\ud83d'.repeat(2)", "\ud83d\ud83d"),
        ("'a'.concat('b', 1, null)", "ab1null"),
        ("' a\\u00a0\\ufeff'.trim()", "a"),
        ("'\\x1ca'.trim()", "\x1ca"),
        ("' a '.trimStart()", "a "),
        ("'AB'.toLowerCase()", "ab"),
        ("'ab'.toUpperCase()", "AB"),
        ("'İ'.toLowerCase()", UNKNOWN),
        ("'5'.padStart(3, '0')", "005"),
        ("'5'.padStart(4, 'ab')", "aba5"),
        ("'5'.padEnd(3)", "5  "),
        ("'😀'.padStart(3, 'x')", UNKNOWN),
        ("'5'.padStart(1e9)", UNKNOWN),
        ("'abc'.slice(1, -1)", "b"),
        ("'a-a'.replace('a', 'b')", "b-a"),
        ("'a-a'.replaceAll('a', 'b')", "b-b"),
        ("'a'.replace('a', '$&')", UNKNOWN),
        ("'a'.replace(/a/, 'b')", UNKNOWN),
        ("['a', 'b', 1].join('-')", "a-b-1"),
        ("['a', null].join()", "a,"),
        ("['a', n].join()", UNKNOWN),
        ("(5).toString()", "5"),
        ("`${'a'}${1}`.repeat(2)", "a1a1"),
        ("`\\ud83d${''}\\ude00`", "😀"),
        ("'\\ud83d' + '\\ude00'", "😀"),
        ("`\\ud83d\\ude00`", "😀"),
        ("`a\r\nb`", "a\nb"),
        ("'a'.at(0)", UNKNOWN),
        ("'a'.constructor('x')", UNKNOWN),
        ("'a'?.trim()", "a"),
        ("'x' + ' a '!.trim()", "xa"),
        ("'x' + `y`!.repeat(2)", "xyy"),
        ("2 * [3]![0]", 6),
        ("-[3]![0]", -3),
        ("'x' + ' a '!", "x a "),
        ("1 + 5!!", 6),
        ("Object.assign({}, { n: 1 }, { m: 2 })", {"n": 1, "m": 2}),
        ("Object.assign(o, { n: 1 })", UNKNOWN),
        ("{ ...{ n: 1 }, ...{ n: undefined } }", {}),
        ("{ n: 1, ...undefined, ...null }", {"n": 1}),
        ("x.freeze({ n: 1 })", UNKNOWN),
    ],
)
def test_pure_methods_are_computed_exactly_or_not_at_all(expression: str, expected: Any) -> None:
    assert value(expression) == expected
