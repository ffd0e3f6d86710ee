"""NSP401 in TypeScript: what loading the entry, and the modules that it imports, starts (spec/nextskin.md D1)."""

from __future__ import annotations

import pytest

from typescript_sources import codes, found, problems

PLUGIN = (
    '\nimport { definePlugin } from "@nextskin/plugin-sdk";'
    "\nexport default definePlugin({ jobs: { a: { handler: async () => {} } } });\n"
)
STARTED = {
    "setInterval(tick, 1000)": "setInterval",
    "setTimeout(tick, 1000).unref()": "setTimeout",
    "globalThis.setInterval(tick, 1)": "setInterval",
    "globalThis['setInterval'](tick, 1)": "setInterval",
    "window.setTimeout(tick, 1)": "setTimeout",
    "global.setTimeout(tick, 1)": "setTimeout",
    "self.setTimeout(tick, 1)": "setTimeout",
    "globalThis?.setInterval?.(tick, 1)": "setInterval",
    "window.globalThis.setTimeout(tick, 1)": "setTimeout",
    "const { setInterval: every } = globalThis; every(tick, 1)": "setInterval",
    "const every = setInterval; every(tick, 1)": "setInterval",
    "const clock = globalThis; clock.setInterval(tick, 1)": "setInterval",
    "import timers from 'timers'; timers.setInterval(tick, 1)": "setInterval",
    "import * as tm from 'timers'; tm.setTimeout(tick, 1)": "setTimeout",
    "import * as tm from 'node:timers'; tm.setTimeout(tick, 1)": "setTimeout",
    "import { setInterval as every } from 'node:timers'; every(tick, 1)": "setInterval",
    "import { setTimeout as wait } from 'timers/promises'; await wait(1000)": "setTimeout",
    "import { setInterval as every } from 'node:timers/promises'; for await (const now of every(5)) tick(now)": "setInterval",
    "import { scheduler } from 'timers/promises'; await scheduler.wait(5)": "scheduler.wait",
    "const tm = require('timers'); tm.setInterval(tick, 1)": "setInterval",
    "const { setTimeout: later } = require('node:timers'); later(tick, 1)": "setTimeout",
    "require('timers').setTimeout(tick, 1)": "setTimeout",
    "const tm = await import('timers'); tm.setTimeout(tick, 1)": "setTimeout",
    "import tm = require('timers'); tm.setTimeout(tick, 1)": "setTimeout",
    "import cron from 'node-cron'; cron.schedule('* * * * *', tick)": "node-cron.schedule",
    "import { schedule } from 'node-cron'; schedule('* * * * *', tick)": "node-cron.schedule",
    "import schedule from 'node-schedule'; schedule.scheduleJob('* * * * *', tick)": "node-schedule.scheduleJob",
    "import { CronJob } from 'cron'; new CronJob('* * * * *', tick, null, true)": "cron.CronJob",
    "import { CronJob } from 'cron'; CronJob.from({ cronTime: '* * * * *', onTick: tick, start: true })": "cron.CronJob.from",
    "import { CronJob } from 'cron'; const job = new CronJob('* * * * *', tick); job.start()": "CronJob",
    "import { Cron } from 'croner'; new Cron('* * * * *', () => tick())": "croner.Cron",
    "import Bree from 'bree'; const bree = new Bree({ jobs: [] }); await bree.start()": "bree",
    "import { Agenda } from 'agenda'; const agenda = new Agenda({}); await agenda.start()": "Agenda",
    "(() => { setInterval(tick, 1) })()": "setInterval",
    "void (async () => { setInterval(tick, 1) })()": "setInterval",
    "(function () { setInterval(tick, 1) }).call(null)": "setInterval",
    "if (ready) setInterval(tick, 1)": "setInterval",
    "class A { static { setInterval(tick, 1) } }": "setInterval",
    "class A { static timer = setInterval(tick, 1) }": "setInterval",
    "export const timer = setInterval(tick, 1)": "setInterval",
    "while (true) tick()": "an endless loop",
    "for (;;) { await tick() }": "an endless loop",
    "do { tick() } while (1)": "an endless loop",
    "while (true) { for (const x of xs) { if (x) break } }": "an endless loop",
    "while (true) { switch (x) { case 1: break } }": "an endless loop",
    "while (true) { xs.map((x) => { return x }) }": "an endless loop",
}
QUIET = [
    "function start() { setInterval(tick, 1) }",
    "export const start = () => setInterval(tick, 1)",
    "class A { start() { setInterval(tick, 1) } timer = setInterval(tick, 1) }",
    "const o = { start() { setTimeout(tick, 1) } }",
    "const sleep = (ms) => new Promise((done) => setTimeout(done, ms))",
    "function setInterval(f) { return f }\nsetInterval(tick)",
    "import { setInterval } from './clock'; setInterval(tick, 1)",
    "import { setTimeout } from 'fake-timers'; setTimeout(tick, 1)",
    "const timers = { setInterval(f) {} }; timers.setInterval(tick)",
    "const { setInterval } = fake; setInterval(tick)",
    "import timers from './timers'; timers.setInterval(tick)",
    "this.setInterval(tick, 1)",
    "jobs.setTimeout(5)",
    "if (require.main === module) setInterval(tick, 1)",
    "if (import.meta.main) { while (true) tick() }",
    "require.main === module && setInterval(tick, 1)",
    "if (process.argv[1] === import.meta.filename) { setTimeout(tick, 1) }",
    "if (import.meta.vitest) { setTimeout(tick, 1) }",
    "if (typeof window !== 'undefined') window.setInterval(tick, 1)",
    "if (false) setInterval(tick, 1)",
    "clearInterval(x)",
    "const every = setInterval",
    "const text = 'setInterval(tick, 1)' // setInterval(tick, 1)",
    "while (true) { if (x) break }",
    "outer: while (true) { for (const x of xs) { break outer } }",
    "while (true) { process.exit(0) }",
    "while (true) throw new Error('x')",
    "while (x) tick()",
    "for (let i = 0; ; i++) { if (i > 5) break }",
    "import { CronJob } from 'cron'; export const job = new CronJob('* * * * *', tick)",
    "import cron from 'node-cron'; cron.validate('* * * * *'); cron.schedule('* * * * *', tick, { scheduled: false })",
    "import { Cron } from 'croner'; const next = new Cron('* * * * *').nextRun()",
    "import { Cron } from 'croner'; new Cron('* * * * *', { paused: true }, () => tick())",
    "import parser from 'cron-parser'; parser.parseExpression('* * * * *')",
    "import schedule from './schedule'; schedule.scheduleJob(tick)",
    "import type timers from 'timers'",
]


@pytest.mark.parametrize(("source", "what"), list(STARTED.items()))
def test_what_loading_the_module_starts_is_found(source: str, what: str) -> None:
    whole = source + PLUGIN
    (problem,) = problems(whole)
    assert (problem.code, problem.message) == ("NSP401", f"{what} starts when the module is loaded")
    ((_, text),) = found(whole)
    assert text in source


@pytest.mark.parametrize("source", QUIET)
def test_what_is_not_started_by_loading_is_left_alone(source: str) -> None:
    assert codes(source + PLUGIN) == []


def test_javascript_has_them_too() -> None:
    source = (
        "const { definePlugin } = require('@nextskin/plugin-sdk');\nsetInterval(tick, 1);\nmodule.exports = definePlugin({});\n"
    )
    assert found(source, path="plugin.cjs") == [("NSP401", "setInterval(tick, 1)")]


FILES = {
    "clock.ts": "export const now = () => 5;\nexport interface Clock { a: 1 }\nsetInterval(() => now(), 1000);\n",
    "deep/index.ts": "export * from '../clock';\n",
    "quiet.ts": "import type { Clock } from './clock';\nexport const start = () => setInterval(() => {}, 1);\n",
    "types.ts": "import { Clock } from './clock';\nexport type Own = Clock & { b: typeof Clock };\n",
    "cycle.ts": "import './plugin';\nimport './cycle';\nimport './clock';\n",
    "own.ts": "export { setInterval as every } from 'timers';\nexport const later = setTimeout;\n",
}


@pytest.mark.parametrize(
    "statement",
    [
        "import './clock';",
        "import { now } from './clock';\nlog(now());",
        "import { now } from './deep';\nlog(now());",
        "export * from './clock';",
        "export { now } from './clock';",
        "import './cycle';",
        "require('./clock');",
        "const { now } = require('./clock');",
        "import * as clock from './clock';\nlog(clock.now());",
    ],
)
def test_the_modules_that_an_entry_imports_are_loaded_with_it(statement: str) -> None:
    source = statement + PLUGIN
    (problem,) = problems(source, FILES)
    assert (problem.code, problem.path, problem.span) == ("NSP401", "clock.ts", (3, 1, 3, 31))


@pytest.mark.parametrize(
    "statement",
    [
        "import { start } from './quiet';\nexport { start };",
        "import type { Clock } from './clock';",
        "import { type Clock } from './clock';",
        "import { Clock } from './clock';\nlet c: Clock, d: typeof Clock.a;",
        "import { Own } from './types';\ntype Mine = Own;",
        "import './missing';",
        "export type { Clock } from './clock';",
    ],
)
def test_types_are_not_loaded(statement: str) -> None:
    assert codes(statement + PLUGIN, FILES) == []


@pytest.mark.parametrize(
    "statement", ["import { every } from './own'; every(tick, 1);", "import * as own from './own'; own.later(tick, 1);"]
)
def test_timers_that_a_module_passes_on_are_timers(statement: str) -> None:
    assert [code for code, _ in found(statement + PLUGIN, FILES)] == ["NSP401"]
