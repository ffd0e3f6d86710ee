"""Other queues doing the same work: enqueue no-op tasks one by one, then drain them, each in the way it is fastest.

``…_crowd`` measures the same enqueues by many callers at once.

A drain of theirs ends when the last handler is called: what they still have to write then, or wait for, is not counted.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

Timed = tuple[float, float]
"""Seconds for enqueueing all, and for draining all."""
CALLERS = 50
"""How many enqueue at once."""
CONNECTIONS = 10
"""What the peers' callers share, as ours do: more of them made none faster."""


def timed(work: Callable[[], Any]) -> float:
    """Seconds that ``work`` takes, without the garbage of whoever ran before."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def procrastinate(url: str, tasks: int) -> Timed:
    """One connection to enqueue, a worker with 100 at once to drain (its default is 1)."""
    import procrastinate as peer

    app = peer.App(connector=peer.SyncPsycopgConnector(conninfo=url))
    app.open()
    app.schema_manager.apply_schema()

    last = 0.0

    @app.task(name="noop")
    async def noop() -> None:
        nonlocal last
        last = time.perf_counter()

    def enqueue() -> None:
        for _ in range(tasks):
            app.configure_task("noop").defer()

    enqueued = timed(enqueue)
    app.close()

    async def drain() -> float:
        worker = app.with_connector(peer.PsycopgConnector(conninfo=url, max_size=20))
        async with worker.open_async():
            start = time.perf_counter()
            await worker.run_worker_async(wait=False, concurrency=100, listen_notify=False)
            return last - start

    return enqueued, asyncio.run(drain())


def procrastinate_crowd(url: str, tasks: int) -> float:
    """Its asynchronous ``defer`` over a pool; ``batch_defer`` is one caller's with many tasks, as our ``accept`` is."""
    import procrastinate as peer

    async def enqueue() -> float:
        app = peer.App(connector=peer.PsycopgConnector(conninfo=url, min_size=CONNECTIONS, max_size=CONNECTIONS))
        async with app.open_async():
            await app.schema_manager.apply_schema_async()
            return await _together(tasks, lambda caller: app.configure_task("noop", allow_unknown=True).defer_async())

    return asyncio.run(enqueue())


def pgqueuer_crowd(url: str, tasks: int) -> float:
    """Its callers take turns on several connections; each serves one at a time."""
    import psycopg
    from pgqueuer import PsycopgDriver, Queries

    async def enqueue() -> float:
        async with AsyncExitStack() as stack:
            queries = []
            for _ in range(CONNECTIONS):
                connection = await psycopg.AsyncConnection.connect(url, autocommit=True)
                queries.append(Queries(PsycopgDriver(await stack.enter_async_context(connection))))
            await queries[0].install()
            return await _together(tasks, lambda caller: queries[caller % CONNECTIONS].enqueue("noop", b"{}"))

    return asyncio.run(enqueue())


async def _together(tasks: int, enqueue: Callable[[int], Awaitable[Any]]) -> float:
    async def work(caller: int) -> None:
        for _ in range(tasks // CALLERS):
            await enqueue(caller)

    gc.collect()
    start = time.perf_counter()
    await asyncio.gather(*map(work, range(CALLERS)))
    return time.perf_counter() - start


def pgqueuer(url: str, tasks: int) -> Timed:
    """Its psycopg driver; batches of 100 to drain (its default is 10)."""
    import psycopg
    from pgqueuer import PgQueuer, PsycopgDriver, Queries
    from pgqueuer.types import QueueExecutionMode

    async def enqueue() -> float:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            queries = Queries(PsycopgDriver(connection))
            await queries.install()
            start = time.perf_counter()
            for _ in range(tasks):
                await queries.enqueue("noop", b"{}")
            return time.perf_counter() - start

    async def drain() -> float:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            runner = PgQueuer(PsycopgDriver(connection))

            last = 0.0

            @runner.entrypoint("noop")
            async def noop(job: Any) -> None:
                nonlocal last
                last = time.perf_counter()

            start = time.perf_counter()
            await runner.run(mode=QueueExecutionMode.drain, batch_size=100, dequeue_timeout=timedelta(seconds=1))
            return last - start

    return asyncio.run(enqueue()), asyncio.run(drain())


def huey(url: str, tasks: int) -> Timed:
    """Its SQLite storage with fsync; drained by a bare loop of its own dequeue and execute, without its consumer's polling."""
    from huey import SqliteHuey

    queue = SqliteHuey("bench", filename=url.removeprefix("sqlite:///") + ".huey", fsync=True)

    @queue.task()
    def noop() -> None:
        pass

    def enqueue() -> None:
        for _ in range(tasks):
            noop()

    def drain() -> None:
        for _ in range(tasks):
            task = queue.dequeue()
            assert task is not None
            queue.execute(task)

    return timed(enqueue), timed(drain)
