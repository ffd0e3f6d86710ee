"""NSP106 and NSP402-404 in TypeScript: what handlers take, and what they do with payloads, secrets and failures."""

from __future__ import annotations

import pytest

from typescript_sources import codes, found, problems

HELPERS = """
import { ConnectionError } from "@cogover/sdk";
import { readFile } from "node:fs/promises";
import { z } from "zod";
class Failed extends Error {}
class Passing extends RetryableError {}
const schema = z.object({ id: z.string() });
const helpers = { call() { throw new Error("down") } };
function call() { throw new Error("down") }
const again = () => { throw new RetryableError("later") };
function refuse(x) { if (typeof x !== "string") throw new Error("bad") }
const made = make();
"""


def cogover(body: str, options: str = "maxAttempts: 8", before: str = HELPERS) -> str:
    return (
        f'import {{ defineJob, RetryableError }} from "@cogover/sdk";\n{before}\n'
        f'export const jobs = [defineJob({{ key: "sync", {options} }}, async ({{ payload, data, log }}) => {{\n{body}\n}})];\n'
    )


NEVER = [
    "throw new Error('down')",
    "throw new Failed('down')",
    "throw new ConnectionError('down')",
    "const response = await fetch('x'); if (!response.ok) throw new Error(`status ${response.status}`)",
    "try { await data.object('order').records.list() } catch (error) { throw new Error('x', { cause: error }) }",
    "try { await data.object('order').records.list() } catch (error) { log.info('failed'); throw error }",
    "call()",
    "helpers.call()",
    "[1].map(call)",
    "const { id } = schema.parse(payload); await readFile(id); throw new Error('down')",
    "if (!payload) throw new TypeError('bad'); throw new Error('slow')",
    "const inner = async () => { throw new Error('x') }; await inner()",
]
PERHAPS = [
    "throw new RetryableError('later')",
    "try { call() } catch (error) { throw new RetryableError('later') }",
    "again()",
    "throw new Passing('later')",
    "const Later = RetryableError; throw new Later('x')",
    "await made.call(); throw new Error('x')",
    "await other.call(); throw new Error('x')",
    "eval('x'); throw new Error('x')",
    "await import('./x'); throw new Error('x')",
    "await data.object('order').records.list()",
    "",
    "refuse(payload)",
    "if (!payload?.id) throw new Error('the payload lacks its id')",
    "const parsed = schema.safeParse(payload); if (!parsed.success) throw new Error('bad')",
    "if (!payload) throw new ValidationError('bad')",
    "try { x() } catch (error) { if (error instanceof TypeError) throw error }",
    "try { throw new Error('x') } catch { log.info('x') }",
]


@pytest.mark.parametrize("body", NEVER)
def test_a_failure_that_nothing_makes_retryable_is_found_where_attempts_are_asked_for(body: str) -> None:
    """spec/cogover.md X4."""
    assert found(cogover(body)) == [("NSP404", "8")]


@pytest.mark.parametrize("body", PERHAPS)
def test_a_handler_that_may_retry_or_never_fails_for_now_is_left_alone(body: str) -> None:
    before = 'import { other } from "elsewhere";\n' + HELPERS
    assert codes(cogover(body, before=before)) == []


def test_helpers_in_other_files_are_read_too() -> None:
    files = {
        "call.ts": "export function call() { throw new Error('down') }\n",
        "again.ts": 'import { RetryableError } from "@cogover/sdk";\n'
        'export const call = () => { throw new RetryableError("x") };\n',
        "index.ts": "export * from './call';\n",
    }
    assert codes(cogover("call()", before="import { call } from './call';"), files) == ["NSP404"]
    assert codes(cogover("call()", before="import { call } from '.';"), files) == ["NSP404"]
    assert codes(cogover("call()", before="import { call } from './again';"), files) == []
    assert codes(cogover("call()", before="import { call } from './missing';"), files) == []


@pytest.mark.parametrize("options", ["timeoutMs: 5000", "maxAttempts: 1", "maxAttempts: attempts()", "...more()"])
def test_only_attempts_that_were_asked_for_count(options: str) -> None:
    assert codes(cogover("throw new Error('x')", options)) == []


def test_nextskin_retries_every_failure() -> None:
    source = (
        'import { definePlugin } from "@nextskin/plugin-sdk";\n'
        "export default definePlugin({ jobs: { a: { maxAttempts: 8, handler() { throw new Error('x') } } } });\n"
    )
    assert codes(source) == []


def taking(parameters: str, platform: str = "cogover") -> str:
    if platform == "cogover":
        return (
            'import { defineJob } from "@cogover/sdk";\n'
            f'export const jobs = [defineJob({{ key: "sync" }}, async ({parameters}) => {{}})];\n'
        )
    return (
        'import { definePlugin } from "@nextskin/plugin-sdk";\n'
        f"export default definePlugin({{ jobs: {{ sync: {{ async handler({parameters}) {{}} }} }} }});\n"
    )


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("{ input }", "requires the parameter `input`, which it is not called with"),
        ("{ input, request }", "requires the parameters `input` and `request`, which it is not called with"),
        ("{ input: given }: Context", "requires the parameter `input`, which it is not called with"),
        ("{ 'request': r, data }", "requires the parameter `request`, which it is not called with"),
        ("{ response: { status } }", "requires the parameter `response`, which it is not called with"),
        ("{ payloads } = {}", "requires the parameter `payloads`, which it is not called with"),
        ("{ payload, data, schema, log, state, locks, notifications, email, jobs, secrets, crypto, org }", None),
        ("{ job, invocation, limits, processes, agents }", None),
        ("{ input = null }", None),
        ("{ input: given = 5 }", None),
        ("{ [name]: given }", None),
        ("{ data, ...rest }", None),
        ("{ input, ...rest }", "requires the parameter `input`, which it is not called with"),
        ("{ payload: { input } }", None),
        ("context", None),
        ("", None),
        ("...all", None),
        ("{}", None),
        ("_context, input", None),
    ],
)
def test_a_handler_takes_what_the_platform_gives(parameters: str, said: str | None) -> None:
    """spec/cogover.md H1."""
    told = [(problem.code, problem.message) for problem in problems(taking(parameters))]
    assert told == ([] if said is None else [("NSP106", f'the handler of job "sync" {said}')])


def test_the_finding_stands_at_the_parameters() -> None:
    assert found(taking("{ input }: Context")) == [("NSP106", "({ input }: Context)")]
    assert found(taking("{ inputs }", "nextskin")) == [("NSP106", "({ inputs })")]


def test_nextskins_handlers() -> None:
    """spec/nextskin.md D2 D7."""
    assert codes(taking("{ payload, attempt, ctx }", "nextskin")) == []
    (problem,) = problems(taking("{ payload, context }", "nextskin"))
    assert problem.message == 'the handler of job "sync" requires the parameter `context`, which it is not called with'
    (problem,) = problems(taking("{ payloads }", "nextskin"))
    assert problem.hint == "did you mean `payload`?"
    routes = "routes: { 'GET /x': { auth: 'user', handler({ request, ctx }) {} } }, jobs: {"
    route = taking("{ ctx }", "nextskin").replace("jobs: {", routes)
    assert codes(route) == []
    assert codes(route.replace("{ request, ctx }", "{ payload, ctx }")) == ["NSP106"]


def test_a_generator_runs_nothing_when_it_is_called() -> None:
    source = taking("{ data }").replace("async ({ data }) =>", "function* ({ data })")
    (problem,) = problems(source)
    assert (problem.code, problem.message.endswith("so calling it would run none of its code")) == ("NSP106", True)


def test_a_handler_from_another_file_is_judged_where_it_is_listed() -> None:
    source = 'import { defineJob } from "@cogover/sdk";\nimport { run } from "./run";\n'
    source += 'export const jobs = [defineJob({ key: "a" }, run)];'
    files = {"run.ts": "export const run = async ({ input }) => {};"}
    assert codes(source, files) == ["NSP106"]
    assert codes(source, {"run.ts": "export const run = wrap(async ({ input }) => {});"}) == []
