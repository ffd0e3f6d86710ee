"""Enums, static members of classes, and functions that only return an expression: what they are worth where one is used."""

from __future__ import annotations

import time
from typing import Any

import pytest

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source.typescript import read_typescript
from typescript_sources import found, repository

HEAD = 'import { definePlugin } from "@nextskin/plugin-sdk";'
FILES = {
    "kept.ts": "export enum Limits { Attempts = 99, Next }\nexport const seconds = (n: number) => n * 1000;\n"
    "export class Config { static readonly A = 99; static B = 99; static readonly retry = { n: 5 } }\n"
    "export default class { static readonly A = 7 }\nexport const retry = (n: number) => ({ maxAttempts: n });",
    "changed.ts": "export enum Limits { Attempts = 99 }\n(Limits as any).Attempts = 5;\n"
    "export default class Config { static readonly A = 99 }\n(Config as any).A = 5;",
}


def value(expression: str, before: str = "", path: str = "plugin.ts") -> Any:
    """What an expression evaluates to where a plugin's id stands, below some statements."""
    source = f"{HEAD}\n{before}\nexport default definePlugin({{ id: {expression} }});"
    file = read_typescript(source.encode(), path, repository(FILES))
    assert file.unreadable is None, file.unreadable
    return file.definitions[0].raw["id"]


ENUM = "enum E { A = 99, B, C = 'x', D = A * 2 + E.B, F, 'G-H' = -1, I, J = 1.5, K, L = `${'a'}b`, M = pick(), N, O = O + 1 }"


@pytest.mark.parametrize("kind", ["", "const ", "export ", "export const "])
@pytest.mark.parametrize(
    ("member", "expected"),
    [
        ("E.A", 99),
        ("E.B", 100),
        ("E.C", "x"),
        ("E['D']", 298),
        ("E.F", 299),
        ("E['G-H']", -1),
        ("E.I", 0),
        ("E.J", 1.5),
        ("E.K", UNKNOWN),
        ("E.L", "ab"),
        ("E.M", UNKNOWN),
        ("E.N", UNKNOWN),
        ("E.O", UNKNOWN),
        ("E.P", UNKNOWN),
        ("E[99]", UNKNOWN),
        ("E", UNKNOWN),
        ("{ ...E }", {UNKNOWN: UNKNOWN}),
        ("`${E.A} 0 * * *`", "99 0 * * *"),
    ],
)
def test_members_of_enums(kind: str, member: str, expected: Any) -> None:
    assert value(member, kind + ENUM) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("enum E { A, B }\nconst A = 5;", 1),
        ("const A = 5;\nenum E { A = 1, B = A }", 1),
        ("enum E { B = 1 }\nconst x: E.B = E.B; log(E.B, Object.keys(E), z.nativeEnum(E));", 1),
        ("enum E { B = 1 }\nfunction f(E) { E.B = 5 }", 1),
        ("enum E { A = 0 }\nenum E { B = 1 }", UNKNOWN),
        ("enum E { B = 1, B = 2 }", UNKNOWN),
        ("enum E { B = 1 }\nnamespace E { export const C = 5 }", UNKNOWN),
        ("declare enum E { B = 1 }", UNKNOWN),
        ("enum E { B = C, C = 5 }", UNKNOWN),
        ("enum E { B = E.C, C = 5 }", UNKNOWN),
        ("enum E { A = E.C, B, C = 5 }", UNKNOWN),
        ("enum E { B = true }", UNKNOWN),
        ("enum E { C = 'x', B }", UNKNOWN),
        ("enum E { C = 9007199254740991, B }", UNKNOWN),
        ("enum E { B = 1 }\n(E as any).B = 5;", UNKNOWN),
        ("enum E { B = 1 }\n(E as any)[key] = 5;", UNKNOWN),
        ("enum E { B = 1 }\nconst F: any = E; F.B = 5;", UNKNOWN),
        ("enum E { B = 1 }\nObject.assign(E, { B: 5 });", UNKNOWN),
        ("enum E { B = 1 }\nexport const patch = () => patched(E);", UNKNOWN),
    ],
)
def test_enums_that_something_may_change_or_hide(before: str, expected: Any) -> None:
    assert value("E.B", before) == expected


FIELD = [
    "class C { static readonly A = 99 }",
    "class C { static A = 99 }",
    "class C { static 'A' = 99; static ['B'] = 5 }",
    "export class C { static readonly A: number = 99 }",
    "abstract class C { public static readonly A = 99 }",
    "class C { static readonly B = 9; static readonly A = C.B * 11 }",
    "const C = class { static A = 99 };",
    "class C<T> { static A = 99; a = 5; b() { return this.x } static c() { return this.A } }\nnew C(); C.c();",
    "class C { static A = 99 }\nclass D extends C { static B = 5 }\nif (x instanceof C) log(C.A);",
    "class C { static A = 99 }\nfunction f(C) { C.B = 5 }",
    "class C { static A = C.make(9); static make(n) { return n * 11 } }",
    "class B { static A = 99 }\nconst C = B;".replace("static A", "static readonly A"),
]
NO_FIELD = [
    "class C { A = 99 }",
    "class C { static A; }",
    "class C { static A = C.B; static B = 99 }",
    "class C { static A = C.b(); static b() { return C.B } static B = 99 }",
    "class C { declare static readonly A: 99 }",
    "class C { static A = 99; static A = 5 }",
    "class C { static A = 99; static [key] = 5 }",
    "class C { static get A() { return 99 } }",
    "class C { static A = 99; static set(n) { this.A = n } }",
    "class C { static A = 99; static { this['A'] = 5 } }",
    "class C { static A = 99; static { Object.assign(this, x) } }",
    "class C { static A = 99; static set(key, n) { this[key] = n } }",
    "class C { static A = 99; set() { this.constructor.A = 5 } }",
    "class C { static A = 99; set() { C.A++ } }",
    "class C { static A = 99; static all = () => patch(this) }",
    "class C { static readonly A = 99 }\n(C as any).A = 5;",
    "class C { static A = 99 }\ndelete C!.A;",
    "class C { static A = 99 }\nC[key] = 5;",
    "class C { static A = 99 }\n[C.A] = [5];",
    "class C { static A = 99 }\nconst D = C; D.A = 5;",
    "class C { static A = 99 }\npatch(C);",
    "class C { static A = 99 }\nC.load();",
    "class C extends Other { static A = 99; static { super.set(5) } }",
    "class C extends Other { static A = 99 }\nC.load();",
    "@patched class C { static A = 99 }",
    "@patched export class C { static A = 99 }",
    "class C { @patched static A = 99 }",
    "export class C { static A = 99 }",
    "class C { static A = 99 }\nexport { C };",
    "class C { static A = 99 }\nconst D = C;\nexport { D };",
    "export const C = class { static A = 99 };",
    "let C = class { static A = 99 };",
    "class C { static A = 99 }\nC = other;",
]


@pytest.mark.parametrize("before", FIELD)
def test_static_fields_that_stay_are_known(before: str) -> None:
    assert value("C.A", before) == 99


@pytest.mark.parametrize("before", NO_FIELD)
def test_static_fields_that_may_be_set_or_missing_are_unknown(before: str) -> None:
    assert value("C.A", before) is UNKNOWN


def test_static_fields_of_javascript() -> None:
    assert value("C.A", "class C { static A = 99 }", "plugin.js") == 99
    assert value("C.A", "class C { static A = 99; static set() { this.A = 5 } }", "plugin.js") is UNKNOWN


@pytest.mark.parametrize(
    "statement",
    [
        "C.A.n = 5;",
        "const { A } = C; A.n = 5;",
        "patch(C.A);",
        "class D extends C {}\nD.A.n = 5;",
        "export const a = () => C.A;",
    ],
)
def test_what_a_static_field_holds_may_change_as_well(statement: str) -> None:
    before = "class C { static readonly A = { n: 1 } }\n"
    assert value("C.A.n", before) == 1
    assert value("C.A.n", before + statement) is UNKNOWN
    assert value("C.A.n", before.replace("}\n", "; static b() { return this.A } }\n", 1)) is UNKNOWN


CALLS = [
    ("f()", "function f() { return 99 }", 99),
    ("f()", "function f() { /* most */ return (99); }", 99),
    ("f(5)", "const f = (n: number) => n * 1000;", 5000),
    ("f(5)", "const f = n => { return n * 1000 };", 5000),
    ("f(5)", "const f = function (n) { return n * 1000 };", 5000),
    ("f(2, 3)", "const f = (n, m = n * 2) => n * m;", 6),
    ("f(2)", "const f = (n: number, m: number = n * 2) => n * m;", 8),
    ("f(2, undefined)", "const f = (n, m = 5) => n * m;", 10),
    ("f({ n: 5, m: [1, 2] })", "const f = ({ n, m: [, b] }) => n * b;", 10),
    ("f(5)", "function f(this: void, n: number) { return n }", 5),
    ("f(f(5))", "const f = (n) => n * 2;", 20),
    ("f(5)", "const g = (n) => n + 1;\nconst f = (n) => g(n) * g(0);", 6),
    ("f(5).maxAttempts", "const base = { a: 1 };\nconst f = (n) => ({ ...base, maxAttempts: n });", 5),
    ("f(true)", "const f = (on) => on ? 'a' : 'b';", "a"),
    ("f('a')", "const f = (name) => `${name}-job`.toUpperCase();", "A-JOB"),
    ("C.f(5)", "class C { static f(n) { return n + 1 } }", 6),
    ("f?.(5)!", "const f = (n) => n;", 5),
    ("f()", "function f(): string\nfunction f() { return 'a' }", "a"),
    ("f(1)", "const n = 5;\nconst f = (m) => n + m;\n{ const n = 6 }", 6),
]
NO_CALLS = [
    ("f()", "async function f() { return 99 }"),
    ("f()", "function* f() { return 99 }"),
    ("f()", "function f() { work(); return 99 }"),
    ("f()", "function f() { if (x) return 99 }"),
    ("f()", "function f() { return }"),
    ("f()", "let f = () => 99;"),
    ("f()", "function f() { return 99 }\nf = other;"),
    ("f()", "function f() { return 99 }\nfunction f() { return 5 }"),
    ("f()", "declare function f(): 99;"),
    ("f()", "const f = () => f() + 1;"),
    ("f()", "const f = () => g();\nconst g = () => f();"),
    ("f()", "const f = (n) => n + 1;"),
    ("f(x)", "const f = (n) => n;"),
    ("f(...[5])", "const f = (n) => n;"),
    ("f(5)", "const f = (...all) => all[0];"),
    ("f(5)", "const f = (n) => arguments[0];"),
    ("f(5)", "const f = (n) => [n++, n][1];"),
    ("f(5)", "const f = (n) => ({ a: n = 6, b: n }).b;"),
    ("f({ n: 5 }).n", "const f = (o) => Object.assign(o, { n: 6 });"),
    ("f({ n: 5 })", "const f = (o) => ({ a: patch(o), n: o.n }).n;"),
    ("f()", "const f = () => this.n;"),
    ("f()()", "const f = () => () => 5;"),
    ("make(5, make(1, null))", "const make = (n, g) => g ? g(0) : (m) => n + m;"),
    ("f().n", "const o = { n: 1 };\nconst f = () => o;\nf().n = 5;"),
    ("new f(5)", "function f(n) { return n }"),
    ("f`5`", "const f = (n) => n;"),
    ("o.f(5)", "const o = { f(n) { return n } };\no.f = other;"),
    ("o.f", "const o = { get f() { return 5 } };"),
    ("C.f(5)", "class C { static async f(n) { return n } }"),
]


@pytest.mark.parametrize(("call", "before", "expected"), CALLS)
def test_a_function_that_only_returns_an_expression_is_called(call: str, before: str, expected: Any) -> None:
    assert value(call, before) == expected


@pytest.mark.parametrize(("call", "before"), NO_CALLS)
def test_what_other_functions_give_is_unknown(call: str, before: str) -> None:
    assert value(call, before) is UNKNOWN


@pytest.mark.parametrize(
    ("before", "expression", "expected"),
    [
        ("import { Limits } from './kept';", "Limits.Next", 100),
        ("import { Limits as L } from './kept';\n(L as any).Next = 5;", "L.Next", UNKNOWN),
        ("import * as all from './kept';", "all.Limits.Next", 100),
        ("import { Limits } from './changed';", "Limits.Attempts", UNKNOWN),
        ("import { Config } from './kept';", "Config.A", 99),
        ("import { Config } from './kept';", "Config.B", UNKNOWN),
        ("import { Config } from './kept';", "Config.retry.n", 5),
        ("import { Config } from './kept';\nConfig.retry.n = 6;", "Config.retry.n", UNKNOWN),
        ("import Kept from './kept';", "Kept.A", 7),
        ("import Config from './changed';", "Config.A", UNKNOWN),
        ("import { seconds } from './kept';", "seconds(5)", 5000),
        ("import * as all from './kept';", "all.seconds(5)", 5000),
    ],
)
def test_constants_of_other_files(before: str, expression: str, expected: Any) -> None:
    assert value(expression, before) == expected


@pytest.mark.parametrize(
    ("before", "job", "expected"),
    [
        ("enum Limits { Attempts = 99 }", "{ maxAttempts: Limits.Attempts, handler() {} }", "99"),
        ("class Config { static readonly A = 99 }", "{ maxAttempts: Config.A, handler() {} }", "99"),
        ("const attempts = () => 99;", "{ maxAttempts: attempts(), handler() {} }", "attempts()"),
        ("const retry = (n: number) => ({ maxAttempts: n });", "{ ...retry(99), handler() {} }", "99"),
        ("import { Limits } from './kept';", "{ maxAttempts: Limits.Attempts, handler() {} }", "Limits.Attempts"),
        ("import { seconds } from './kept';", "{ maxAttempts: seconds(1), handler() {} }", "seconds(1)"),
        ("import { retry } from './kept';", "{ ...retry(99), handler() {} }", "...retry(99)"),
    ],
)
def test_a_finding_stands_where_the_value_is_written_or_else_used(before: str, job: str, expected: str) -> None:
    source = f"{HEAD}\n{before}\nexport default definePlugin({{ jobs: {{ a: {job} }} }});"
    assert found(source, FILES) == [("NSP104", expected)]


HOSTILE = {
    "calls": "".join(f"const f{at} = () => f{at + 1}() + f{at + 1}();\n" for at in range(500)) + "const f500 = () => 1;",
    "members": "enum E { " + "".join(f"A{at}, " for at in range(20_000)) + "B }\nconst x = 1;",
    "chain": "enum E { A0 = 1, " + "".join(f"A{at + 1} = A{at} + A{at}, " for at in range(2_000)) + "B }",
    "statics": "class C { " + "".join(f"static A{at} = C.A{at + 1} + C.A{at + 1};\n" for at in range(2_000)) + "}",
}


@pytest.mark.parametrize("before", list(HOSTILE.values()), ids=list(HOSTILE))
def test_constants_that_go_far_take_bounded_time_and_hide_nothing(before: str) -> None:
    start = time.process_time()
    uses = ", ".join(["f0()", "E.B", "E.A19999", "C.A0"] * 500)
    job = "{ maxAttempts: 21, handler() {} }"
    source = f"{HEAD}\n{before}\nexport default definePlugin({{ jobs: {{ a: {job} }}, x: [{uses}] }});"
    assert ("NSP104", "21") in found(source)
    assert time.process_time() - start < 20
