"""Options that ``enqueue`` does not have, and payloads that JSON would change or that are too large, in both languages.

spec/nextskin.md E1 E2, spec/cogover.md E1 E3.
"""

from __future__ import annotations

import pytest

import typescript_sources
from nsplugin_cli.lint.judging import Setting, judge
from python_sources import text_at


def nextskin(call: str, before: str = "") -> str:
    return (
        f'import {{ definePlugin }} from "@nextskin/plugin-sdk";\n{before}\n'
        f"export default definePlugin({{ jobs: {{ expire: {{ async handler({{ ctx }}) {{\n{call}\n}} }} }} }});\n"
    )


def cogover(call: str) -> str:
    return (
        'import { defineJob } from "@cogover/sdk";\n'
        f'export const jobs = [defineJob({{ key: "sync" }}, async ({{ jobs }}) => {{\n{call}\n}})];\n'
    )


def python(call: str) -> str:
    return (
        "from nsplugin import Context, Job, define_plugin\nimport datetime\n\n\n"
        f"async def expire(ctx: Context) -> None:\n    {call}\n\n\n"
        'plugin = define_plugin(id="cache", jobs={"expire": Job(expire)})\n'
    )


def found_in_python(source: str) -> list[tuple[str, str]]:
    return [(each.code, text_at(source, each.span)) for each in judge(source.encode(), "plugin.py", Setting(), None).problems]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("{ delaySecs: 60 }", [("NSP006", "delaySecs")]),
        ("{ 'delay': 60 }", [("NSP006", "'delay'")]),
        ("{ delayMs: 60 }", [("NSP006", "delayMs")]),
        ("{ delaySecs }", [("NSP006", "delaySecs")]),
        ("{ runAt: 5, dedupKey: 'x' }", [("NSP006", "dedupKey"), ("NSP006", "runAt")]),
        ("{ delaySec: 60, dedupeKey: 'x' }", []),
        ("{ [name()]: 60 }", []),
        ("{ ...more() }", []),
        ("{ delaySecs: undefined }", []),
        ("options()", []),
    ],
)
def test_an_option_that_enqueue_does_not_have(options: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(typescript_sources.found(nextskin(f"await ctx.jobs.enqueue('expire', {{}}, {options});"))) == expected


def test_what_is_meant_is_said_in_the_callers_own_spelling() -> None:
    (problem,) = typescript_sources.problems(nextskin("await ctx.jobs.enqueue('expire', {}, { delaySecs: 60 });"))
    assert (problem.message, problem.hint) == ("delaySecs is no option of ctx.jobs.enqueue", "did you mean `delaySec`?")
    (problem,) = judge(
        python("await ctx.jobs.enqueue('expire', {}, delay_secs=5)").encode(), "plugin.py", Setting(), None
    ).problems
    assert (problem.message, problem.hint) == ("delay_secs is no option of ctx.jobs.enqueue", "did you mean `delay_sec`?")
    (problem,) = typescript_sources.problems(cogover("await jobs.enqueue('sync', null, { priority: 5 });"))
    assert problem.hint == "there are delayMs, runAt, idempotencyKey"


NAMED_IN_PYTHON = [
    ("delay=5", "delay", "there are delay_sec, dedupe_key"),
    ("delaySec=5", "delaySec", "did you mean `delay_sec`?"),
    ("delay__sec=5", "delay__sec", "did you mean `delay_sec`?"),
    ("delay_secs=-5", "delay_secs", "did you mean `delay_sec`?"),
    ("dedupeKey=''", "dedupeKey", "did you mean `dedupe_key`?"),
    ("run_at=5", "run_at", "there are delay_sec, dedupe_key"),
    ("paylod={}", "paylod", "did you mean `payload`?"),
    ("options={'delay_sec': 5}", "'delay_sec'", "did you mean `delaySec`?"),
    ("options={'payload': {}}", "'payload'", "there are delaySec, dedupeKey"),
    ("**{'delaySec': 5}", "ctx.jobs.enqueue('expire', **{'delaySec': 5})", "did you mean `delay_sec`?"),
]


@pytest.mark.parametrize(("argument", "place", "hint"), NAMED_IN_PYTHON)
def test_in_python_a_keyword_goes_by_its_own_name_and_is_marked_there(argument: str, place: str, hint: str) -> None:
    source = python(f"await ctx.jobs.enqueue('expire', {argument})")
    (problem,) = judge(source.encode(), "plugin.py", Setting(), None).problems
    assert (problem.code, text_at(source, problem.span), problem.hint) == ("NSP006", place, hint)


@pytest.mark.parametrize(
    ("argument", "hint"),
    [
        ("delay=5", "there are delay_ms, run_at, idempotency_key"),
        ("delayMs=5", "did you mean `delay_ms`?"),
        ("runAt=5", "did you mean `run_at`?"),
        ("idempotencyKey='a'", "did you mean `idempotency_key`?"),
        ("options={'run_at': 5}", "did you mean `runAt`?"),
    ],
)
def test_in_python_cogovers_keywords_go_by_their_own_names(argument: str, hint: str) -> None:
    source = (
        "from nsplugin.cogover import define_job\n\n\n@define_job(key='sync')\n"
        f"async def sync(jobs):\n    await jobs.enqueue('sync', {argument})\n\n\njobs = [sync]\n"
    )
    problems = judge(source.encode(), "plugin.py", Setting(), None).problems
    assert [(each.code, each.hint) for each in problems if each.code != "NSP008"] == [("NSP006", hint)]


def test_a_keyword_unpacked_from_elsewhere_is_marked_at_the_call() -> None:
    call = "ctx.jobs.enqueue('expire', **MORE)"
    source = python(f"await {call}").replace("import datetime", "MORE = dict(\n    delaySec=5,\n)")
    assert found_in_python(source) == [("NSP006", call)]


LOST = {
    "{ at: new Date() }": "new Date()",
    "{ big: 5n }": "5n",
    "{ list: [1, undefined] }": "undefined",
    "{ list: [], gone: undefined }": "undefined",
    "{ done: () => 1 }": "() => 1",
    "{ done() { return 1 } }": "done() { return 1 }",
    "{ limit: NaN }": "NaN",
    "{ limit: -Infinity }": "-Infinity",
    "[new Map(), 1]": "new Map()",
    "{ tags: new Set(['a']) }": "new Set(['a'])",
    "{ match: /x/g }": "/x/g",
    "5n": "5n",
    "new Date(0)": "new Date(0)",
    "{ inner: { at: [{ on: new Date() }] } }": "new Date()",
    "made": "new Date()",
}
KEPT = [
    "{ at: new Date().toISOString(), n: 5, list: [null, true], inner: {} }",
    "{ at: Date.now(), id: payload?.id, ...more }",
    "undefined",
    "null",
    "[]",
    "{ at: new Clock() }",
    "{ big: String(5n) }",
    "values.map((value) => value.id)",
    "JSON.parse(text)",
    "{ cursor: next ?? undefined }",
]


@pytest.mark.parametrize(("payload", "place"), list(LOST.items()))
def test_what_json_would_change_or_lose_is_found_at_its_place(payload: str, place: str) -> None:
    call = f"const made = {{ at: new Date() }};\nawait ctx.jobs.enqueue('expire', {payload});"
    assert typescript_sources.found(nextskin(call)) == [("NSP301", place)]
    assert typescript_sources.codes(cogover(call.replace("ctx.", "").replace("expire", "sync"))) == ["NSP301"]


@pytest.mark.parametrize("payload", KEPT)
def test_payloads_that_are_json_or_not_known_are_left_alone(payload: str) -> None:
    assert typescript_sources.codes(nextskin(f"await ctx.jobs.enqueue('expire', {payload});")) == []


def test_a_class_of_the_modules_own_is_not_the_languages() -> None:
    before = "class Date { toJSON() { return 5 } }"
    assert typescript_sources.codes(nextskin("await ctx.jobs.enqueue('expire', { at: new Date() });", before)) == []


def test_payloads_in_python() -> None:
    assert found_in_python(python("await ctx.jobs.enqueue('expire', {'at': float('nan')})")) == [
        ("NSP301", "{'at': float('nan')}")
    ]
    assert found_in_python(python("await ctx.jobs.enqueue('expire', {'at': ctx.log})")) == []


@pytest.mark.parametrize(("length", "codes"), [(65_536 - 8, []), (65_536 - 7, ["NSP302"])])
def test_a_payload_has_a_greatest_size(length: int, codes: list[str]) -> None:
    """``{"x":""}`` has eight bytes."""
    assert typescript_sources.codes(nextskin(f"await ctx.jobs.enqueue('expire', {{ x: '{'x' * length}' }});")) == codes
    assert typescript_sources.codes(nextskin(f"await ctx.jobs.enqueue('expire', {{ x: 'x'.repeat({length}), }});")) == codes
    assert [code for code, _ in found_in_python(python(f"await ctx.jobs.enqueue('expire', {{'x': 'x' * {length}}})"))] == codes
    assert typescript_sources.codes(nextskin(f"await ctx.jobs.enqueue('expire', {{ x: 'x'.repeat({length}), y }});")) == codes


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("await ctx.jobs.enqueue(name='expir', payload={'at': float('nan')})", ["NSP301", "NSP304"]),
        ("await ctx.jobs.enqueue(name='expire', payload={}, options={'delaySec': 5})", []),
        ("await ctx.jobs.enqueue(key='expire', payload={})", ["NSP006"]),
    ],
)
def test_arguments_by_name_are_read_as_the_context_takes_them(call: str, expected: list[str]) -> None:
    assert sorted(code for code, _ in found_in_python(python(call))) == expected


def test_cogovers_jobs_go_by_key() -> None:
    source = (
        "from nsplugin.cogover import define_job\n\n\n@define_job(key='sync')\n"
        "async def sync(jobs):\n    await jobs.enqueue(key='snyc')\n    await jobs.enqueue(name='sync')\n\n\njobs = [sync]\n"
    )
    assert {("NSP006", "name"), ("NSP304", "'snyc'")} <= set(found_in_python(source))
