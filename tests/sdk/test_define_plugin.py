"""``define_plugin`` in all its forms, and what it returns (spec/sdk.md NextSkin, spec/manifest.md M1, M2)."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from nsplugin import Cron, DefinitionError, Job, Plugin, Route, define_plugin
from nsplugin.definition.assembly import assemble
from nsplugin.platforms import load

PLATFORM = load("nextskin")


async def expire(payload: Any, attempt: int, ctx: Any) -> None: ...


async def post_expire(request: Any, ctx: Any) -> None: ...


SOURCE = {
    "id": "cache-expiry",
    "version": "1.0.0",
    "capabilities": ["storage.kv"],
    "jobs": {"expire": {"maxAttempts": 5, "timeoutMs": 60_000}},
    "cron": [{"schedule": "0 3 * * *", "job": "expire", "payload": {"key": "daily-cache"}}],
    "routes": {"POST /expire": {"auth": "user"}},
}


def by_objects() -> Plugin:
    return define_plugin(
        id="cache-expiry",
        version="1.0.0",
        capabilities=("storage.kv",),
        jobs={"expire": Job(expire, max_attempts=5, timeout_ms=60_000)},
        cron=[Cron("0 3 * * *", job="expire", payload={"key": "daily-cache"})],
        routes={"POST /expire": Route(post_expire, auth="user")},
    )


def by_one_mapping() -> Plugin:
    return define_plugin(
        {
            "id": "cache-expiry",
            "version": "1.0.0",
            "capabilities": ["storage.kv"],
            "jobs": {"expire": {"maxAttempts": 5, "timeoutMs": 60_000, "handler": expire}},
            "cron": [{"schedule": "0 3 * * *", "job": "expire", "payload": {"key": "daily-cache"}}],
            "routes": {"POST /expire": {"auth": "user", "handler": post_expire}},
        }
    )


def by_mappings_and_keywords() -> Plugin:
    define: Callable[..., Plugin] = define_plugin
    return define(
        MappingProxyType({"id": "cache-expiry", "version": "1.0.0", "capabilities": ["storage.kv"]}),
        jobs={"expire": MappingProxyType({"maxAttempts": 5, "timeoutMs": 60_000, "handler": expire})},
        cron=({"schedule": "0 3 * * *", "job": "expire", "payload": {"key": "daily-cache"}},),
        routes={"POST /expire": Route(handler=post_expire, auth="user")},
    )


FORMS = [by_objects, by_one_mapping, by_mappings_and_keywords]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_plugin(form: Callable[[], Plugin]) -> None:
    plugin = form()
    assert plugin.manifest_source == SOURCE
    assert (plugin.handler("expire"), plugin.route("POST /expire")) == (expire, post_expire)
    assert plugin == by_objects()
    assert hash(plugin) == hash(by_objects())


@pytest.mark.parametrize("form", FORMS)
def test_every_form_assembles_to_the_same_manifest(form: Callable[[], Plugin]) -> None:
    assembled = assemble(form(), PLATFORM, {"entry": "plugin:plugin"})
    assert assembled.raw == {"manifestVersion": 1, "platform": "nextskin", "entry": "plugin:plugin", **SOURCE}
    assert list(assembled.raw) == [
        "manifestVersion",
        "platform",
        "id",
        "version",
        "entry",
        "capabilities",
        "jobs",
        "cron",
        "routes",
    ]
    assert (assembled.call, assembled.routes, assembled.problems) == ({"expire": expire}, {"POST /expire": post_expire}, ())


def test_unknown_names_are_key_errors() -> None:
    with pytest.raises(KeyError, match="the plugin has no job 'nope'"):
        by_objects().handler("nope")
    with pytest.raises(KeyError, match="the plugin has no route 'GET /nope'"):
        by_objects().route("GET /nope")


def test_plugins_that_differ_are_unequal() -> None:
    other = define_plugin(id="other")
    assert other != by_objects()
    assert other != "other"
    assert len({other, by_objects(), by_one_mapping()}) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda plugin: setattr(plugin, "problems", ()),
        lambda plugin: plugin.manifest_source.update(id="x"),
        lambda plugin: plugin.manifest_source["jobs"]["expire"].update(maxAttempts=1),
        lambda plugin: plugin.manifest_source["cron"].append({}),
        lambda plugin: plugin.manifest_source["cron"][0]["payload"].clear(),
        lambda plugin: plugin.handlers.update({"/jobs/expire": print}),
        lambda plugin: plugin.sites.clear(),
    ],
)
def test_m2_nothing_of_a_plugin_can_change(change: Callable[[Plugin], None]) -> None:
    plugin = by_objects()
    with pytest.raises((TypeError, AttributeError)):
        change(plugin)
    assert plugin == by_objects()


def test_m2_a_plugin_is_detached_from_what_was_passed_in() -> None:
    payload: dict[str, Any] = {"keys": ["a"]}
    job: dict[str, Any] = {"handler": expire}
    jobs: dict[str, Any] = {"expire": job}
    cron: list[Any] = [{"schedule": "0 3 * * *", "job": "expire", "payload": payload}]
    plugin = define_plugin(jobs=jobs, cron=cron)
    before = json.dumps(plugin.manifest_source)
    payload["keys"].append("b")
    job["maxAttempts"] = 99
    jobs.clear()
    cron.append(5)
    assert json.dumps(plugin.manifest_source) == before
    assert plugin.handler("expire") is expire


def test_m2_a_plugin_survives_pickle_and_copy() -> None:
    plugin = by_objects()
    again = pickle.loads(pickle.dumps(plugin))
    assert again == plugin
    assert again.handler("expire") is expire
    assert hash(again) == hash(plugin)
    assert copy.deepcopy(plugin) is plugin
    assert copy.copy(plugin) is plugin


def test_a_lambda_cannot_be_pickled_and_the_error_says_what_to_do() -> None:
    plugin = define_plugin(jobs={"expire": Job(lambda payload: None)})
    with pytest.raises(pickle.PicklingError, match=r"handler at /jobs/expire.*lambda.*top level of a module"):
        pickle.dumps(plugin)


def test_the_shortest_plugin() -> None:
    assert define_plugin().manifest_source == {}


def test_parts_can_be_shared_and_cannot_change() -> None:
    job = Job(expire)
    plugin = define_plugin(jobs={"a": job, "b": job})
    assert list(plugin.manifest_source["jobs"]) == ["a", "b"]
    with pytest.raises(AttributeError, match="cannot be changed"):
        job.bound = None
    assert repr(job) == "Job(handler)"
    assert pickle.loads(pickle.dumps(job)).bound == job.bound
    assert copy.deepcopy(job).bound == job.bound


def listed(call: Callable[[], Any]) -> list[str]:
    """The problems of a call, one line each."""
    with pytest.raises(DefinitionError) as caught:
        call()
    return [f"{item.code} {item.pointer}: {item.message} ({item.hint})" for item in caught.value.problems]


define: Callable[..., Plugin] = define_plugin
any_job: Callable[..., Job] = Job
any_cron: Callable[..., Cron] = Cron


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: define(job={"a": Job(expire)}),
            "NSP006 /job: define_plugin has no parameter `job` (did you mean `jobs`?)",
        ),
        (
            lambda: define(name="cache"),
            "NSP006 /name: define_plugin has no parameter `name` (did you mean `id`?)",
        ),
        (
            lambda: define({"id": "cache", "entry": "plugin:plugin"}),
            "NSP006 /entry: define_plugin takes no `entry`: the build writes it (leave it out)",
        ),
        (
            lambda: define({"id": "cache"}, id="cache"),
            "NSP006 /id: `id` is given in the mapping and by name (give it once)",
        ),
        (
            lambda: define("cache"),
            'NSP007 : define_plugin takes a mapping or keyword arguments, not the string "cache"'
            ' (write define_plugin(id="…", jobs={…}) or define_plugin({"id": "…", "jobs": {…}}))',
        ),
        (
            lambda: define({}, {}),
            "NSP006 : define_plugin takes only `config` by position, and got 2 arguments"
            " (give the others by name: id=…, version=…, capabilities=…, jobs=…, cron=…, routes=…)",
        ),
        (
            lambda: define(jobs={"a": any_job(expire, max_atempts=3)}),
            "NSP006 /jobs/a/max_atempts: Job has no parameter `max_atempts` (did you mean `max_attempts`?)",
        ),
        (
            lambda: define(jobs={"a": any_job(expire, maxAttempts=3)}),
            "NSP006 /jobs/a/maxAttempts: Job has no parameter `maxAttempts` (did you mean `max_attempts`?)",
        ),
        (
            lambda: define(jobs={"a": any_job(expire, timeout=3)}),
            "NSP006 /jobs/a/timeout: Job has no parameter `timeout` (did you mean `timeout_ms`?)",
        ),
        (
            lambda: define(jobs={"a": any_job(expire, 3)}),
            "NSP006 /jobs/a: Job takes only `handler` by position, and got 2 arguments"
            " (give the others by name: max_attempts=…, timeout_ms=…, payload=…)",
        ),
        (
            lambda: define(jobs={"a": any_job(expire, handler=expire)}),
            "NSP006 /jobs/a/handler: Job was given `handler` twice (give it once)",
        ),
        (
            lambda: define(jobs={"a": {"handler": expire, "max_attempts": 3}}),
            'NSP006 /jobs/a/max_attempts: "max_attempts" is not a key of a job (did you mean "maxAttempts"?)',
        ),
        (
            lambda: define(jobs={"a": any_job()}),
            'NSP106 /jobs/a/handler: the handler of job "a" is missing'
            " (give a function; it is called with those of payload, attempt, ctx that it names)",
        ),
        (lambda: define(jobs={"a": expire}), "NSP007 /jobs/a: async function expire cannot stand here (write Job(…))"),
        (lambda: define(jobs={"a": Cron("0 3 * * *", job="a")}), "NSP007 /jobs/a: a Cron cannot stand here (write Job(…))"),
        (
            lambda: define(jobs={"a": Job(expire)}, cron=[any_cron("0 3 * * *", jbo="a")]),
            "NSP006 /cron/0/jbo: Cron has no parameter `jbo` (did you mean `job`?)",
        ),
        (
            lambda: define(jobs={"a": Job(expire)}, cron=[any_cron("0 3 * * *", "a")]),
            "NSP006 /cron/0: Cron takes only `schedule` by position, and got 2 arguments"
            " (give the others by name: job=…, payload=…)",
        ),
        (
            lambda: define(jobs={"a": Job(expire)}, cron=[any_cron("0 3 * * *", job="a", timezone="UTC")]),
            'NSP006 /cron/0/timezone: "timezone" is not a key of a schedule'
            " (times are in the site's time zone (a plugin has none of its own): leave it out)",
        ),
    ],
)
def test_a_wrong_call_is_one_problem_that_says_what_to_write(call: Callable[[], Any], expected: str) -> None:
    assert listed(call) == [expected]


def test_every_problem_is_in_the_one_error() -> None:
    with pytest.raises(DefinitionError) as caught:
        define(
            id="a b",
            jobs={"1bad": Job(expire, max_attempts=0), "g": any_job(lambda event: None, timeoutMs=0)},
            cron=[Cron("61 3 * * *", job="nope")],
            routes={"POST expire": Route(post_expire, auth="user")},
        )
    assert [(problem.code, problem.name, problem.pointer) for problem in caught.value.problems] == [
        ("NSP204", "cron-unknown-job", "/cron/0/job"),
        ("NSP203", "cron-value-out-of-range", "/cron/0/schedule"),
        ("NSP110", "plugin-id-invalid", "/id"),
        ("NSP101", "job-name-invalid", "/jobs/1bad"),
        ("NSP104", "max-attempts-out-of-range", "/jobs/1bad/maxAttempts"),
        ("NSP106", "handler-invalid", "/jobs/g/handler"),
        ("NSP006", "unknown-key", "/jobs/g/timeoutMs"),
        ("NSP105", "timeout-out-of-range", "/jobs/g/timeoutMs"),
        ("NSP503", "route-invalid", "/routes/POST expire"),
    ]
