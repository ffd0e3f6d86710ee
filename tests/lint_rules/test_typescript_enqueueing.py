"""NSP304-307 in TypeScript: calls of ``enqueue`` wherever a handler's context reaches (spec/nextskin.md E, cogover.md E)."""

from __future__ import annotations

import pytest

from typescript_sources import codes, found, problems

HELPERS = {
    "queue.ts": (
        "export function later(ctx: Context, id: string) { return ctx.jobs.enqueue('typo', { id }) }\n"
        "export const viaJobs = async (queue: Jobs) => { await queue.enqueue('typo') }\n"
        "export async function viaParts({ ctx: { jobs: queue }, id }: Parts) { await queue.enqueue('typo', { id }) }\n"
        "export default (args: Parts) => args.ctx.jobs.enqueue('typo');\n"
    ),
    "index.ts": "export * from './queue';\nexport { default as again, viaJobs as start } from './queue';\n",
}


def nextskin(body: str, before: str = "", parameter: str = "{ payload, ctx }") -> str:
    return (
        'import { definePlugin } from "@nextskin/plugin-sdk";\n'
        f"{before}\nexport default definePlugin({{ jobs: {{ expire: {{ async handler({parameter}) {{\n{body}\n}} }} }} }});\n"
    )


def cogover(body: str, before: str = "", parameter: str = "{ jobs, payload }") -> str:
    return (
        'import { defineJob } from "@cogover/sdk";\n'
        f'{before}\nexport const jobs = [defineJob({{ key: "sync" }}, async ({parameter}) => {{\n{body}\n}})];\n'
    )


REACHED = [
    "await ctx.jobs.enqueue('typo');",
    "ctx.jobs['enqueue']('typo');",
    "ctx['jobs'].enqueue('typo');",
    "ctx?.jobs?.enqueue?.('typo');",
    "void ctx.jobs.enqueue('typo');",
    "await ctx.jobs!.enqueue('typo');",
    "(ctx as Context).jobs.enqueue('typo');",
    "return (await ctx).jobs.enqueue('typo');",
    "const { jobs } = ctx; await jobs.enqueue('typo');",
    "const { jobs: queue } = ctx; await queue.enqueue('typo');",
    "const { jobs: { enqueue } } = ctx; await enqueue('typo');",
    "const enqueue = ctx.jobs.enqueue; await enqueue('typo');",
    "const queue = ctx.jobs; await queue.enqueue('typo');",
    "const deps = { queue: ctx.jobs, id: 5 }; await deps.queue.enqueue('typo');",
    "await Promise.all(ids.map((id) => ctx.jobs.enqueue('typo', { id })));",
    "for (const id of ids) { if (id) await ctx.jobs.enqueue('typo', { id }); }",
    "const inner = async () => { await ctx.jobs.enqueue('typo') }; await inner();",
    "async function inner(c) { await c.jobs.enqueue('typo') }\nawait inner(ctx);",
    "((jobs) => jobs.enqueue('typo'))(ctx.jobs);",
    "try { run() } catch (error) { await ctx.jobs.enqueue('typo') } finally { done() }",
    "const name = 'typo'; await ctx.jobs.enqueue(name);",
    "const NAMES = { a: 'typo' } as const; await ctx.jobs.enqueue(NAMES.a);",
    "await ctx.jobs.enqueue(`ty${'po'}`);",
    "switch (x) { case 1: await ctx.jobs.enqueue('typo') }",
    "label: while (x) { await ctx.jobs.enqueue('typo') }",
    "void ctx.jobs!.enqueue('typo');",
    "void ctx!.jobs!.enqueue!('typo');",
    "void ctx.jobs!['enqueue']('typo');",
    "void ctx.jobs!.enqueue('typo').catch(() => {});",
    "if (!(x || !ctx.jobs!.enqueue('typo'))) return;",
    "ok && ctx.jobs!.enqueue('typo');",
    "const sent = other ?? ctx.jobs!.enqueue('typo');",
    "const { jobs } = ctx!; void jobs!.enqueue('typo');",
    "ids.forEach((id) => void ctx.jobs!.enqueue('typo', { id }));",
    "setTimeout(() => void ctx.jobs! /* the queue */ .enqueue('typo'), 5);",
    "void save!(ctx);\nfunction save(c) { c.jobs.enqueue('typo') }",
    "class Late { run() { void ctx.jobs!.enqueue('typo') } }",
    "ctx['jobs']['enqueue']('typo');",
    "ctx[`jobs`].enqueue('typo');",
    "(ctx.jobs as any).enqueue('typo');",
    "(<any>ctx.jobs).enqueue('typo');",
    "ctx.jobs.enqueue<Payload>('typo');",
    "await Promise.all([ctx.jobs.enqueue('typo'), other()]);",
    "await Promise.allSettled(ids.map(function (id) { return ctx.jobs.enqueue('typo', { id }) }));",
    "return ctx.jobs.enqueue('typo');",
    "return ctx.jobs.enqueue('typo').then(() => 5).catch(log);",
    "return load().then(() => ctx.jobs.enqueue('typo'), log);",
    "const sent = ok ? ctx.jobs.enqueue('typo') : null;",
    "throw await ctx.jobs.enqueue('typo');",
]
NOT_REACHED = [
    "await other.jobs.enqueue('typo');",
    "items.forEach((ctx) => ctx.jobs.enqueue('typo'));",
    "items.map(({ jobs }) => jobs.enqueue('typo'));",
    "{ const ctx = other(); await ctx.jobs.enqueue('typo'); }",
    "for (const ctx of others) await ctx.jobs.enqueue('typo');",
    "try { run() } catch (ctx) { ctx.jobs.enqueue('typo') }",
    "function inner(ctx) { ctx.jobs.enqueue('typo') }",
    "let queue = ctx.jobs; queue = other; await queue.enqueue('typo');",
    "const { jobs, ...rest } = ctx; rest.jobs.enqueue('typo');",
    "await ctx.jobs.enqueue(pick());",
    "await ctx.jobs.enqueue(...args);",
    "await ctx.jobs.enqueue();",
    "const names = ['typo']; names[0] = 'expire'; await ctx.jobs.enqueue(names[0]);",
    "await ctx.jobs.enqueue(ok ? 'typo' : 'expire');",
    "let name = 'typo'; if (x) name = 'expire'; await ctx.jobs.enqueue(name);",
    "await ctx.jobs.enqueueMany('typo');",
]


@pytest.mark.parametrize("body", REACHED)
def test_a_job_that_is_not_declared_is_found_wherever_it_is_enqueued(body: str) -> None:
    assert codes(nextskin(body)) == ["NSP304"]


@pytest.mark.parametrize("call", ["void ctx.jobs!.enqueue", "ok && ctx.jobs?.enqueue", "return ctx['jobs']!['enqueue']"])
def test_every_argument_is_judged_however_the_call_is_written(call: str) -> None:
    """spec/nextskin.md E."""
    body = f"{call}('typo', {{ when: new Date() }}, {{ delaySec: -1, dedupeKey: ' x', delay: 5 }});"
    assert sorted(codes(nextskin(body))) == ["NSP006", "NSP301", "NSP304", "NSP305", "NSP306"]
    both = f"{call.replace('ctx.', '').replace('ctx', 'c')}('sync', null, {{ delayMs: 5, runAt: 1_900_000_000_000 }});"
    parameter = "c" if "c[" in both else "{ jobs }"
    assert codes(cogover(both, parameter=parameter)) == ["NSP307"]


@pytest.mark.parametrize("body", NOT_REACHED)
def test_what_is_not_the_contexts_own_or_not_known_is_left_alone(body: str) -> None:
    assert codes(nextskin(body)) == []


@pytest.mark.parametrize(
    ("parameter", "call"),
    [
        ("{ jobs }", "jobs.enqueue('typo')"),
        ("{ jobs: queue }", "queue.enqueue('typo')"),
        ("{ jobs: { enqueue } }", "enqueue('typo')"),
        ("{ jobs = none }", "jobs.enqueue('typo')"),
        ("{ 'jobs': queue }", "queue.enqueue('typo')"),
        ("context", "context.jobs.enqueue('typo')"),
        ("context: Context", "context['jobs'].enqueue('typo')"),
        ("context", "const { jobs, ...others } = context; jobs.enqueue('typo')"),
    ],
)
def test_each_way_to_take_the_context_apart(parameter: str, call: str) -> None:
    assert codes(cogover(call, parameter=parameter)) == ["NSP304"]


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ("import { later } from './queue';", "await later(ctx, 5);"),
        ("import * as queue from './queue';", "await queue.later(ctx, 5);"),
        ("import { viaJobs } from './queue';", "await viaJobs(ctx.jobs);"),
        ("import { viaParts } from './queue';", "await viaParts({ ctx, id: 5 });"),
        ("import again from './queue';", "await again({ ctx });"),
        ("import { later } from '.';", "await later(ctx, 'x');"),
        ("import { again, start } from './index';", "await again({ ctx }); await start(ctx.jobs);"),
        ("const { later } = require('./queue');", "await later(ctx);"),
    ],
)
def test_helpers_of_the_repository_are_followed(statement: str, call: str) -> None:
    problem = problems(nextskin(call, statement), HELPERS)[0]
    assert (problem.code, problem.path) == ("NSP304", "queue.ts")
    assert {text for _, text in found(nextskin(call, statement), HELPERS)} == {"'typo'"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("{ delaySec: 2_592_000 }", []),
        ("{ delaySec: 2_592_001 }", [("NSP305", "2_592_001")]),
        ("{ delaySec: 0.5 }", [("NSP305", "0.5")]),
        ("{ 'delaySec': '5' }", [("NSP305", "'5'")]),
        ("{ delaySec: -1, dedupeKey: ' x' }", [("NSP305", "-1"), ("NSP306", "' x'")]),
        ("{ delaySec }", [("NSP305", "-5")]),
        ("{ ...options }", [("NSP305", "-5")]),
        ("options", [("NSP305", "-5")]),
        ("{ ...options, delaySec: 5 }", []),
        ("{ ...options, ...more() }", []),
        ("{ dedupeKey: 'x'.repeat(256) }", [("NSP306", "'x'.repeat(256)")]),
        ("{ dedupeKey: 'x'.repeat(255) }", []),
        ("{ dedupeKey: ` x` }", [("NSP306", "` x`")]),
        ("{ dedupeKey: '\\ud800' }", [("NSP306", "'\\ud800'")]),
        ("{ dedupeKey: `${pick()}:x` }", []),
        ("{ dedupeKey: undefined, delaySec: undefined }", []),
        ("{ delaySec: seconds() }", []),
    ],
)
def test_literal_options_are_judged_at_their_own_place(options: str, expected: list[tuple[str, str]]) -> None:
    body = f"const options = {{ delaySec: -5 }}, delaySec = -5;\nawait ctx.jobs.enqueue('expire', {{}}, {options});"
    assert found(nextskin(body)) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("{ delayMs: 5, runAt: 1_900_000_000_000 }", ["NSP307"]),
        ("{ delayMs: 5, runAt: undefined }", []),
        ("{ runAt: Date.now() + 5 }", []),
        ("{ runAt: '2030-01-01' }", ["NSP305"]),
        ("{ idempotencyKey: '-x' }", ["NSP306"]),
        ("{ idempotencyKey: 'a:b.c_d-e' }", []),
    ],
)
def test_cogovers_options(options: str, expected: list[str]) -> None:
    assert codes(cogover(f"await jobs.enqueue('sync', null, {options});")) == expected


@pytest.mark.parametrize(
    "body",
    [
        "await save(ctx);",
        "await new Store(ctx).save();",
        "this.ctx = ctx;",
        "const { ...rest } = ctx; save(rest);",
        "return ctx;",
        "const all = [ctx]; save(all);",
        "let own = ctx; own = x;",
    ],
)
def test_a_context_that_goes_where_it_is_not_followed_may_use_what_is_declared(body: str) -> None:
    source = nextskin(body).replace("({ jobs", "({ capabilities: ['storage.kv'], jobs")
    assert codes(source) == []
    assert codes(source.replace(body, "ctx.log.info('x');")) == ["NSP502"]
