"""``nsplugin.testing`` for Cogover: runs, identity, state, locks, and what stands behind the APIs."""

from __future__ import annotations

import hmac
from typing import Any

import pytest

from nsplugin import Job, define_plugin
from nsplugin.cogover import JobContext, RetryableError, StateConflictError, ValidationError, define_job
from nsplugin.testing import Bench, local_providers, run_job


@define_job(key="recalc", max_attempts=3)
async def recalc(context: JobContext) -> None:
    orders = context.data.object("order")
    page = await orders.records.list(where=orders.fields.status.eq("new"), fields=["subtotal"], limit=1)
    for order in page.items:
        await orders.records.update(order.id, {"total": order.fields["subtotal"] * 2, "status": "done"})
    if page.next_cursor:
        done = await context.jobs.enqueue("recalc", {"cursor": page.next_cursor}, idempotency_key="next")
        context.log.info("again", run=done.run_id, duplicate=done.duplicate)


ORDERS = {"order": [{"id": "1", "subtotal": 4, "status": "new"}, {"id": "2", "subtotal": 5, "status": "new"}]}


def cogover(handler: Any, **options: Any) -> Any:
    """A project with one job."""
    return [define_job({"key": "job", **options}, handler)]


def test_h1_a_job_works_on_records_and_goes_on_in_another_run() -> None:
    standins = local_providers(objects=ORDERS)
    result = run_job([recalc], payload=None, providers=standins)
    assert result.succeeded
    assert [each.payload for each in result.enqueued] == [{"cursor": "1"}]
    data: Any = standins.data
    assert data.all("order")[0] == {"id": "1", "subtotal": 4, "status": "done", "total": 8}


def test_e5_a_second_enqueue_with_the_key_returns_the_first_run() -> None:
    seen: list[Any] = []

    async def twice(jobs: Any) -> None:
        seen.extend([await jobs.enqueue("job", None, idempotency_key="a"), await jobs.enqueue("job", idempotency_key="a")])

    run_job(cogover(twice))
    assert [(each.run_id, each.duplicate) for each in seen] == [("TSJ000000000002", False), ("TSJ000000000002", True)]


def test_x4_only_retryable_errors_and_time_outs_are_retried() -> None:
    async def fails(payload: Any) -> None:
        raise RetryableError("smtp is down") if payload else ValueError("no")

    assert [each.ending for each in run_job(cogover(fails)).attempts] == ["failure"]
    again = run_job(cogover(fails), payload=1)
    assert (again.state, len(again.attempts), again.attempts[0].message) == ("dead", 5, "smtp is down")
    assert again.waits_ms == (7_000, 14_000, 28_000, 56_000)
    assert run_job(cogover(fails), fail={1: "timeout"}).attempts[0].wait_ms == 7_000


def test_h2_h3_job_info_and_payload() -> None:
    seen: list[Any] = []

    def notes(job: Any, payload: Any, invocation: Any) -> None:
        seen.append((job.key, job.attempt, job.max_attempts, job.source, job.enqueued_at is None, payload, invocation.identity))

    run_job(cogover(notes, maxAttempts=2), fail={1: "timeout"}, payload=[1])
    run_job(cogover(notes), source="schedule")
    assert seen == [("job", 2, 2, "enqueue", False, [1], "user"), ("job", 1, 5, "schedule", True, None, "system")]


def test_h2_a_run_is_the_same_in_all_its_attempts_and_no_other() -> None:
    seen: list[Any] = []

    async def fails(job: Any, jobs: Any) -> None:
        seen.append(job)
        if job.attempt == 1:
            raise RetryableError("later")
        seen.append((await jobs.enqueue("job")).run_id)

    bench = Bench(target=cogover(fails))
    assert bench.run().succeeded
    assert bench.run().succeeded
    first, second, enqueued, other, *_ = seen
    start = 1_767_225_600_000
    assert (first.id, first.run_at, first.enqueued_at) == ("TSJ000000000001", start, start)
    assert (second.id, second.run_at, second.enqueued_at) == ("TSJ000000000001", start + 7_000, start)
    assert (enqueued, other.id, other.enqueued_at) == ("TSJ000000000002", "TSJ000000000003", start + 7_000)


def test_a_lock_is_the_runs_own_and_not_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    owners: list[Any] = []

    async def holds(locks: Any) -> None:
        await locks.acquire("totals", lease_ms=1)

    bench = Bench(target=cogover(holds))
    lock = bench.values.lock

    def noted(plugin: str, name: str, owner: str, *, now: int, ttl_ms: int) -> Any:
        owners.append(owner)
        return lock(plugin, name, owner, now=now, ttl_ms=ttl_ms)

    monkeypatch.setattr(bench.values, "lock", noted)
    bench.run()
    bench.run()
    assert len(set(owners)) == 2


def test_h3_a_scheduled_run_of_cogover_has_no_payload() -> None:
    def notes(payload: Any) -> None: ...

    with pytest.raises(ValueError, match=r"^a scheduled run of Cogover has no payload: leave payload out$"):
        run_job(cogover(notes), source="schedule", payload=[1])
    assert run_job(define_plugin(id="one", jobs={"job": Job(notes)}), source="schedule", payload=[1]).succeeded


def reads(mode: str) -> Any:
    async def handler(data: Any) -> None:
        view = {"object": data, "user": data.as_user(), "system": data.as_system()}[mode]
        await view.object("order").records.get("1")

    return handler


@pytest.mark.parametrize(
    ("mode", "user", "allowed", "granted"),
    [
        ("object", "ann", False, True),
        ("object", None, False, False),
        ("object", None, True, True),
        ("user", "ann", False, True),
        ("user", None, True, False),
        ("system", "ann", False, False),
        ("system", "ann", True, True),
    ],
)
def test_x1_identity_decides_what_data_may(mode: str, user: str | None, allowed: bool, granted: bool) -> None:
    result = run_job(cogover(reads(mode)), user=user, allow_internal_system=allowed, providers=local_providers(objects=ORDERS))
    assert result.succeeded is granted
    if not granted:
        error: Any = result.error
        assert (type(error).__name__, error.details["reason"]) == ("PermissionDeniedError", "IDENTITY_NOT_GRANTED")


def test_x9_grouping_needs_the_systems_rights() -> None:
    rows: list[Any] = []

    async def groups(data: Any, payload: Any) -> None:
        view = data.as_system() if payload else data
        records = view.object("order").records
        rows.extend(await records.aggregate(measures={"n": "count", "sum": "sum:subtotal"}, group_by=["status"]))

    surroundings: Any = {"providers": local_providers(objects=ORDERS), "allow_internal_system": True}
    refused: Any = run_job(cogover(groups), **surroundings).error
    assert refused.details == {"reason": "GROUPING_NOT_GRANTED"}
    assert run_job(cogover(groups), payload=1, **surroundings).succeeded
    assert rows == [{"status": "new", "n": 2, "sum": 9}]


def test_e8_fifty_enqueues_a_run() -> None:
    async def many(jobs: Any) -> None:
        for _ in range(51):
            await jobs.enqueue("job")

    result = run_job(cogover(many))
    error: Any = result.error
    assert (len(result.enqueued), type(error).__name__, error.details) == (50, "RateLimitError", {"limit": 50})


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("before-trigger", "TRIGGER_READ_ONLY"), ("local-session", "DEVELOPMENT_SESSION_READ_ONLY"), ("after-trigger", None)],
)
def test_e7_where_enqueueing_is_allowed(kind: Any, reason: str | None) -> None:
    async def enqueues(jobs: Any) -> None:
        await jobs.enqueue("job")

    error: Any = Bench(target=cogover(enqueues)).run(kind=kind).error
    assert (None if error is None else error.details["reason"]) == reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delay_ms": 2_592_000_001}, "jobs.enqueue: delayMs is 2592000001; it must be a whole number of milliseconds"),
        (
            {"run_at": 2_000_000_000_000},
            "runAt is 2000000000000; it must be a whole number, Unix milliseconds, at most 30 days",
        ),
        ({"delay_ms": 1, "run_at": 1}, "delayMs and runAt exclude each other"),
        ({"idempotency_key": "-a"}, "idempotencyKey '-a' is not allowed: it must begin with a letter or digit"),
        ({"idempotency_key": "a" * 129}, "128 characters at most"),
    ],
)
def test_e4_e5_options_out_of_bounds_raise_validation_errors(options: dict[str, Any], message: str) -> None:
    async def enqueues(jobs: Any) -> None:
        with pytest.raises(ValidationError, match=message):
            jobs.enqueue("job", None, **options)

    assert run_job(cogover(enqueues)).succeeded


def test_state_has_versions_lifetimes_and_conditional_writes() -> None:
    async def uses(state: Any, jobs: Any) -> None:
        first = await state.set("a", {"n": 1}, ttl_ms=1_000)
        assert (await state.get("a")).value == {"n": 1}
        assert await state.get("a", namespace="other") is None
        second = await state.set("a", 2, if_version=first.version)
        try:
            await state.set("a", 3, if_version=first.version)
        except StateConflictError as error:
            assert error.details == {"key": "a", "version": second.version}
        assert (await state.set("new", 1, if_version=0)).version > second.version
        assert (await state.list()).items == ["a", "new"]
        assert (await state.update("a", lambda value: value + 1)).value == 3
        assert await state.delete("a") is True
        assert await state.delete("a") is False

    result = run_job(cogover(uses))
    assert result.succeeded, result.error


def test_locks_are_leases_with_growing_tokens() -> None:
    async def uses(locks: Any) -> None:
        async with await locks.acquire("totals", lease_ms=1_000) as lock:
            try:
                await locks.acquire("totals", lease_ms=1_000)
            except Exception as error:
                assert type(error).__name__ == "LockUnavailableError"
            await lock.renew(2_000)
            later = await locks.acquire("totals", lease_ms=1_000, wait_ms=10_000)
            assert later.token > lock.token
            await later.release()
            await later.release()

    result = run_job(cogover(uses))
    assert type(result.error).__name__ == "LockLostError"


def test_secrets_crypto_limits_org_and_messages() -> None:
    seen: dict[str, Any] = {}

    async def uses(secrets: Any, crypto: Any, limits: Any, org: Any, email: Any, notifications: Any) -> None:
        key = await secrets.get("KEY")
        seen["hmac"] = crypto.hmac("sha256", key, "data")
        seen["limits"] = await limits.get()
        seen["user"] = await org.user("dev")
        await email.send(to="a@example.org", subject="Hi", text="there")
        await notifications.send(to=["dev"], title="Done")
        await secrets.get("OTHER")

    standins = local_providers()
    result = run_job(cogover(uses), secrets={"KEY": "k"}, providers=standins)
    assert str(result.error) == "NOT_FOUND: secrets.get: there is no secret 'OTHER'"
    assert seen["hmac"] == hmac.new(b"k", b"data", "sha256").hexdigest()
    assert (seen["limits"]["enqueues"].left, seen["limits"]["automationSteps"].limit) == (50, 10)
    assert seen["user"]["name"] == "Local developer"
    outbox: Any = standins.email
    assert outbox.sent == [{"to": ["a@example.org"], "subject": "Hi", "text": "there", "html": None}]


def test_x8_the_end_of_a_process_is_a_run_of_the_job_that_waits_for_it() -> None:
    async def starts(processes: Any, agents: Any) -> None:
        assert await processes.start("approve", {"order": 1}, on_complete="job") == "process-1"
        assert await agents.start("summary", on_result="job") == "agent-1"

    def broken(value: Any) -> Any:
        raise ValueError("no model")

    bench = Bench(
        target=cogover(starts), providers=local_providers(processes={"approve": {"ok": True}}, agents={"summary": broken})
    )
    result = bench.run()
    assert [each.payload for each in result.enqueued] == [
        {"instanceId": "process-1", "process": "approve", "status": "completed", "output": {"ok": True}},
        {"runId": "agent-1", "agent": "summary", "status": "failed", "output": "no model"},
    ]
    assert [(each.by, each.user) for each in bench.queue.accepted] == [
        ("process:process-1", "test-user"),
        ("agent:agent-1", "test-user"),
    ]


def test_a_provider_that_is_not_plugged_in_is_named() -> None:
    from nsplugin.runtime.providers import Providers

    async def sends(email: Any) -> None:
        await email.send(to="a@example.org", subject="Hi", text="there")

    assert str(run_job(cogover(sends), providers=Providers()).error) == (
        "PROVIDER_MISSING: no provider for email is plugged in: "
        "give the core Providers(email=…), or local ones (docs/providers.md)"
    )
