"""The errors of definers, as their readers meet them (spec/sdk.md Errors at definition)."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from nsplugin import Cron, DefinitionError, Job, Plugin, define_plugin
from nsplugin.cogover import (
    CogoverApiError,
    LockLostError,
    LockUnavailableError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RetryableError,
    StateConflictError,
    ValidationError,
    define_job,
)

define: Callable[..., Plugin] = define_plugin


def expire(payload: Any) -> None: ...


def raised() -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        define(id="cache", jobs={"expire": Job(expire, max_attempts=21)}, cron=[Cron("0 3 * *", job="expir")])
    return caught.value


TEXT = """\
define_plugin: 3 problems
  NSP204 /cron/0/job: job "expir" is not declared in jobs
      did you mean "expire"?
  NSP201 /cron/0/schedule: found 4 fields instead of five (minute, hour, day of month, month, day of week)
      the missing one may be the day of week: `0 3 * * *`
  NSP104 /jobs/expire/maxAttempts: maxAttempts 21 is out of range: 1 to 20"""


def test_the_text_lists_every_problem_with_its_place_and_what_to_write() -> None:
    assert str(raised()).splitlines()[0] == "define_plugin: 3 problems"
    assert [line for line in str(raised()).splitlines() if not line.startswith("      ")] == [
        line for line in TEXT.splitlines() if not line.startswith("      ")
    ]


def test_a_traceback_ends_with_that_text_and_starts_at_the_call() -> None:
    error = raised()
    printed = "".join(traceback.format_exception(error))
    assert printed.rstrip().endswith(f"nsplugin.errors.DefinitionError: {error}")
    assert "define(id=" in printed


def test_problems_are_plain_data() -> None:
    problem = raised().problems[0]
    assert (problem.code, problem.name, problem.severity, problem.pointer) == (
        "NSP204",
        "cron-unknown-job",
        "error",
        "/cron/0/job",
    )
    assert problem.message
    assert problem.hint


def test_a_definition_error_survives_pickle() -> None:
    error = raised()
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.problems, str(again)) == (DefinitionError, error.problems, str(error))


def test_a_validation_error_survives_pickle() -> None:
    with pytest.raises(ValidationError) as caught:
        define_job({"key": "1"}, expire)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.code, again.problems, again.details) == ("VALIDATION_ERROR", caught.value.problems, caught.value.details)
    assert str(again) == str(caught.value)
    assert str(again).startswith("define_job: ")


def test_a_long_list_is_cut_in_the_text_and_whole_in_the_problems() -> None:
    with pytest.raises(DefinitionError) as caught:
        define(jobs={f"{number}bad": Job(expire) for number in range(80)})
    assert len(caught.value.problems) == 80
    assert str(caught.value).endswith("\n  and 30 more")


def test_a_pointer_of_any_characters_is_printed_on_one_line() -> None:
    with pytest.raises(DefinitionError) as caught:
        define(jobs={"a\nb\x1b[31m": Job(expire)})
    assert str(caught.value).splitlines()[1].startswith(r"  NSP101 /jobs/a\nb\x1b[31m: ")


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (ValidationError, "VALIDATION_ERROR"),
        (PermissionDeniedError, "PERMISSION_DENIED"),
        (RateLimitError, "RATE_LIMITED"),
        (RetryableError, "RETRYABLE"),
        (NotFoundError, "NOT_FOUND"),
        (StateConflictError, "STATE_CONFLICT"),
        (LockUnavailableError, "LOCK_UNAVAILABLE"),
        (LockLostError, "LOCK_LOST"),
    ],
)
def test_each_api_error_has_a_code_a_message_and_details(kind: Any, code: str) -> None:
    error = kind("the service is down", {"reason": "X"})
    assert isinstance(error, CogoverApiError)
    assert (error.code, error.message, error.details) == (code, "the service is down", {"reason": "X"})
    assert str(error) == f"{code}: the service is down"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.code, again.message, again.details) == (kind, code, error.message, error.details)
    assert (kind().details, str(kind())) == ({}, code)


def test_an_api_error_may_have_any_code() -> None:
    error = CogoverApiError("JOBS_DISABLED", "jobs are not enabled", {"workspace": "w"})
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.message, again.details) == ("JOBS_DISABLED", "jobs are not enabled", {"workspace": "w"})
    assert (error.details, str(CogoverApiError("JOBS_DISABLED"))) == ({"workspace": "w"}, "JOBS_DISABLED")


def test_an_id_by_position_is_one_fault() -> None:
    """spec/sdk.md: one mapping, or keyword arguments."""
    with pytest.raises(DefinitionError) as raised:
        define_plugin("demo", {"jobs": {}})
    (problem,) = raised.value.problems
    assert (problem.code, problem.message) == ("NSP006", "define_plugin takes only `config` by position, and got 2 arguments")
