"""TypeScript files that mean harm or just go far: one finding or none, in bounded time, and the other findings stay."""

from __future__ import annotations

import time

import pytest

from typescript_sources import found, problems

SDK = 'import { definePlugin } from "@nextskin/plugin-sdk";\n'
END = "\nexport default definePlugin({ jobs: { a: { maxAttempts: 21, handler() {} } } });\n"
HANDLER = SDK + "export default definePlugin({ jobs: { a: { maxAttempts: 21, handler({ ctx, payload }) {\n"
FEW_SECONDS = 20

DEEP = {
    "lists": "const x = " + "[" * 50_000 + "]" * 50_000,
    "calls": "const x = " + "f(" * 50_000 + ")" * 50_000,
    "chains": "a" + ".b()" * 50_000,
    "not": "const x = " + "!" * 50_000 + "1",
    "functions": "function f() { y; " * 10_000 + "}" * 10_000,
    "aliases": "const a0 = { n: 0 };" + "".join(f"const a{at + 1} = a{at};" for at in range(5_000)) + "a5000.n = 5;",
    "long line": "const x = [" + "1," * 200_000 + "]",
    "exports": "".join(f"export const a{at} = 1;" for at in range(40_000)),
    "timers": "setTimeout" + ".b(1)" * 20_000,
}
BODIES = {
    "nested": "f(ctx," * 10_000 + "1" + ")" * 10_000,
    "sums": "x = " + "+".join(["ctx.a"] * 10_000),
    "helpers": "f0(ctx)",
    "blocks": "{ctx.a;" * 2_000 + "}" * 2_000,
}


@pytest.mark.parametrize("source", list(DEEP.values()), ids=list(DEEP))
def test_deep_code_takes_its_turn_and_hides_nothing(source: str) -> None:
    start = time.process_time()
    assert found(SDK + source + ";" + END) == [("NSP104", "21")]
    assert time.process_time() - start < FEW_SECONDS


@pytest.mark.parametrize("body", list(BODIES.values()), ids=list(BODIES))
def test_handlers_are_followed_in_bounded_time(body: str) -> None:
    helpers = "".join(f"function f{at}(c) {{ f{(at + 1) % 2000}(c); f{at * 7 % 2000}(c) }}\n" for at in range(2_000))
    start = time.process_time()
    assert ("NSP104", "21") in found(f"{HANDLER}{body}}} }} }} }});\n{helpers}")
    assert time.process_time() - start < FEW_SECONDS


LANGUAGE = [
    "@dec() class A { @prop x = 1; @m() go(@arg a: number) {} accessor y = 1; static #z = 2; static { go() } }",
    "enum E { A = 0 }\nconst enum F { B }\ndeclare enum G { C }\nnamespace N { export const n = 0 }",
    'declare module "x" { export const y: number }\ndeclare global { interface Window { a: 1 } }',
    "const o = { n: 1_000 } as const satisfies Record<string, number>;",
    "const big = 9_007_199_254_740_993n, half = '\\ud800', r = /[/\"'`{]/giu, d = a / b / c;",
    "const f = <T extends { a: 1 }, const U = {}>(x: T, y?: U): x is T => true;",
    "type A = `a${string}`; type B<T> = T extends infer U ? U : never; let v: unique symbol;",
    "abstract class Q<T> extends R<T> implements S { declare a: 1; constructor(public e: number) { super() } }",
    'export type { Z } from "./z"; import json from "./x.json" with { type: "json" };',
    "label: for (;;) { break label } // comment",
    "async function* all() { for await (const x of y) yield* x }",
    "const { a = 1, ...rest } = o ?? {}, [b, , c = 2] = p; rest?.x?.[0]?.();",
    "const s = '中文😀', t = `a\\u{1F600}${s}`;",
]


@pytest.mark.parametrize("source", LANGUAGE)
@pytest.mark.parametrize("head", ["", "\ufeff", "#!/usr/bin/env node\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_all_of_the_language_is_read(source: str, head: str, newline: str) -> None:
    whole = (head + SDK + source + END).replace("\n", newline)
    (problem,) = problems(whole)
    line = (head + SDK + source + "\n").count("\n") + 1
    assert (problem.code, problem.span) == ("NSP104", (line, 57, line, 59))


def test_jsx_and_html_comments() -> None:
    element = "const X = (p) => <><div {...p} a={1}>text &amp; {/* c */}<b/></div></>;"
    assert found(SDK + element + END, path="a.tsx") == found(SDK + element + END, path="a.jsx") == [("NSP104", "21")]
    assert found("<!-- x\n" + SDK + "--> y" + END, path="a.js") == [("NSP104", "21")]


def test_columns_count_characters() -> None:
    source = SDK + "\t/* 中文😀 */ " + END.lstrip()
    (problem,) = problems(source)
    assert problem.span == (2, 68, 2, 70)


CYCLES = [
    {"a.ts": "import { z } from './a';\nexport { z };"},
    {"a.ts": "export { z } from './b';", "b.ts": "export { z } from './a';"},
    {"a.ts": "import { z } from './b';\nexport { z };", "b.ts": "import { z } from './a';\nexport { z };"},
    {"a.ts": "import { z as y } from './b';\nexport const z = y;", "b.ts": "export * from './a';"},
    {"a.ts": "export * from './b';", "b.ts": "export * from './a';"},
    {"a.ts": "".join(f"import {{ z{at + 1} }} from './a';\nexport {{ z{at + 1} as z{at or ''} }};\n" for at in range(2_000))},
]


@pytest.mark.parametrize("files", CYCLES)
def test_names_that_lead_back_to_themselves_are_unknown(files: dict[str, str]) -> None:
    assert found(
        "import { z } from './a';\n" + SDK + END.replace("a: {", "b: { maxAttempts: z, handler() {} }, a: {"), files
    ) == [("NSP104", "21")]
    assert found(SDK + files["a.ts"] + END, {**files, "a.ts": SDK + files["a.ts"] + END}, "a.ts") == [("NSP104", "21")]


@pytest.mark.parametrize("modules", [40, 60])
def test_a_name_is_looked_for_once_in_each_module(modules: int) -> None:
    star = 'export * from "./m{}";\n'
    files = {f"m{at}.ts": star.format(at + 1) + star.format(at + 2) for at in range(modules)}
    files |= {f"m{modules}.ts": "export const attempts = 21;", f"m{modules + 1}.ts": ""}
    start = time.process_time()
    source = 'import { attempts, call } from "./m0";\n' + SDK + "call();" + END.replace("21", "attempts")
    assert found(source, files) == ([("NSP104", "attempts")] if modules == 40 else [])
    assert time.process_time() - start < FEW_SECONDS


def test_what_a_function_makes_is_asked_once() -> None:
    functions = "".join(f"function f{at}() {{ {f'f{at + 1}();' * 9} }}\n" for at in range(30))
    made = "function f30() { return definePlugin({ jobs: { a: { maxAttempts: 0, handler() {} } } }); }\n"
    start = time.process_time()
    assert found(SDK + functions + made + END) == [("NSP104", "21")]
    assert found(SDK + functions + made + "f0();" + END) == [("NSP104", "0"), ("NSP104", "21")]
    assert time.process_time() - start < FEW_SECONDS
