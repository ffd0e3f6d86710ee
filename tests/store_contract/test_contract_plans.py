"""No statement of the queue's daily work walks a whole table: a plan that does is fine until the table is large."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from engine_world import NOON, store_url
from nsplugin_core.store import open_store
from nsplugin_core.store.database import statements

TABLES = "task|finished|attempt|run_key|entry|lock"
ROWS = json.dumps([{"id": "TSKA", "plugin": "shop", "job": "sync", "key": "k", "claim": 1, "state": "dead", "keep_until": 5}])
PARAMETERS: dict[str, Any] = {
    "tasks": ROWS, "endings": ROWS, "fired": ROWS, "plugins": '["shop"]', "ids": '["TSKA"]', "revived": "[]", "without": "[]",
    "plugin": "shop", "job": "sync", "id": "TSKA", "now": NOON, "since": 0, "alive": NOON, "slots": 8, "grace": 1,
    "claimer": "test", "limit": 10, "state": "dead", "after": 0, "after_id": "", "count": 1, "name": "l", "owner": "me",
    "token": 1, "expires_at": NOON, "namespace": "n", "key": "k", "value": "1", "expected": 1, "prefix": "", "beyond": "b",
    "source": "enqueue", "payload": None, "payload_bytes": 0, "due_at": NOON, "created_at": NOON, "enqueued_by": None,
    "identity": None,
    "budget": None, "schedule_id": None, "fire_at": None,
    "claim": 1, "number": 1, "outcome": "success", "error": None, "error_code": None, "ended_at": NOON, "log_until": NOON,
    "attempt": 2, "run_at": NOON, "sets_error": False, "keep_until": NOON, "next_fire": NOON, "last_fire": NOON,
    "last_task": "TSKA", "fires": 1, "skipped": 0, "caught_up": 0,
}  # fmt: skip
DAILY = (
    "enqueue", "enqueue_one", "placed", "reserve_keys", "horizon", "lost", "claim", "claim_one", "drop", "finish", "requeue",
    "task", "page_unfinished", "page_unfinished_job", "page_finished", "page_finished_job",
    "attempts", "recent", "lock_dead", "revive", "drop_dead", "sweep_finished",
    "sweep_attempts", "sweep_entries", "sweep_locks", "due_schedules", "advance_schedules", "next_fire", "entry", "put",
    "put_expected", "remove", "entries", "entries_below", "lock", "depths_of", "clear_task",
    "clear_finished", "clear_attempt",
    "clear_run_key", "clear_entry", "clear_lock", "renew", "unlock",
)  # fmt: skip
SINGLE = ("drop_one", "finish_one", "requeue_one", "advance_schedules_one")
"""What only SQLite has: PostgreSQL takes one row like many."""


@pytest.mark.parametrize("name", [*DAILY, *SINGLE])
def test_sqlite_searches_and_does_not_scan(name: str, tmp_path: Path) -> None:
    with store_url("sqlite", tmp_path) as url:
        open_store(url).close()
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        for statement in statements("nsplugin_core.store.sqlite")[name]:
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", PARAMETERS)]
            assert not [step for step in plan if re.search(rf"\bSCAN ({TABLES}|t|f|a)\b(?! USING| VIRTUAL)", step)], plan
        connection.close()


@pytest.mark.parametrize("name", ["depths", "depths_of", "page_unfinished_job", "page_finished_job"])
def test_sqlite_counts_and_lists_a_job_by_its_own_index(name: str, tmp_path: Path) -> None:
    """Without sorting, and without a look at other jobs' tasks, however many there are."""
    with store_url("sqlite", tmp_path) as url:
        open_store(url).close()
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        (statement,) = statements("nsplugin_core.store.sqlite")[name]
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", PARAMETERS)]
        connection.close()
    assert [step for step in plan if re.search(r"COVERING INDEX \w+_job \(plugin=\?\)|_job \(plugin=\? AND job=\?", step)], plan
    assert not [step for step in plan if "GROUP BY" in step], plan


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A connection set up like those of the pool, to a schema with tables that were never analysed."""
    import psycopg

    from nsplugin_core.store.postgres import SETTINGS

    with store_url("postgres", tmp_path_factory.mktemp("plans")) as url:
        open_store(url).close()
        server, _, schema = url.partition("?schema=")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'SET search_path = "{schema}"'.encode())
            for setting in SETTINGS:
                connection.execute(setting)
            yield connection


@pytest.mark.postgres
@pytest.mark.parametrize("name", DAILY)
def test_postgresql_uses_its_indexes(name: str, planner: Any) -> None:
    parameters = PARAMETERS | ({"after": ""} if name.startswith("entries") else {})
    for statement in statements("nsplugin_core.store.postgres")[name]:
        plan = [row[0] for row in planner.execute(f"EXPLAIN {statement}".encode(), parameters)]
        assert not [step for step in plan if re.search(rf"Seq Scan on ({TABLES})\b", step)], "\n".join(plan)
        for place, step in enumerate(plan):
            if re.search(rf"(Index|Index Only) Scan .* on ({TABLES})\b", step):
                assert "Index Cond" in plan[place + 1], "a walk over a whole index:\n" + "\n".join(plan)
