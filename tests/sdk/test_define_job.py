"""``define_job`` as a function and as a decorator, and the frozen definition (spec/cogover.md D1–D8, spec/sdk.md Cogover)."""

from __future__ import annotations

import copy
import functools
import json
import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from nsplugin import DefinitionError
from nsplugin.cogover import CogoverApiError, JobDefinition, Schedule, ValidationError, define_job

define: Callable[..., Any] = define_job


async def cancel(data: Any) -> None: ...


@define_job(key="recalc_totals", name="Recalculate order totals", timeout_ms=60_000)
async def recalc_totals(payload: Any, data: Any, jobs: Any, log: Any) -> None: ...


class Methods:
    def cancel(self, data: Any) -> None: ...


cancel_stale_orders = define_job(
    {"key": "cancel_stale_orders", "schedule": {"cron": "0 2 * * *", "timezone": "Asia/Ho_Chi_Minh"}},
    cancel,
)
by_partial = define_job({"key": "by_partial"}, functools.partial(cancel))


def test_d8_config_is_plain_json_with_every_default_and_nothing_else() -> None:
    assert recalc_totals.key == "recalc_totals"
    assert json.loads(json.dumps(recalc_totals.config)) == {
        "key": "recalc_totals",
        "name": "Recalculate order totals",
        "timeoutMs": 60_000,
        "maxAttempts": 5,
    }
    assert list(cancel_stale_orders.config.items()) == [
        ("key", "cancel_stale_orders"),
        ("timeoutMs", 30_000),
        ("maxAttempts", 5),
        ("schedule", {"cron": "0 2 * * *", "timezone": "Asia/Ho_Chi_Minh"}),
    ]


def test_d6_schedules_are_stored_in_normal_form() -> None:
    job = define_job({"key": "a", "schedule": {"cron": "\t0  2 * *   * ", "timezone": "UTC+7"}}, cancel)
    assert job.config["schedule"] == {"cron": "0 2 * * *", "timezone": "UTC+07:00"}
    assert define_job({"key": "a", "schedule": {"cron": "0 2 * * *"}}, cancel).config["schedule"]["timezone"] == "UTC"


@pytest.mark.parametrize(
    "made",
    [
        lambda: define_job({"key": "a", "maxAttempts": 3, "schedule": {"cron": "0 2 * * *"}}, cancel),
        lambda: define_job(key="a", max_attempts=3, schedule=Schedule("0 2 * * *"))(cancel),
        lambda: define_job(key="a", max_attempts=3, schedule={"cron": "0 2 * * *", "timezone": "UTC"})(cancel),
        lambda: define(MappingProxyType({"key": "a"}), cancel, max_attempts=3, schedule=Schedule(cron="0 2 * * *")),
        lambda: define(handler=cancel, key="a", max_attempts=3, schedule=Schedule("0 2 * * *", timezone="UTC")),
        lambda: define(config={"key": "a", "maxAttempts": 3, "schedule": {"cron": "0 2 * * *"}}, handler=cancel),
    ],
)
def test_every_form_gives_the_same_definition(made: Callable[[], JobDefinition]) -> None:
    reference = define_job({"key": "a", "maxAttempts": 3, "schedule": {"cron": "0 2 * * *"}}, cancel)
    assert made() == reference
    assert hash(made()) == hash(reference)
    assert made().__cogover_job_handler__ is cancel


def test_definitions_differ_by_config_and_by_handler() -> None:
    one = define_job({"key": "a"}, cancel)
    assert one != define_job({"key": "b"}, cancel)
    assert one != define_job({"key": "a"}, lambda data: None)
    assert one != "a"


def test_a_bound_method_is_the_same_handler_each_time() -> None:
    methods = Methods()
    assert define_job({"key": "a"}, methods.cancel) == define_job({"key": "a"}, methods.cancel)


@pytest.mark.parametrize(
    "change",
    [
        lambda job: setattr(job, "config", {}),
        lambda job: setattr(job, "key", "other"),
        lambda job: setattr(job, "new", 1),
        lambda job: delattr(job, "config"),
        lambda job: job.config.update(key="other"),
        lambda job: job.config["schedule"].update(cron="* * * * *"),
        lambda job: job.config.pop("key"),
    ],
)
def test_d8_a_definition_is_frozen(change: Callable[[JobDefinition], None]) -> None:
    with pytest.raises((TypeError, AttributeError)):
        change(cancel_stale_orders)
    assert cancel_stale_orders.config["schedule"]["cron"] == "0 2 * * *"


def test_d8_later_changes_to_the_configuration_have_no_effect() -> None:
    schedule = {"cron": "0 2 * * *"}
    config: dict[str, Any] = {"key": "a", "schedule": schedule}
    job = define_job(config, cancel)
    schedule["cron"] = "bad"
    config["key"] = "b"
    assert (job.key, job.config["schedule"]["cron"]) == ("a", "0 2 * * *")


def test_a_decorated_job_is_pickled_as_the_name_that_it_has() -> None:
    assert pickle.loads(pickle.dumps(recalc_totals)) is recalc_totals


@pytest.mark.parametrize("job", [cancel_stale_orders, by_partial, define_job({"key": "m"}, Methods().cancel)])
def test_other_jobs_are_pickled_with_their_handler(job: JobDefinition) -> None:
    again = pickle.loads(pickle.dumps(job))
    assert (again.config, again.key) == (job.config, job.key)
    assert type(again.__cogover_job_handler__) is type(job.__cogover_job_handler__)


def test_a_job_keeps_its_handler_through_pickle() -> None:
    assert pickle.loads(pickle.dumps(cancel_stale_orders)) == cancel_stale_orders


@pytest.mark.parametrize("name", ["a lambda", "the function test_.*inner"])
def test_what_no_name_leads_to_cannot_be_pickled(name: str) -> None:
    def inner(data: Any) -> None: ...

    job = define_job({"key": "a"}, inner if "inner" in name else lambda data: None)
    with pytest.raises(pickle.PicklingError, match=f"the job a cannot be pickled: its handler is {name}"):
        pickle.dumps(job)


def test_copies_are_the_job_itself() -> None:
    assert copy.copy(recalc_totals) is recalc_totals
    assert copy.deepcopy([recalc_totals])[0] is recalc_totals


def test_a_validation_error_is_both_kinds_of_error() -> None:
    with pytest.raises(ValidationError) as caught:
        define_job({"key": "1bad"}, cancel)
    error = caught.value
    assert isinstance(error, DefinitionError)
    assert isinstance(error, CogoverApiError)
    assert (error.code, [problem.code for problem in error.problems]) == ("VALIDATION_ERROR", ["NSP101"])
    assert [problem["pointer"] for problem in error.details["problems"]] == ["/key"]
    assert json.dumps(error.details)


def listed(call: Callable[[], Any]) -> list[str]:
    """The problems of a call, one line each."""
    with pytest.raises(ValidationError) as caught:
        call()
    return [f"{item.code} {item.pointer}: {item.message} ({item.hint})" for item in caught.value.problems]


OFFERED = (
    "it is called with those of job, payload, invocation, data, schema, log, state, locks, notifications, email, jobs,"
    " secrets, crypto, org, limits, processes, agents that it names"
)
HOW = 'write define_job({"key": "…"}, handler), or @define_job(key="…") above the handler'


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: define({"key": "a"}, 5),
            f'NSP106 /handler: the handler of job "a" must be a function, not the value 5 ({OFFERED})',
        ),
        (
            lambda: define({"key": "a"}, None),
            'NSP106 /handler: the handler of job "a" must be a function, not None'
            " (give the function itself, without calling it: leave out the parentheses)",
        ),
        (lambda: define({"key": "a"}), f'NSP106 /handler: the handler of job "a" is missing (give a function; {OFFERED})'),
        (
            lambda: define(key="a")("text"),
            f'NSP106 /handler: the handler of job "a" must be a function, not the string "text" ({OFFERED})',
        ),
        (
            lambda: define({"key": "a"}, lambda dat: None),
            'NSP106 /handler: the handler of job "a" requires the parameter `dat`, which it is not called with'
            " (did you mean `data`?)",
        ),
        (
            lambda: define({"key": "a", "handler": cancel}),
            "NSP006 /handler: the handler is no part of the configuration (write define_job({…}, handler))",
        ),
        (
            lambda: define(cancel),
            f"NSP007 : define_job takes a mapping or keyword arguments, not async function cancel ({HOW})",
        ),
        (lambda: define(5, cancel), f"NSP007 : define_job takes a mapping or keyword arguments, not the value 5 ({HOW})"),
        (lambda: define(), 'NSP008 : a job has no "key" (add "key", for example "recalc_totals")'),
        (lambda: define(name="a"), 'NSP008 : a job has no "key" (add "key", for example "recalc_totals")'),
        (
            lambda: define(key="a", maxAttempts=3),
            "NSP006 /maxAttempts: define_job has no parameter `maxAttempts` (did you mean `max_attempts`?)",
        ),
        (
            lambda: define({"key": "a", "max_attempts": 3}, cancel),
            'NSP006 /max_attempts: "max_attempts" is not a key of a job (did you mean "maxAttempts"?)',
        ),
        (
            lambda: define({"key": "a"}, cancel, key="a"),
            "NSP006 /key: `key` is given in the mapping and by name (give it once)",
        ),
        (
            lambda: define(key="a", schedule="0 2 * * *"),
            'NSP007 /schedule: schedule must be a mapping, not the string "0 2 * * *" (write {"cron": "0 2 * * *"})',
        ),
        (
            lambda: define(key="a", schedule=Schedule("0 2 * * *", tz="UTC")),
            "NSP006 /schedule/tz: Schedule has no parameter `tz` (did you mean `timezone`?)",
        ),
        (
            lambda: define(key="a", timezone="UTC"),
            'NSP006 /timezone: "timezone" is not a key of a job'
            ' (write "schedule": {"cron": "0 2 * * *", "timezone": "Asia/Ho_Chi_Minh"})',
        ),
    ],
)
def test_d2_a_violation_is_one_problem_that_says_what_to_write(call: Callable[[], Any], expected: str) -> None:
    assert listed(call) == [expected]


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("key", "a" * 101, "NSP102"),
        ("key", "a\n", "NSP101"),
        ("key", "", "NSP101"),
        ("name", "n" * 251, "NSP109"),
        ("timeoutMs", 999, "NSP105"),
        ("timeoutMs", 60_001, "NSP105"),
        ("maxAttempts", 0, "NSP104"),
        ("maxAttempts", 11, "NSP104"),
        ("maxAttempts", True, "NSP007"),
        ("maxAttempts", 5.0, "NSP007"),
        ("maxAttempts", "5", "NSP007"),
        ("maxAttempts", None, "NSP007"),
        ("timeoutMs", float("nan"), "NSP007"),
        ("schedule", {"cron": "0 0 30 2 *"}, "NSP207"),
        ("schedule", {"cron": "0 2 * * *", "timezone": "../etc"}, "NSP206"),
        ("schedule", {"cron": "0 2 * *"}, "NSP201"),
    ],
)
def test_d3_to_d6_limits(option: str, value: Any, code: str) -> None:
    with pytest.raises(ValidationError) as caught:
        define_job({"key": "a", option: value}, cancel)
    assert [problem.code for problem in caught.value.problems] == [code]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("key", "a" * 100),
        ("name", "n" * 250),
        ("timeoutMs", 1000),
        ("timeoutMs", 60_000),
        ("maxAttempts", 1),
        ("maxAttempts", 10),
        ("schedule", {"cron": "0 2 * * *," + ",".join(["1"] * 59)}),
    ],
)
def test_d3_to_d6_limits_are_inclusive(option: str, value: Any) -> None:
    assert define_job({"key": "a", option: value}, cancel).config[option]


def test_a_handler_may_take_the_whole_context() -> None:
    assert define_job({"key": "a"}, lambda context: None).key == "a"


def test_every_problem_is_in_the_one_error() -> None:
    call = functools.partial(define, {"key": "1bad", "name": 5, "timeout": 1, "schedule": {"cron": "@daily"}}, 5)
    assert [line.split(":")[0] for line in listed(call)] == [
        "NSP106 /handler",
        "NSP101 /key",
        "NSP007 /name",
        "NSP202 /schedule/cron",
        "NSP006 /timeout",
    ]
