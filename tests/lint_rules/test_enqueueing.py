"""NSP304-307: literal arguments of enqueue wherever a handler's context reaches."""

from __future__ import annotations

import pytest

from python_sources import codes, problems, repository, text_at

NEXTSKIN = """\
import asyncio
import functools
from nsplugin import Context, Job, Route, define_plugin
KNOWN = "expire"
{helpers}
async def expire(payload, attempt, ctx: Context):
{body}
async def post(request, ctx):
    pass
plugin = define_plugin(jobs={{"expire": Job(expire)}}, routes={{"POST /": Route(post, auth="user")}})
"""
COGOVER = """\
from nsplugin.cogover import define_job
@define_job(key="sync")
async def sync({parameters}):
{body}
jobs = [sync]
"""


def nextskin(body: str, helpers: str = "") -> str:
    return NEXTSKIN.format(body="\n".join("    " + line for line in body.split("\n")), helpers=helpers)


def cogover(body: str, parameters: str = "jobs") -> str:
    return COGOVER.format(body="\n".join("    " + line for line in body.split("\n")), parameters=parameters)


@pytest.mark.parametrize(
    ("body", "helpers"),
    [
        ("await ctx.jobs.enqueue('typo')", ""),
        ("await ctx.jobs.enqueue('typo', {'a': 1}, delay_sec=5)", ""),
        ("enqueue = ctx.jobs.enqueue\nawait enqueue('typo')", ""),
        ("jobs = ctx.jobs\nif attempt:\n    await jobs.enqueue('typo')", ""),
        ("async def inner():\n    await ctx.jobs.enqueue('typo')\nawait inner()", ""),
        ("await asyncio.gather(*(ctx.jobs.enqueue('typo', n) for n in range(3)))", ""),
        ("send = lambda: ctx.jobs.enqueue('typo')\nsend()", ""),
        ("name = 'typo'\nawait ctx.jobs.enqueue(name)", ""),
        ("await ctx.jobs.enqueue(f'ty{\"po\"}')", ""),
        ("await later(ctx)", "async def later(ctx): await ctx.jobs.enqueue('typo')"),
        ("await later(1, context=ctx)", "async def later(n, *, context): await context.jobs.enqueue('typo')"),
        ("await later(ctx.jobs)", "async def later(jobs): await jobs.enqueue('typo')"),
        ("await later(ctx.jobs.enqueue)", "async def later(send): await send('typo')"),
        ("await asyncio.to_thread(later, 1, ctx)", "def later(n, ctx): ctx.jobs.enqueue('typo')"),
        ("await functools.partial(later, ctx)()", "def later(ctx): ctx.jobs.enqueue('typo')"),
        ("await one(ctx)", "def one(c): return two(c)\ndef two(d):\n  one(d)\n  return d.jobs.enqueue('typo')"),
        ("await asyncio.create_task(later(ctx))", "async def later(ctx): await ctx.jobs.enqueue('typo')"),
        ("await (ctx.jobs.enqueue)('typo')", ""),
        (
            "await service.send(1, ctx)",
            "class Service:\n  def send(self, n, ctx): return ctx.jobs.enqueue('typo')\nservice = Service()",
        ),
        ("await Service(3).send(ctx=ctx)", "class Service(Base):\n  async def send(self, ctx): await ctx.jobs.enqueue('typo')"),
        ("match attempt:\n    case 1:\n        await ctx.jobs.enqueue('typo')", ""),
        ("try:\n    pass\nfinally:\n    await ctx.jobs.enqueue('typo')", ""),
    ],
)
def test_an_undeclared_job_is_found_wherever_the_context_reaches(body: str, helpers: str) -> None:
    """spec/nextskin.md E1."""
    source = nextskin(body, helpers)
    (problem,) = problems(source)
    assert (problem.code, problem.path) == ("NSP304", "plugin.py")
    assert text_at(source, problem.span) in ("'typo'", "name", "f'ty{\"po\"}'")
    assert problem.message.endswith('starts "typo", which is not declared')
    assert problem.hint == 'declared are "expire"'


@pytest.mark.parametrize(
    ("body", "helpers"),
    [
        ("await ctx.jobs.enqueue('expire')", ""),
        ("await ctx.jobs.enqueue(KNOWN)", ""),
        ("await ctx.jobs.enqueue(payload['job'] if payload else 'x')", ""),
        ("await ctx.jobs.enqueue(f'{attempt}')", ""),
        ("await ctx.jobs.enqueue(*attempt)", ""),
        ("await other.jobs.enqueue('typo')", "other = make()"),
        ("ctx = make()\nawait ctx.jobs.enqueue('typo')", ""),
        ("for ctx in make():\n    ctx.jobs.enqueue('typo')", ""),
        ("def inner(ctx):\n    ctx.jobs.enqueue('typo')\ninner(make())", ""),
        ("await ctx.jobs.other('typo')", ""),
        ("await service.send(ctx)", "class Service(Base): ...\nservice = Service()"),
        (
            "await service.send(ctx)",
            "class Service:\n  @traced\n  def send(self, ctx): ctx.jobs.enqueue('typo')\nservice = Service()",
        ),
        (
            "await service.send(ctx)",
            "@made\nclass Service:\n  def send(self, ctx): ctx.jobs.enqueue('typo')\nservice = Service()",
        ),
        ("await ctx.queue.enqueue('typo')", ""),
        ("", "def unreached(ctx): ctx.jobs.enqueue('typo')"),
        ("name = 'typo'\nname = make()\nawait ctx.jobs.enqueue(name)", ""),
        ("jobs = ctx.jobs\njobs = make()\njobs.enqueue('typo')", ""),
    ],
)
def test_what_is_declared_unknown_or_of_something_else_is_left_alone(body: str, helpers: str) -> None:
    assert codes(nextskin(body or "pass", helpers)) == []


def test_jobs_that_are_not_all_known_are_no_reason_to_report() -> None:
    source = nextskin("await ctx.jobs.enqueue('typo')")
    assert codes(source.replace('{"expire": Job(expire)}', '{"expire": Job(expire), **more()}')) == []
    assert codes(source.replace('{"expire": Job(expire)}', '{"expire": Job(expire), name(): Job(post)}')) == []


def test_the_nearest_name_is_suggested() -> None:
    (problem,) = problems(nextskin("await ctx.jobs.enqueue('exprie')"))
    assert problem.hint == 'did you mean "expire"?'


def test_routes_are_handlers_too() -> None:
    source = nextskin("pass").replace(
        "async def post(request, ctx):\n    pass", "post = lambda request, ctx: ctx.jobs.enqueue('typo')"
    )
    assert codes(source) == ["NSP304"]


def test_helpers_in_other_modules_of_the_repository_are_followed_and_blamed_at_their_own_place() -> None:
    helper = (
        "from deeper import send\n"
        "async def later(ctx, jobs=None):\n    await send(ctx.jobs)\n    await ctx.jobs.enqueue('late')\n"
    )
    files = {"helper.py": helper, "deeper.py": "async def send(jobs):\n    await jobs.enqueue('deep', delay_sec=-1)\n"}
    source = nextskin("await helper.later(ctx)", "import helper")
    found = [(problem.code, problem.path, problem.span and problem.span[:2]) for problem in problems(source, repository(files))]
    assert sorted(found, key=str) == [
        ("NSP304", "deeper.py", (2, 24)),
        ("NSP304", "helper.py", (4, 28)),
        ("NSP305", "deeper.py", (2, 42)),
    ]
    assert codes(source) == []


def test_a_method_may_be_a_handler() -> None:
    source = """
from nsplugin import Job, define_plugin
class Service:
    async def run(self, payload, ctx):
        await ctx.jobs.enqueue("typo")
service = Service()
plugin = define_plugin(jobs={"a": Job(service.run)})
"""
    assert codes(source) == ["NSP304"]


def test_handlers_of_other_modules_are_followed() -> None:
    files = {"handlers.py": "async def run(ctx):\n    await ctx.jobs.enqueue('typo')\n"}
    source = "from nsplugin import *\nfrom handlers import run\nplugin = define_plugin(jobs={'a': Job(run)})\n"
    (problem,) = problems(source, repository(files))
    assert (problem.code, problem.path) == ("NSP304", "handlers.py")


@pytest.mark.parametrize("parameters", ["jobs", "payload, jobs, log", "*, jobs", "context", "job, jobs=None"])
def test_cogovers_handlers_take_what_they_name_or_the_whole_context(parameters: str) -> None:
    """spec/cogover.md H1, spec/sdk.md Cogover."""
    body = ("context." if parameters == "context" else "") + "jobs.enqueue('typo')"
    assert codes(cogover(body, parameters)) == ["NSP304"]


def test_a_project_that_lists_jobs_of_several_modules_knows_them_all() -> None:
    files = {
        "orders.py": (
            "from nsplugin.cogover import define_job\n@define_job(key='sync')\ndef sync(jobs): jobs.enqueue('clean')\n"
        ),
        "cleaning.py": (
            "from nsplugin.cogover import define_job\n@define_job(key='clean')\ndef clean(jobs): jobs.enqueue('typo')\n"
        ),
    }
    (problem,) = problems("from orders import sync\nfrom cleaning import clean\njobs = [sync, clean]\n", repository(files))
    assert (problem.code, problem.path) == ("NSP304", "cleaning.py")
    assert codes(files["orders.py"]) == []


@pytest.mark.parametrize(
    ("delay", "good"),
    [
        ("0", True),
        ("2_592_000", True),
        ("2_592_001", False),
        ("-1", False),
        ("60 * 60 * 24 * 31", False),
        ("1.0", False),
        ("True", False),
        ("'60'", False),
        ("None", True),
        ("attempt", True),
        ("2**attempt", True),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        "ctx.jobs.enqueue('expire', {}, delay_sec=DELAY)",
        "ctx.jobs.enqueue('expire', {}, {'delaySec': DELAY})",
        "ctx.jobs.enqueue('expire', {}, options={'delaySec': DELAY})",
        "ctx.jobs.enqueue('expire', **{'delay_sec': DELAY})",
        "ctx.jobs.enqueue(*('expire', {}), delay_sec=DELAY)",
    ],
)
def test_delays_are_whole_seconds_up_to_thirty_days(delay: str, good: bool, call: str) -> None:
    """spec/nextskin.md E3."""
    assert codes(nextskin(call.replace("DELAY", delay))) == ([] if good else ["NSP305"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("delay_ms=2_592_000_000", []),
        ("delay_ms=2_592_000_001", ["NSP305"]),
        ("delay_ms=0.5", ["NSP305"]),
        ("run_at=1_900_000_000_000", []),
        ("run_at='2030-01-01'", ["NSP305"]),
        ("run_at=-1", ["NSP305"]),
        ("run_at=time.time()", []),
        ("delay_ms=5, run_at=1_900_000_000_000", ["NSP307"]),
        ("delay_ms=5, run_at=None", []),
        ("delay_ms=None, run_at=5", []),
        ("delay_ms=5, run_at=when()", []),
        ("options={'delayMs': 5, 'runAt': 6}", ["NSP307"]),
        ("**{'delay_ms': 5, 'run_at': 6}", ["NSP307"]),
        ("delay_ms=5, **more()", []),
    ],
)
def test_cogovers_delay_or_point_in_time(options: str, expected: list[str]) -> None:
    """spec/cogover.md E4."""
    assert codes("import time\n" + cogover(f"jobs.enqueue('sync', None, {options})")) == expected


@pytest.mark.parametrize(
    ("key", "good"),
    [
        ("'a'", True),
        ("'a' * 255", True),
        ("'a' * 256", False),
        ("'😀' * 255", True),
        ("''", False),
        ("' a'", False),
        ("'a\\u00a0'", False),
        ("'a\\ufeff'", False),
        ("'a b'", True),
        ("'a\\0'", False),
        ("'\\ud800'", False),
        ("5", False),
        ("None", True),
        ("f'sync:{attempt}'", True),
    ],
)
def test_nextskins_dedupe_keys(key: str, good: bool) -> None:
    """spec/nextskin.md E4."""
    assert codes(nextskin(f"ctx.jobs.enqueue('expire', dedupe_key={key})")) == ([] if good else ["NSP306"])


@pytest.mark.parametrize(
    ("key", "good"),
    [
        ("'a'", True),
        ("'a' * 128", True),
        ("'a' * 129", False),
        ("'-a'", False),
        ("'a:b.c_d-e'", True),
        ("'a\\n'", False),
        ("'é'", False),
    ],
)
def test_cogovers_idempotency_keys(key: str, good: bool) -> None:
    """spec/cogover.md E5."""
    assert codes(cogover(f"jobs.enqueue('sync', idempotency_key={key})")) == ([] if good else ["NSP306"])


def test_each_argument_is_underlined_at_its_own_place() -> None:
    source = nextskin("ctx.jobs.enqueue('typo', {}, delay_sec=-5, dedupe_key=' x')")
    found = [(problem.code, text_at(source, problem.span)) for problem in problems(source)]
    assert found == [("NSP304", "'typo'"), ("NSP305", "-5"), ("NSP306", "' x'")]
    assert [problem.message for problem in problems(source)] == [
        'ctx.jobs.enqueue starts "typo", which is not declared',
        "delay_sec is -5, and must be a whole number from 0 to 2592000",
        'dedupe_key " x" begins or ends with white space',
    ]


def test_a_call_that_several_handlers_lead_to_is_one_finding() -> None:
    source = (
        "from nsplugin import *\ndef later(ctx): ctx.jobs.enqueue('typo')\ndef a(ctx): later(ctx)\ndef b(ctx): later(ctx)\n"
        "plugin = define_plugin(jobs={'a': Job(a), 'b': Job(b)})\n"
    )
    assert codes(source) == ["NSP304"]
