"""Other queues doing the same work: enqueue no-op tasks one by one, then drain them, each in the way it is fastest.

A drain of theirs ends when the last handler is called: what they still have to write then, or wait for, is not counted.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

Timed = tuple[float, float]
"""Seconds for enqueueing all, and for draining all."""


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
