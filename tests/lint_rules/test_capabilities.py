"""NSP501, 502: the capabilities that a plugin declares are those that its handlers use."""

from __future__ import annotations

import pytest

from python_sources import codes, problems, repository, text_at


def plugin(body: str, capabilities: str = "[]", before: str = "", parameters: str = "ctx") -> str:
    lines = "\n".join("    " + line for line in body.split("\n"))
    return (
        f"import functools\nfrom nsplugin import Job, Route, define_plugin\n{before}\nasync def tidy({parameters}):\n{lines}\n"
        f"plugin = define_plugin(capabilities={capabilities}, jobs={{'tidy': Job(tidy)}})\n"
    )


USED = [
    "await ctx.kv.get('a')",
    "kv = ctx.kv\nawait kv.get('a')",
    "await use(ctx)",
    "await use(context=ctx)",
    "store(ctx.kv)",
    "async def inner():\n    await ctx.kv.get('a')\nawait inner()",
    "context = ctx\nawait context.kv.get('a')",
    "await asyncio.gather(ctx.kv.get('a'))",
]
HELPERS = "import asyncio\ndef use(context): return context.kv.get('a')\ndef store(kv): return kv.get('a')"


@pytest.mark.parametrize("body", USED)
def test_a_service_needs_its_capability(body: str) -> None:
    assert codes(plugin(body, before=HELPERS)) == ["NSP501"]
    assert codes(plugin(body, "['storage.kv']", HELPERS)) == []


def test_each_use_without_its_capability_is_a_finding() -> None:
    source = plugin("await ctx.kv.get('a')\nawait ctx.kv.delete('a')")
    first, second = problems(source)
    assert (first.code, first.pointer, text_at(source, first.span)) == ("NSP501", "/capabilities", "ctx.kv")
    assert sorted(problem.span.line for problem in (first, second) if problem.span is not None) == [5, 6]
    assert first.message == 'ctx.kv needs the capability "storage.kv", which the plugin does not declare'


@pytest.mark.parametrize("capabilities", ["[name]", "more()", "['a', *more()]", "['storage.kv'] + more()"])
def test_capabilities_that_are_not_all_known_are_no_reason_to_report(capabilities: str) -> None:
    assert "NSP501" not in codes(plugin("await ctx.kv.get('a')", capabilities))
    assert "NSP502" not in codes(plugin("pass", capabilities))


@pytest.mark.parametrize("written", ["storage.kvv", "Storage.KV", "storage_kv", "storagekv", "storage.kv "])
def test_a_misspelt_capability_is_one_fault(written: str) -> None:
    """It is reported where it is declared (NSP007), which is enough."""
    assert codes(plugin("await ctx.kv.get('a')", f"['{written}']")) == ["NSP007"]


def test_a_capability_of_others_is_no_misspelling() -> None:
    assert codes(plugin("await ctx.kv.get('a')", "['email.send']")) == ["NSP501"]


def test_a_plugin_that_declares_none_at_all_is_told() -> None:
    source = plugin("await ctx.kv.get('a')").replace("capabilities=[], ", "")
    assert codes(source) == ["NSP501"]


def test_uses_in_other_modules_are_followed() -> None:
    source = plugin("await helper.use(ctx)", before="import helper")
    (problem,) = problems(source, repository({"helper.py": "def use(ctx): return ctx.kv.get('a')"}))
    assert (problem.code, problem.path, problem.span) == ("NSP501", "helper.py", (1, 22, 1, 28))


def test_a_capability_that_no_handler_uses_is_found() -> None:
    source = plugin("ctx.log.info('x')\nawait ctx.jobs.enqueue('tidy')", "['storage.kv']")
    (problem,) = problems(source)
    assert (problem.code, problem.severity, text_at(source, problem.span)) == ("NSP502", "warning", "'storage.kv'")
    assert codes(plugin("pass", "['storage.kv']", parameters="")) == ["NSP502"]


@pytest.mark.parametrize(
    ("body", "before", "parameters"),
    [
        ("await unknown(ctx)", "", "ctx"),
        ("await elsewhere.use(ctx)", "import elsewhere", "ctx"),
        ("await Service(ctx).run()", "class Service:\n  def __init__(self, ctx): self.ctx = ctx", "ctx"),
        ("service.ctx = ctx", "", "ctx"),
        ("holder = {'ctx': ctx}", "", "ctx"),
        ("return ctx", "", "ctx"),
        ("getattr(ctx, 'kv').get('a')", "", "ctx"),
        ("await use(*[ctx])", HELPERS, "ctx"),
        ("send = functools.partial(unknown, ctx)", "", "ctx"),
        ("ctx = other(ctx)\nawait ctx.kv.get('a')", "", "ctx"),
        ("pass", "", "**everything"),
        ("pass", "", "*everything"),
        ("for each in (ctx,): await each.kv.get('a')", "", "ctx"),
        ("await use(ctx)", "@decorated\ndef use(ctx): ...", "ctx"),
    ],
)
def test_a_context_that_goes_where_it_is_not_followed_may_be_used_there(body: str, before: str, parameters: str) -> None:
    assert "NSP502" not in codes(plugin(body, "['storage.kv']", before, parameters))


@pytest.mark.parametrize("jobs", ["{'tidy': Job(unknown)}", "{'tidy': Job(tidy), **more()}", "{'tidy': more()}", "more()"])
def test_handlers_that_are_not_all_known_may_use_it(jobs: str) -> None:
    source = plugin("pass", "['storage.kv']").replace("{'tidy': Job(tidy)}", jobs)
    assert codes(source) == []


def test_routes_use_capabilities_too() -> None:
    source = plugin("pass", "['storage.kv']").replace(
        "jobs=", "routes={'GET /': Route(lambda ctx: ctx.kv.get('a'), auth='user')}, jobs="
    )
    assert codes(source) == []


def test_a_context_that_is_only_looked_at_goes_nowhere() -> None:
    source = plugin("if ctx is None:\n    return\nassert ctx\nprint(ctx)\nisinstance(ctx, object)", "['storage.kv']")
    assert codes(source) == ["NSP502"]
