"""Jobs and plugins over several TypeScript files: who judges them, and which names are taken twice."""

from __future__ import annotations

import pytest

from typescript_sources import codes, found, problems

SDK = 'import { defineJob } from "@cogover/sdk";\n'


def job(key: str, name: str = "", body: str = "") -> str:
    return f'{f"export const {name} = " if name else ""}defineJob({{ key: "{key}" }}, async ({{ jobs }}) => {{ {body} }})'


FILES = {
    "jobs/purge.ts": SDK + job("purge", "purge", 'await jobs.enqueue("sync"); await jobs.enqueue("typo");'),
    "jobs/sync.ts": SDK + "const sync = " + job("Purge") + ";\nexport default sync;",
    "jobs/both.ts": SDK + job("one", "one") + ";\n" + job("one", "two") + ";",
    "jobs/index.ts": (
        'export * from "./purge";\nexport { default as sync } from "./sync";\nexport { one, two } from "./both";\n'
        "export const all = [];\n"
    ),
    "jobs/list.ts": 'import { purge } from "./purge";\nexport const list = [purge] as const;',
}


def project(imports: str, jobs: str) -> str:
    return f"{SDK}{imports}\nexport const jobs = [{jobs}];\n"


def test_keys_that_differ_only_by_case_are_one() -> None:
    """spec/cogover.md D3."""
    source = project("", job("purge") + ",\n" + job("PURGE"))
    assert found(source) == [("NSP107", '"PURGE"')]


@pytest.mark.parametrize(
    ("imports", "jobs", "place"),
    [
        ('import { purge } from "./jobs/purge";', f"purge, {job('purge')}", '"purge"'),
        ('import { purge } from "./jobs";\nimport sync from "./jobs/sync";', f"purge, sync, {job('sync')}", "sync"),
        ('import { purge, sync } from "./jobs";', f"purge, sync, {job('sync')}", "sync"),
        ('import * as all from "./jobs";', f"all.purge, all.sync, {job('sync')}", "all.sync"),
        ('import { list } from "./jobs/list";', f"...list, {job('sync')}, {job('purge')}", '"purge"'),
        ('const { purge } = require("./jobs/purge");', f"purge, {job('sync')}, {job('purge')}", '"purge"'),
    ],
)
def test_keys_of_other_files_count(imports: str, jobs: str, place: str) -> None:
    told = [each for each in found(project(imports, jobs), FILES) if each[0] == "NSP107"]
    assert told == [("NSP107", place)]


def test_two_jobs_of_another_file_are_told_apart_there() -> None:
    assert codes(FILES["jobs/both.ts"], path="jobs/both.ts") == ["NSP107"]
    assert codes(project('import { one, two } from "./jobs";', "one, two"), FILES) == []


def test_what_jobs_of_other_files_enqueue_is_judged_by_the_whole_list() -> None:
    """spec/cogover.md E2, D9."""
    assert codes(FILES["jobs/purge.ts"], path="jobs/purge.ts") == []
    source = project('import { purge } from "./jobs";', f"purge, {job('sync')}")
    (problem,) = problems(source, FILES)
    assert (problem.code, problem.path) == ("NSP304", "jobs/purge.ts")
    assert found(source, FILES) == [("NSP304", '"typo"')]


MADE = [
    "export const jobs = [{job}];",
    "const make = () => {job};\nexport const jobs = [make()];",
    "function make(key: string) {{ return {job} }}\nexport const jobs = [make('a')];",
    "export const jobs = ['a', 'b'].map((key) => {job});",
    "export const jobs = (() => [{job}])();",
    "const inner = () => {job};\nconst outer = () => inner();\nexport const jobs = [outer()];",
]
NOT_MADE = [
    "it('refuses', () => {{ expect(() => {job}).toThrow() }});",
    "test('refuses', async () => {{ await assert.rejects(async () => {job}) }});",
    "export function make() {{ return {job} }}",
    "class Fixture {{ job() {{ return {job} }} }}",
    "const make = () => {job};",
    "const twice = () => twice() ?? {job};",
]


@pytest.mark.parametrize("source", MADE)
def test_a_definition_that_loading_the_module_makes_is_judged(source: str) -> None:
    assert codes(SDK + source.format(job='defineJob({ key: "1bad" }, () => {})')) == ["NSP101"]


@pytest.mark.parametrize("source", NOT_MADE)
def test_a_definition_that_only_a_call_would_make_is_not(source: str) -> None:
    assert codes(SDK + source.format(job='defineJob({ key: "1bad" }, () => {})')) == []


@pytest.mark.parametrize("path", ["a.ts", "a.tsx", "a.mts", "a.cts", "a.js", "a.mjs", "a.cjs", "a.jsx"])
def test_every_ending_is_read(path: str) -> None:
    source = (
        "const { definePlugin: define } = require('@nextskin/plugin-sdk');\n"
        "const limits = require('./limits');\n"
        "module.exports = define({ jobs: { a: { maxAttempts: limits.attempts, handler() {} } } });\n"
    )
    assert found(source, {"limits.js": "module.exports = { attempts: 21 };"}, path) == [("NSP104", "limits.attempts")]


@pytest.mark.parametrize(
    "statement",
    [
        "module.exports = { jobs: [JOB] };",
        "exports.jobs = [JOB];",
        "module.exports.jobs = [JOB];",
        "const jobs = [JOB];\nmodule.exports = { jobs };",
        "exports.jobs = module.exports.jobs = [JOB];",
    ],
)
def test_commonjs_lists(statement: str) -> None:
    source = "const { defineJob } = require('@cogover/sdk');\n" + statement
    assert codes(
        source.replace("JOB", "defineJob({ key: 'a' }, () => {}), defineJob({ key: 'A' }, () => {})"), path="a.cjs"
    ) == ["NSP107"]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import sdk = require('@nextskin/plugin-sdk');", "sdk.definePlugin"),
        ("import { define } from './sdk';", "define"),
        ("import * as own from './sdk';", "own.define"),
        ("import { definePlugin } from './all';", "definePlugin"),
        ("import own from './default';", "own"),
        ("const define = require('@nextskin/plugin-sdk').definePlugin;", "define"),
        ("const sdk = await import('@nextskin/plugin-sdk');", "sdk.definePlugin"),
        ("import * as sdk from '@nextskin/plugin-sdk'; const { definePlugin: define } = sdk;", "define"),
    ],
)
def test_definers_are_followed_through_the_repository(statement: str, name: str) -> None:
    files = {
        "sdk.ts": "export { definePlugin as define } from '@nextskin/plugin-sdk';",
        "all.ts": "export * from '@nextskin/plugin-sdk';",
        "default.ts": "import { definePlugin } from '@nextskin/plugin-sdk';\nexport default definePlugin;",
    }
    source = f"{statement}\nexport default {name}({{ jobs: {{ a: {{ maxAttempts: 0, handler() {{}} }} }} }}); // definePlugin\n"
    assert found(source, files) == [("NSP104", "0")]


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ("{ maxAttempts: limits.attempts, handler }", "limits.attempts"),
        ("{ maxAttempts: attempts, handler }", "attempts"),
        ("{ ...limits, attempts: undefined, maxAttempts: attempts, handler }", "attempts"),
        ("{ ...options, handler }", "...options"),
        ("job", "job"),
    ],
)
def test_a_value_of_another_file_is_told_where_this_one_uses_it(entry: str, place: str) -> None:
    files = {
        "limits.ts": "export const attempts = 21;\nexport const limits = { attempts } as const;\n"
        "export const options = { maxAttempts: 21 };\nexport const handler = () => {};\n"
        "export const job = { ...options, handler } satisfies Job;\n"
    }
    source = (
        "import { definePlugin } from '@nextskin/plugin-sdk';\n"
        "import { attempts, handler, job, limits, options } from './limits';\n"
        f"export default definePlugin({{ jobs: {{ a: {entry} }} }});\n"
    )
    assert found(source, files) == [("NSP104", place)]


LISTS = [
    "export const jobs = [purge, sync, one];",
    "export const jobs: JobDefinition[] = [purge, sync, one];",
    "const jobs = [purge, sync, one] as const;\nexport { jobs };",
    "const all = [purge, sync, one];\nexport { all as jobs };",
    "export default [purge, sync, one];",
    "const all: JobDefinition[] = [purge, sync, one];\nexport default all;",
    "module.exports = { jobs: [purge, sync, one] };",
    "export default Object.freeze([purge, sync, one] as const);",
    "const all = Object.freeze([purge, sync, one]);\nexport default all;",
    "exports.jobs = [purge, sync, one];",
    "module.exports = [purge, sync, one];",
]
IMPORTS = 'import { purge, sync, one } from "./jobs";\n'


@pytest.mark.parametrize("statement", LISTS)
def test_a_file_that_only_lists_jobs_of_others_is_judged(statement: str) -> None:
    assert sorted(found(IMPORTS + statement, FILES)) == [("NSP107", "sync"), ("NSP304", '"sync"'), ("NSP304", '"typo"')]


@pytest.mark.parametrize("statement", ["export default [JOBS];", "const all = [JOBS];\nexport default all;"])
def test_a_list_that_is_the_default_export_is_whole(statement: str) -> None:
    listed = statement.replace("JOBS", job("sync") + ", " + job("purge", body='await jobs.enqueue("typo");'))
    assert found(SDK + listed) == [("NSP304", '"typo"')]


def test_a_list_of_jobs_goes_before_the_default_export() -> None:
    first = job("a", body='await jobs.enqueue("b");')
    assert found(SDK + f"export const jobs = [{first}, {job('b')}];\nexport default [jobs[0]];") == []


@pytest.mark.parametrize(
    "source",
    [
        'export const jobs = ["a", "a"];',
        "import { a } from './a';\nexport const jobs = [a, a];",
        "import { a } from './missing';\nexport default [a, a];",
        "import { a } from './a';\nexport default [a, a",
        "import { a } from './a';\nexport const jobs = \0[a, a]",
    ],
)
def test_other_lists_are_left_alone(source: str) -> None:
    assert found(source, {"a.ts": "export const a = { key: 'a' };"}) == []
