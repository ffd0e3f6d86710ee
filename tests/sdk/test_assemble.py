"""``assemble`` and ``collecting``: from a module attribute to a whole raw manifest, all problems in one run (spec/sdk.md)."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from nsplugin import Cron, DefinitionError, Job, Plugin, Route, define_plugin
from nsplugin.cogover import JobDefinition, ValidationError, define_job
from nsplugin.definition.assembly import assemble
from nsplugin.definition.call_site import CallSite
from nsplugin.definition.collect import collecting
from nsplugin.platforms import Platform, load

NEXTSKIN, COGOVER = load("nextskin"), load("cogover")
define: Callable[..., Plugin] = define_plugin
define_one: Callable[..., Any] = define_job


async def expire(payload: Any) -> None: ...


async def cancel(data: Any) -> None: ...


def get_state(request: Any) -> None: ...


class Expire(BaseModel):
    key: str


class Strange: ...


PLUGIN = define_plugin(
    jobs={"expire": Job(expire, payload=Expire), "tidy": Job(expire)},
    cron=[Cron("0 3 * * *", job="expire", payload={"key": "a"})],
    routes={"GET /a/b~c": Route(get_state, auth="user")},
)
JOBS = [define_job({"key": "a"}, cancel), define_job({"key": "b", "schedule": {"cron": "0 2 * * *"}}, expire)]


def lines(value: Any, platform: Platform, **project: Any) -> list[str]:
    """The problems of an attribute's value, one line each."""
    problems = assemble(value, platform, {"id": "x", "entry": "plugin:plugin", **project}).problems
    return [f"{item.code} {item.pointer}: {item.message} ({item.hint})" for item in problems]


def test_a_plugin_is_taken_apart() -> None:
    assembled = assemble(PLUGIN, NEXTSKIN, {"id": "cache", "version": "1.0", "entry": "plugin:plugin"})
    assert assembled.problems == ()
    assert list(assembled.raw) == ["manifestVersion", "platform", "id", "version", "entry", "jobs", "cron", "routes"]
    assert assembled.raw["jobs"]["expire"]["payloadSchema"]["required"] == ["key"]
    assert assembled.call == {"expire": expire, "tidy": expire}
    assert assembled.routes == {"GET /a/b~c": get_state}
    assert {pointer: handler.described for pointer, handler in assembled.handlers.items()} == {
        "/jobs/expire": "async function expire",
        "/jobs/tidy": "async function expire",
        "/routes/GET ~1a~1b~0c": "function get_state",
    }
    assert list(assembled.payload_models) == ["expire"]
    assert assembled.payload_models["expire"].validated({"key": "a"}) == Expire(key="a")
    assert set(assembled.calls) == {"", "/jobs/expire", "/jobs/tidy", "/cron/0", "/routes/GET ~1a~1b~0c"}


def test_jobs_are_taken_apart() -> None:
    assembled = assemble(JOBS, COGOVER, {"id": "orders", "entry": "main:jobs"})
    assert assembled.problems == ()
    assert assembled.raw == {
        "manifestVersion": 1,
        "platform": "cogover",
        "id": "orders",
        "entry": "main:jobs",
        "jobs": [{"key": "a"}, {"key": "b", "schedule": {"cron": "0 2 * * *"}}],
    }
    assert (assembled.call, assembled.routes) == ({"a": cancel, "b": expire}, {})
    assert list(assembled.handlers) == list(assembled.calls) == ["/jobs/0", "/jobs/1"]


def test_what_is_assembled_is_the_callers_own() -> None:
    assembled = assemble(PLUGIN, NEXTSKIN, {"id": "cache", "entry": "plugin:plugin"})
    assembled.raw["jobs"]["expire"]["maxAttempts"] = 99
    assert "maxAttempts" not in PLUGIN.manifest_source["jobs"]["expire"]


def test_the_call_site_is_that_of_the_call() -> None:
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    for site, start, end in [
        (PLUGIN.sites[""], "PLUGIN = define_plugin(", ")"),
        (PLUGIN.sites["/cron/0"], '    cron=[Cron("0 3 * * *", job="expire", payload={"key": "a"})],', None),
        (JOBS[0].site, 'JOBS = [define_job({"key": "a"}, cancel), ', None),
    ]:
        assert site is not None
        assert (site.path, source[site.line - 1].startswith(start)) == (__file__, True)
        assert site.column is not None
        assert source[site.line - 1][site.column :].startswith(("define_plugin(", "Cron(", "define_job("))
        assert end is None or source[(site.end_line or 0) - 1] == end


def test_the_call_site_is_found_behind_a_function_of_the_authors() -> None:
    def made(**options: Any) -> JobDefinition:
        return define_job({"key": "a", **options}, cancel)

    site = made().site
    assert isinstance(site, CallSite)
    assert "return define_job(" in Path(__file__).read_text(encoding="utf-8").splitlines()[site.line - 1]


@pytest.mark.parametrize("key", ["id", "version"])
def test_id_and_version_come_from_the_call_or_the_project_file(key: str) -> None:
    project = {"id": "cache", "version": "1.0.0", "entry": "plugin:plugin"}
    by_call = assemble(define(**{key: project[key]}), NEXTSKIN, {name: project[name] for name in project if name != key})
    by_file = assemble(define(), NEXTSKIN, project)
    by_both = assemble(define(**{key: project[key]}), NEXTSKIN, project)
    assert by_call.raw == by_file.raw == by_both.raw
    assert (by_call.problems, by_file.problems, by_both.problems) == ((), (), ())


def test_both_and_different_is_an_error() -> None:
    assert lines(define(id="one", version="1"), NEXTSKIN, id="two", version="2") == [
        'NSP001 /id: `id` is the string "one" in the call and the string "two" in the project file (give it in one place)',
        'NSP001 /version: `version` is the string "1" in the call and the string "2" in the project file'
        " (give it in one place)",
    ]


def test_no_id_at_all_is_an_error() -> None:
    problems = assemble(define(), NEXTSKIN, {"entry": "plugin:plugin"}).problems
    assert [(problem.code, problem.pointer) for problem in problems] == [("NSP008", "")]


def test_a_qualified_name_too_long_shows_when_the_id_is_known() -> None:
    """spec/nextskin.md D4: plugin:{id}:job:{name} has at most 128 characters."""
    plugin = define_plugin(jobs={"j" * 64: Job(expire)})
    assert lines(plugin, NEXTSKIN, id="i" * 52) == []
    assert [line.partition(" ")[0] for line in lines(plugin, NEXTSKIN, id="i" * 53)] == ["NSP103"]


def test_job_keys_are_unique_without_regard_to_case() -> None:
    """spec/cogover.md D3."""
    jobs = [define_job({"key": key}, cancel) for key in ("sync", "Sync", "other")]
    assert [line.partition(":")[0] for line in lines(jobs, COGOVER)] == ["NSP107 /jobs/1/key"]


@pytest.mark.parametrize(("count", "expected"), [(50, []), (51, ["NSP108 /jobs"])])
def test_at_most_fifty_jobs(count: int, expected: list[str]) -> None:
    """spec/cogover.md D7."""
    jobs = [define_job({"key": f"job{number}"}, cancel) for number in range(count)]
    assert [line.partition(":")[0] for line in lines(jobs, COGOVER)] == expected


@pytest.mark.parametrize(
    ("value", "platform", "expected"),
    [
        (5, NEXTSKIN, "NSP004 : `plugin` holds the value 5, not what define_plugin returns (write plugin = define_plugin(…))"),
        (
            {},
            NEXTSKIN,
            "NSP004 : `plugin` holds an instance of dict, not what define_plugin returns (write plugin = define_plugin(…))",
        ),
        (
            define_plugin,
            NEXTSKIN,
            "NSP004 : `plugin` holds function define_plugin, not what define_plugin returns (write plugin = define_plugin(…))",
        ),
        (
            JOBS[0],
            NEXTSKIN,
            "NSP004 : `plugin` holds an instance of JobDefinition, not what define_plugin returns"
            ' (it comes from define_job: set platform = "cogover" in the project file)',
        ),
        (
            JOBS[0],
            COGOVER,
            "NSP004 : `jobs` holds an instance of JobDefinition, not a list of what define_job returns"
            " (write jobs = [define_job(…)])",
        ),
        (
            PLUGIN,
            COGOVER,
            "NSP004 : `jobs` holds an instance of Plugin, not a list of what define_job returns"
            ' (it comes from define_plugin: set platform = "nextskin" in the project file)',
        ),
        ([cancel], COGOVER, "NSP007 /jobs/0: this is async function cancel, not a job (write define_job(…))"),
        ([{"key": "a"}], COGOVER, "NSP007 /jobs/0: this is an instance of dict, not a job (write define_job(…))"),
        (
            [define_one(key="a")],
            COGOVER,
            "NSP007 /jobs/0: this define_job(…) never got its handler (write it above the handler as @define_job(…))",
        ),
    ],
)
def test_what_is_no_definition_is_one_problem(value: Any, platform: Platform, expected: str) -> None:
    assert lines(value, platform) == [expected]


def test_a_decorator_that_got_no_handler_is_found_by_its_call() -> None:
    decorator = define_one(key="a")
    assert assemble([decorator], COGOVER, {}).calls == {"/jobs/0": decorator.site}


def test_collecting_reports_every_definition_of_a_run() -> None:
    with collecting() as collected:
        plugin = define(id="a b", jobs={"1bad": Job(expire)})
        first = define_one({"key": "1"}, cancel)
        second = define_one(key="2", max_atempts=0)(cancel)
        fine = define_one(key="fine")(cancel)
    assert [[problem.code for problem in one.problems] for one in collected] == [
        ["NSP110", "NSP101"],
        ["NSP101"],
        ["NSP101", "NSP104", "NSP006"],
        [],
    ]
    assert [one.definition for one in collected] == [plugin, first, second, fine]
    assert all(one.site is not None and one.site.path == __file__ for one in collected)


def test_collected_definitions_assemble_with_the_same_problems_in_their_places() -> None:
    with collecting():
        plugin = define(jobs={"1bad": Job(expire), "a": define, "b": Job(expire, payload=Strange)})
        jobs = [define_one({"key": "ok"}, cancel), define_one({"key": "1", "handler": cancel}), define_one(5, cancel)]
    assert [line.partition(":")[0] for line in lines(plugin, NEXTSKIN)] == [
        "NSP101 /jobs/1bad",
        "NSP007 /jobs/a",
        "NSP303 /jobs/b/payloadSchema",
    ]
    assert [line.partition(":")[0] for line in lines(jobs, COGOVER)] == [
        "NSP006 /jobs/1/handler",
        "NSP101 /jobs/1/key",
        "NSP007 /jobs/2",
    ]


def test_what_could_not_be_read_is_one_problem_after_assembling_too() -> None:
    class Raising(UserDict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise LookupError

    with collecting():
        plugin = define(jobs={"a": Raising({"handler": expire})})
        jobs = [define_one(Raising({"key": "a"}), cancel), define_one(cancel)]
    assert [line.partition(":")[0] for line in lines(plugin, NEXTSKIN)] == ["NSP007 /jobs/a"]
    assert [line.partition(":")[0] for line in lines(jobs, COGOVER)] == ["NSP007 /jobs/0", "NSP007 /jobs/1"]


def test_after_collecting_definers_raise_again() -> None:
    with pytest.raises(KeyError), collecting():
        raise KeyError
    with pytest.raises(DefinitionError):
        define(id="a b")
    with pytest.raises(ValidationError):
        define_one({"key": "1"}, cancel)
