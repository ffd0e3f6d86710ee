"""Types, unknown keys, missing keys: what the walk over the published schemas says, and that the models say the same."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from manifest_samples import COGOVER, NEXTSKIN, cogover, entry, found, nextskin, only, problems, timed
from nsplugin.json_schemas import MODELS
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN
from nsplugin.rules import judge
from nsplugin.structure import faults, mismatches
from nsplugin.wording import Origin


def job(**options: Any) -> dict[str, Any]:
    return nextskin(jobs={"expire": options})


WRONG_INTEGERS = [
    ("5", 'the string "5"', "write 5"),
    ("five", 'the string "five"', None),
    (True, "the value true", None),
    (None, "null", "leave it out for the default, 5"),
    (5.5, "the number 5.5", None),
    ([5], "an array", None),
    ({}, "an object", None),
]


@pytest.mark.parametrize(("value", "words", "hint"), WRONG_INTEGERS)
def test_a_wrong_type_says_what_was_found_and_what_is_wanted(value: Any, words: str, hint: str | None) -> None:
    """spec/nextskin.md D8: nothing is coerced."""
    problem = only(job(maxAttempts=value))
    assert (problem.code, problem.pointer) == ("NSP007", "/jobs/expire/maxAttempts")
    assert problem.message == f"maxAttempts must be an integer, not {words}"
    assert problem.hint == hint


@pytest.mark.parametrize("value", [True, False, 5.0, "5", None, math.nan, math.inf, b"5", object(), 5j])
def test_in_python_only_an_integer_is_one(value: Any) -> None:
    """spec/nextskin.md D8: True, 5.0, "5", None, NaN are no integers in Python."""
    assert found(job(maxAttempts=value, timeoutMs=value), origin="python") == [
        ("NSP007", "/jobs/expire/maxAttempts"),
        ("NSP007", "/jobs/expire/timeoutMs"),
    ]


def test_an_integral_float_is_an_integer_in_json() -> None:
    """spec/nextskin.md D8; spec/cogover.md D5."""
    assert found(job(maxAttempts=5.0, timeoutMs=5.0)) == []
    assert found(cogover({"key": "sync", "maxAttempts": 5.0})) == []
    assert only(job(maxAttempts=5.0), origin="python").hint == "write 5"


def test_values_are_named_in_the_words_of_their_language() -> None:
    assert only(nextskin(cron={}), origin="json").message == "cron must be an array, not an object"
    assert only(nextskin(cron={}), origin="python").message == "cron must be a list, not a mapping"
    assert only(job(maxAttempts=None), origin="python").message == "maxAttempts must be an integer, not None"
    assert only(nextskin(version=print), origin="python").message.startswith(
        "version must be a string, not an instance of builtin"
    )


UNKNOWN_KEYS = [
    (job(maxAttempt=5), "/jobs/expire/maxAttempt", 'did you mean "maxAttempts"?'),
    (job(max_attempts=5), "/jobs/expire/max_attempts", 'did you mean "maxAttempts"?'),
    (job(MAXATTEMPTS=5), "/jobs/expire/MAXATTEMPTS", 'did you mean "maxAttempts"?'),
    (job(retries=5), "/jobs/expire/retries", 'did you mean "maxAttempts"?'),
    (job(timeout=5), "/jobs/expire/timeout", 'did you mean "timeoutMs"?'),
    (job(colour=5), "/jobs/expire/colour", "keys of a job: maxAttempts, timeoutMs, payloadSchema"),
    (job(handler="x"), "/jobs/expire/handler", "a manifest holds no code: the handler stays in the plugin"),
    (nextskin(timezone="UTC"), "/timezone", "times are in the site's time zone (a plugin has none of its own): leave it out"),
    (nextskin(capabilites=[]), "/capabilites", 'did you mean "capabilities"?'),
    (
        nextskin(cron=[entry(timezone="UTC")]),
        "/cron/0/timezone",
        "times are in the site's time zone (a plugin has none of its own): leave it out",
    ),
    (
        nextskin(cron=[entry(time_zone="UTC")]),
        "/cron/0/time_zone",
        "times are in the site's time zone (a plugin has none of its own): leave it out",
    ),
    (cogover(routes={}), "/routes", "the project's HTTP handler serves requests; a manifest lists no routes"),
    (cogover(cron=[]), "/cron", 'a schedule is part of its job: "schedule": {"cron": "0 2 * * *"}'),
    (
        cogover({"key": "sync", "payloadSchema": {}}),
        "/jobs/0/payloadSchema",
        "Cogover checks no payloads: check them in the handler",
    ),
    (cogover(timed(payload={})), "/jobs/0/schedule/payload", "a scheduled run has no payload"),
    (cogover(timed(timeZone="UTC")), "/jobs/0/schedule/timeZone", 'did you mean "timezone"?'),
]


@pytest.mark.parametrize(("raw", "pointer", "hint"), UNKNOWN_KEYS)
def test_an_unknown_key_gets_the_key_that_was_meant_or_what_to_do(raw: dict[str, Any], pointer: str, hint: str) -> None:
    """spec/nextskin.md D8 C4; spec/cogover.md D2; spec/sdk.md."""
    problem = only(raw)
    assert (problem.code, problem.pointer, problem.target) == ("NSP006", pointer, "key")
    assert problem.hint == hint


def test_a_fix_is_offered_where_one_key_was_meant() -> None:
    assert only(job(max_attempts=5)).fix == "maxAttempts"
    assert only(job(colour=5)).fix is None


MISSING = [
    (nextskin(cron=[{"schedule": "0 3 * * *"}]), "/cron/0", 'a schedule has no "job"', 'add "job", for example "expire"'),
    (nextskin(cron=[{"job": "expire"}]), "/cron/0", 'a schedule has no "schedule"', 'add "schedule", for example "0 3 * * *"'),
    (nextskin(routes={"GET /": {}}), "/routes/GET ~1", 'a route has no "auth"', 'add "auth", for example "user"'),
    (cogover({}), "/jobs/0", 'a job has no "key"', 'add "key", for example "recalc_totals"'),
    (
        cogover({"key": "a", "schedule": {}}),
        "/jobs/0/schedule",
        'a schedule has no "cron"',
        'add "cron", for example "0 2 * * *"',
    ),
]


@pytest.mark.parametrize(("raw", "pointer", "message", "hint"), MISSING)
def test_a_missing_key_is_said_where_it_is_missing(raw: dict[str, Any], pointer: str, message: str, hint: str) -> None:
    problem = only(raw)
    assert (problem.code, problem.pointer, problem.message, problem.hint) == ("NSP008", pointer, message, hint)


@pytest.mark.parametrize("key", ["manifestVersion", "id", "entry"])
@pytest.mark.parametrize("raw", [nextskin(), cogover()])
def test_what_every_manifest_must_have(raw: dict[str, Any], key: str) -> None:
    problem = only({name: value for name, value in raw.items() if name != key})
    assert (problem.code, problem.pointer, problem.message) == ("NSP008", "", f'the manifest has no "{key}"')


@pytest.mark.parametrize(
    "raw", [nextskin(cron=[{"schedul": "0 3 * * *", "job": "expire"}]), nextskin(cron=[{"cron": "0 3 * * *", "job": "expire"}])]
)
def test_a_misspelt_key_is_not_missing_as_well(raw: dict[str, Any]) -> None:
    """One fault gives one finding (spec/cli.md)."""
    problem = only(raw)
    assert (problem.code, problem.hint) == ("NSP006", 'did you mean "schedule"?')


NESTED = [
    (nextskin(capabilities="storage.kv"), 'write ["storage.kv"]'),
    (nextskin(routes={"POST /x": "user"}), 'write {"auth": "user"}'),
    (nextskin(jobs={"expire": None}), "write {} for the defaults"),
    (nextskin(jobs=["expire"]), 'for example {"expire": {"timeoutMs": 60000}}'),
    (cogover({"key": "sync", "schedule": "0 2 * * *"}), 'write {"cron": "0 2 * * *"}'),
]


@pytest.mark.parametrize(("raw", "hint"), NESTED)
def test_a_shorthand_gets_the_long_form(raw: dict[str, Any], hint: str) -> None:
    assert (only(raw).code, only(raw).hint) == ("NSP007", hint)


VERSIONS = [
    (2, "upgrade nsplugin"),
    (2.0, "upgrade nsplugin"),
    (10**400, "upgrade nsplugin"),
    (0, 'write "manifestVersion": 1'),
]


@pytest.mark.parametrize(("version", "hint"), VERSIONS)
@pytest.mark.parametrize("rest", [{}, {"platform": "moon"}, {"jobs": 3, "x": 1}])
def test_another_version_is_said_alone_with_the_versions_read(version: Any, hint: str, rest: dict[str, Any]) -> None:
    """spec/manifest.md M7."""
    platform, [problem] = judge({"manifestVersion": version, **rest})
    assert platform is None
    assert (problem.code, problem.pointer) == ("NSP602", "/manifestVersion")
    assert "this nsplugin reads version 1" in problem.message
    assert problem.hint is not None and hint in problem.hint
    assert faults({"manifestVersion": version, **rest}, NEXTSKIN) == [problem]


PLATFORMS = [
    ({}, "NSP008", "", 'the manifest has no "platform"', 'add "platform": "nextskin" or "cogover"'),
    ({"platform": "moon"}, "NSP007", "/platform", 'platform must be "nextskin" or "cogover", not the string "moon"', None),
    (
        {"platform": "NextSkin"},
        "NSP007",
        "/platform",
        'platform must be "nextskin" or "cogover", not the string "NextSkin"',
        'did you mean "nextskin"?',
    ),
    ({"platform": 3}, "NSP007", "/platform", 'platform must be "nextskin" or "cogover", not the integer 3', None),
    ({"platfrom": "nextskin"}, "NSP006", "/platfrom", '"platfrom" is not a key of the manifest', 'did you mean "platform"?'),
]


@pytest.mark.parametrize(("raw", "code", "pointer", "message", "hint"), PLATFORMS)
def test_a_missing_or_unknown_platform_is_said_once(raw: Any, code: str, pointer: str, message: str, hint: str | None) -> None:
    platform, [problem] = judge({"manifestVersion": 1, "colour": "red", "jobs": 3, **raw})
    assert platform is None
    assert (problem.code, problem.pointer, problem.message, problem.hint) == (code, pointer, message, hint)


@pytest.mark.parametrize("raw", [[], "manifest", None, 3, True])
def test_a_manifest_is_an_object(raw: Any) -> None:
    platform, [problem] = judge(raw)
    assert (platform, problem.code, problem.pointer) == (None, "NSP007", "")
    assert [problem.code for problem in faults(raw, COGOVER)] == ["NSP007"]


def test_another_platform_than_the_one_judged_for_is_said() -> None:
    [problem] = faults(nextskin(platform="cogover"), NEXTSKIN)
    assert problem.message == 'platform must be "nextskin", not the string "cogover"'


SILENT = [
    nextskin(jobs=UNKNOWN),
    nextskin(jobs={"expire": UNKNOWN}),
    nextskin(jobs={UNKNOWN: UNKNOWN}),
    nextskin(jobs={"expire": {"maxAttempts": UNKNOWN, UNKNOWN: UNKNOWN}}),
    nextskin(cron=[UNKNOWN, entry(UNKNOWN, UNKNOWN, payload=UNKNOWN)]),
    nextskin(cron=[{UNKNOWN: UNKNOWN}]),
    nextskin(routes={UNKNOWN: UNKNOWN, "POST /x": {UNKNOWN: UNKNOWN}}),
    nextskin(id=UNKNOWN, entry=UNKNOWN, version=UNKNOWN, capabilities=[UNKNOWN]),
    {"manifestVersion": 1, "platform": "nextskin", UNKNOWN: UNKNOWN},
    cogover(UNKNOWN),
    cogover({"key": UNKNOWN, "schedule": UNKNOWN}),
    cogover({UNKNOWN: UNKNOWN}),
    cogover({"key": "sync", "schedule": {UNKNOWN: UNKNOWN}}),
]


@pytest.mark.parametrize("raw", SILENT)
@pytest.mark.parametrize("origin", ["python", "json"])
def test_what_is_unknown_is_never_reported(raw: dict[str, Any], origin: Origin) -> None:
    assert problems(raw, origin, timezone="America/New_York") == []


def test_known_faults_beside_unknown_parts_are_reported() -> None:
    raw = nextskin(jobs={UNKNOWN: UNKNOWN, "expire": {UNKNOWN: UNKNOWN, "maxAttempts": "5"}}, cron=[UNKNOWN, {"job": 5}])
    assert found(raw) == [("NSP008", "/cron/1"), ("NSP007", "/cron/1/job"), ("NSP007", "/jobs/expire/maxAttempts")]


@pytest.mark.parametrize("key", [1, None, 1.5, True, ("a",), b"a"])
def test_a_key_that_is_no_string_is_a_wrong_type(key: Any) -> None:
    problem = only(nextskin(jobs={key: {}, "expire": {}}), origin="python")
    assert (problem.code, problem.target) == ("NSP007", "key")
    assert problem.message.startswith("a key of jobs must be a string, not ")


def test_half_a_character_is_said_where_it_stands() -> None:
    """No UTF-8 file can hold it, so the manifest could not be written."""
    problem = only(nextskin(version="1.0\ud800"), origin="python")
    assert (problem.code, problem.pointer, problem.start, problem.end) == ("NSP007", "/version", 3, 4)
    assert found(nextskin(id="a\udfff"), origin="python") == [("NSP007", "/id")]


def test_long_and_hostile_values_are_shortened_and_escaped() -> None:
    problem = only(nextskin(jobs={"expire": {"a\x1b[31m\n\u202e" + "x" * 10_000: 1}}))
    assert problem.message.isprintable() and len(problem.message) < 150
    assert only(job(maxAttempts=10**6000)).message.startswith("maxAttempts of about 60")
    assert only(nextskin(jobs={"expire": {"maxAttempts": "9" * 6000}})).message.isprintable()


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 70_000)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["0 3 * * *", "user"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
KEYS = ["manifestVersion", "platform", "id", "version", "entry", "capabilities", "jobs", "cron", "routes", "key", "name", "job"]
KEYS += ["maxAttempts", "timeoutMs", "payloadSchema", "schedule", "payload", "timezone", "auth", "Schedule", "x"]


def mostly(right: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The right kind of value most of the time, else anything."""
    return st.one_of(right, right, right, json_values)


def objects(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Any]:
    """An object with those members; now and then one is missing or a stranger stands beside them."""
    whole = st.fixed_dictionaries(required, optional=optional)
    partly = st.fixed_dictionaries({}, optional={**required, **optional})
    strangers = st.dictionaries(st.sampled_from(KEYS), json_values, max_size=1)
    return st.one_of(whole, whole, partly, st.builds(lambda left, right: {**left, **right}, whole, strangers))


texts = mostly(st.text(max_size=6))
numbers = mostly(st.integers(-5, 10**20))
jobs = mostly(objects({}, {"maxAttempts": numbers, "timeoutMs": numbers, "payloadSchema": mostly(st.just({"type": "object"}))}))
entries = mostly(objects({"schedule": texts, "job": texts}, {"payload": json_values}))
routes = mostly(objects({"auth": texts}, {}))
head = {"manifestVersion": mostly(st.just(1)), "id": texts, "entry": texts}
nextskin_manifests = objects(
    {**head, "platform": mostly(st.just("nextskin"))},
    {
        "version": texts,
        "capabilities": mostly(st.lists(texts, max_size=2)),
        "jobs": mostly(st.dictionaries(st.text(max_size=3), jobs, max_size=2)),
        "cron": mostly(st.lists(entries, max_size=2)),
        "routes": mostly(st.dictionaries(st.text(max_size=3), routes, max_size=2)),
    },
)
schedules = mostly(objects({"cron": texts}, {"timezone": texts}))
listed_jobs = objects({"key": texts}, {"name": texts, "timeoutMs": numbers, "maxAttempts": numbers, "schedule": schedules})
cogover_manifests = objects(
    {**head, "platform": mostly(st.just("cogover")), "jobs": mostly(st.lists(mostly(listed_jobs), max_size=2))},
    {"version": texts},
)


def accepted_by_model(name: str, value: Any) -> bool:
    try:
        MODELS[name].model_validate(value)
    except (ValidationError, UnicodeEncodeError):
        return False
    return True


def agree(platform: Platform, value: Any) -> None:
    name = f"{platform.name}-manifest"
    assert (mismatches(name, value, "python") == []) == accepted_by_model(name, value)


@settings(max_examples=400, deadline=None)
@given(nextskin_manifests)
def test_model_and_walk_agree_on_nextskin_manifests(value: Any) -> None:
    """Decision 0002: the models are the source, the walk over their schema is what runs."""
    agree(NEXTSKIN, value)


@settings(max_examples=400, deadline=None)
@given(cogover_manifests)
def test_model_and_walk_agree_on_cogover_manifests(value: Any) -> None:
    agree(COGOVER, value)


@settings(max_examples=200, deadline=None)
@given(nextskin_manifests, cogover_manifests)
def test_json_is_judged_as_python_is_save_for_integral_floats(nextskin_value: Any, cogover_value: Any) -> None:
    for platform, value in ((NEXTSKIN, nextskin_value), (COGOVER, cogover_value)):
        name = f"{platform.name}-manifest"
        whole = mismatches(name, _whole(value), "python")
        assert [code for code, _ in mismatches(name, value, "json")] == [code for code, _ in whole]


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {key: _whole(item) for key, item in value.items()} if isinstance(value, dict) else value


@settings(max_examples=200, deadline=None)
@given(json_values)
def test_no_value_makes_the_judgement_raise(value: Any) -> None:
    judge(value)
    for raw in (
        nextskin(jobs=value, cron=value, routes=value, capabilities=value),
        cogover(value),
        cogover(schedule=value, jobs=value),
    ):
        problems(raw)
        problems(raw, origin="python")


def test_ten_faults_are_ten_findings() -> None:
    """Ten faults in a file are ten findings in one run, each at its place (spec/cli.md)."""
    raw = nextskin(
        id="a b",
        version=3,
        colour="red",
        capabilities=["storage.kv", 5],
        jobs={"1st": {}, "expire": {"maxAttempts": 21, "timeoutMs": "60"}},
        cron=[entry("0 24 * * *"), entry(job="expir"), {"schedule": "0 3 * * *"}],
    )
    assert sorted(found(raw)) == [
        ("NSP006", "/colour"),
        ("NSP007", "/capabilities/1"),
        ("NSP007", "/jobs/expire/timeoutMs"),
        ("NSP007", "/version"),
        ("NSP008", "/cron/2"),
        ("NSP101", "/jobs/1st"),
        ("NSP104", "/jobs/expire/maxAttempts"),
        ("NSP110", "/id"),
        ("NSP203", "/cron/0/schedule"),
        ("NSP204", "/cron/1/job"),
    ]
