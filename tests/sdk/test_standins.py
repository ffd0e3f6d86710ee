"""Stand-ins for providers, and what becomes of a provider's own failures (spec/cogover.md X8, E3)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from nsplugin.cogover import CogoverApiError, ValidationError, define_job
from nsplugin.runtime.providers import Providers
from nsplugin.testing import Bench, local_providers, run_job


def job(handler: Any) -> Any:
    return define_job({"key": "job"}, handler)


def orders(*records: dict[str, Any]) -> Any:
    return local_providers(objects={"order": records})


def refused(call: Callable[[Any], Any], *records: dict[str, Any]) -> Exception:
    """What a call of an order's records is refused with, in a sync handler that goes on."""
    caught: list[Exception] = []

    def handler(data: Any) -> None:
        try:
            call(data.object("order").records).result()
        except Exception as error:
            caught.append(error)

    result = run_job(job(handler), providers=orders(*records))
    assert result.succeeded, result.error
    (error,) = caught
    return error


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda records: records.aggregate(measures={"s": "sum:name"}),
            'data: "sum:name" cannot be made of these values: unsupported operand',
        ),
        (lambda records: records.aggregate(measures={"s": "max:mixed"}), 'data: "max:mixed" cannot be made of these values'),
        (lambda records: records.aggregate(measures={"s": 5}), "data: there is no measure 5"),
        (lambda records: records.create({"id": "a"}), "data: order has a record 'a' already"),
        (lambda records: records.update("a", {"id": "b"}), "data: a record's id can't be changed"),
    ],
)
def test_what_a_stand_in_cannot_do_is_a_validation_error(call: Any, message: str) -> None:
    error = refused(call, {"id": "a", "name": "x", "mixed": 1}, {"id": "b", "name": "y", "mixed": "1"})
    assert isinstance(error, ValidationError)
    assert message in str(error)


def test_records_cannot_be_grouped_by_lists() -> None:
    def handler(data: Any) -> None:
        with pytest.raises(ValidationError, match="data: records can't be grouped by tags: it holds lists or mappings"):
            data.as_system().object("order").records.aggregate(measures={"n": "count"}, group_by=["tags"]).result()

    result = run_job(job(handler), providers=orders({"tags": ["a"]}), allow_internal_system=True)
    assert result.succeeded, result.error


class Failing:
    """A provider with a fault of its own, or an answer that no message can carry."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def user(self, access: Any, id: str) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (KeyError("x"), "INTERNAL: org.user: the platform failed (KeyError); its log says more"),
        ({1, 2}, "INTERNAL: the platform's answer is no JSON (Object of type set is not JSON serializable)"),
        ({"n": float("nan")}, "INTERNAL: the platform's answer is no JSON (Out of range float values are not JSON compliant"),
    ],
)
def test_a_providers_own_failure_is_a_failure_of_the_platform(answer: Any, message: str) -> None:
    """Sync and asynchronous handlers alike; the core says the same (core_host/test_host_calls.py)."""
    caught: list[Exception] = []

    def asks(org: Any) -> None:
        try:
            org.user("a").result()
        except CogoverApiError as error:
            caught.append(error)

    async def asks_too(org: Any) -> None:
        try:
            await org.user("a")
        except CogoverApiError as error:
            caught.append(error)

    for handler in (asks, asks_too):
        failing: Any = Failing(answer)
        result = run_job(job(handler), providers=Providers(org=failing))
        assert result.succeeded, result.error
        assert str(caught[-1]).startswith(message)
        if isinstance(answer, Exception):
            assert caught[-1].__cause__ is answer


def test_a_provider_that_ends_the_process_ends_the_attempt() -> None:
    def asks(org: Any) -> None:
        with contextlib.suppress(SystemExit):
            org.user("a")

    failing: Any = Failing(SystemExit(3))
    result = run_job(job(asks), providers=Providers(org=failing))
    assert result.succeeded, result.error


class Executions:
    """Processes that end when the test says so, in a thread of their own."""

    def __init__(self) -> None:
        self.completed: list[Callable[[str, Any], None]] = []
        self.at_start: Callable[[Callable[[str, Any], None]], None] = self.completed.append

    def start(self, access: Any, key: str, input: Any, completed: Any) -> str:
        self.at_start(completed)
        return "p-1"


def starts(processes: Any) -> None:
    processes.start("approve", on_complete="job").result()


def bench(executions: Executions) -> Bench:
    return Bench(target=job(starts), providers=Providers(processes=executions))


def test_x8_no_end_is_lost_that_comes_while_the_start_returns() -> None:
    """Many threads end executions at all moments around the return of ``start``."""
    for pause in (0, 0.0001, 0.0005, 0.002) * 25:
        executions = Executions()
        threads: list[threading.Thread] = []

        def at_start(completed: Callable[[str, Any], None], pause: float = pause, threads: Any = threads) -> None:
            timer = threading.Timer(pause, completed, ("completed", 1))
            timer.start()
            threads.append(timer)

        executions.at_start = at_start
        here = bench(executions)
        assert here.run().succeeded
        threads[0].join(10)
        assert [each.payload["output"] for each in here.enqueued] == [1]


def test_x8_an_end_between_the_two_looks_is_kept() -> None:
    """The thread of the end stands still after it saw that no id is known, until ``start`` has returned."""
    from nsplugin.runtime import desk_providers

    seen: list[Any] = []
    waiting = desk_providers.Waiting(lambda id, status, output: seen.append((id, status, output)))

    class Slow(list[Any]):
        def append(self, item: Any) -> None:
            begun = threading.Thread(target=waiting.begun, args=("p-1",))
            begun.start()
            begun.join(0.05)  # it may not pass before the end is noted
            super().append(item)
            self.begun = begun

    early = Slow()
    waiting.early = early
    waiting.completed("completed", 1)
    early.begun.join(10)
    assert seen == [("p-1", "completed", 1)]


def test_a_provider_may_bring_its_answer_later() -> None:
    class Late(Executions):
        def start(self, access: Any, key: str, input: Any, completed: Any) -> Any:
            completed("completed", 1)
            future: Future[str] = Future()
            threading.Timer(0.01, future.set_result, ("p-2",)).start()
            return future

    here = bench(Late())
    assert here.run().succeeded
    assert [each.payload["instanceId"] for each in here.enqueued] == ["p-2"]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("x" * 100_000, "the output can't be a payload: the payload has 100,073 bytes as JSON, 65,536 are allowed"),
        ({1, 2}, "the output can't be a payload: the payload at /output:"),
        (float("nan"), "the output can't be a payload: the payload at /output:"),
    ],
)
def test_e3_an_output_that_is_no_payload_is_told_as_a_failure(output: Any, message: str) -> None:
    executions = Executions()
    here = bench(executions)
    assert here.run().succeeded
    executions.completed[0]("completed", output)
    (queued,) = here.enqueued
    told = queued.payload.pop("output")
    assert queued.payload == {"instanceId": "p-1", "process": "approve", "status": "failed"}
    assert told.startswith(message)


def test_an_output_at_the_limit_is_handed_over_whole() -> None:
    executions = Executions()
    here = bench(executions)
    here.run()
    executions.completed[0]("completed", "x" * (100_000 - 100_073 + 65_536))
    assert here.enqueued[0].payload["status"] == "completed"


def test_made_up_ids_are_free_ones_whatever_the_order() -> None:
    given: list[dict[str, Any]] = [{"id": "order-1", "v": 1}, {"v": 2}, {"id": 0, "v": 3}, {"v": 4}, {"id": "order-3", "v": 5}]
    data: Any = orders(*given).data
    assert [(each["id"], each["v"]) for each in data.all("order")] == [
        ("order-1", 1),
        ("order-2", 2),
        ("0", 3),
        ("order-4", 4),
        ("order-3", 5),
    ]
    with pytest.raises(ValueError, match="order has a record 'a' already"):
        orders({"id": "a"}, {"id": "a"})


def test_what_a_handler_keeps_and_what_is_stored_are_apart_as_in_the_core() -> None:
    given = {"id": "1", "tags": ["given"]}
    seen: dict[str, Any] = {}

    async def handler(data: Any, state: Any, processes: Any) -> None:
        records = data.object("order").records
        tags = ["a"]
        made = await records.create({"tags": tags})
        tags.append("later")
        made.fields["tags"].append("changed")
        (await records.get("1")).fields["tags"].append("changed")
        value = {"n": [1]}
        entry = await state.set("k", value)
        entry.value["n"].append(2)
        seen["kept"] = value
        order = {"lines": [1]}
        await processes.start("approve", order)
        order["lines"].append(2)

    standins = local_providers(objects={"order": [given]}, processes={"approve": None})
    result = run_job(job(handler), providers=standins)
    assert result.succeeded, result.error
    data: Any = standins.data
    processes: Any = standins.processes
    assert [each["tags"] for each in data.all("order")] == [["given"], ["a"]]
    assert (seen["kept"], given["tags"], processes.started[0]["input"]) == ({"n": [1]}, ["given"], {"lines": [1]})
    data.all("order")[0]["tags"].append("by the test")
    assert data.all("order")[0]["tags"] == ["given"]


def test_tuples_come_back_as_lists_as_they_do_from_the_core() -> None:
    async def handler(data: Any) -> None:
        made = await data.object("order").records.create({"at": [1, 2]})
        assert made.fields["at"] == [1, 2]

    assert run_job(job(handler), providers=orders()).succeeded


def test_the_last_page_of_state_has_no_cursor() -> None:
    pages: list[Any] = []

    async def handler(state: Any) -> None:
        for name in ("k0", "k1", "k2"):
            await state.set(name, 1)
        pages.append(await state.list(limit=3))
        pages.append(await state.list(limit=2))
        pages.append(await state.list(limit=2, cursor=pages[-1].next_cursor))
        pages.append(await state.list(limit=1_000))

    result = run_job(job(handler))
    assert result.succeeded, result.error
    assert [(page.items, page.next_cursor) for page in pages] == [
        (["k0", "k1", "k2"], None),
        (["k0", "k1"], "k1"),
        (["k2"], None),
        (["k0", "k1", "k2"], None),
    ]
