"""Opening, migrating and losing a store, on both kinds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from engine_world import NOON, World, nextskin, store_url
from nsplugin_core.clock import VirtualClock
from nsplugin_core.store import MEMORY, SqlStore, open_store, open_transient
from nsplugin_core.store.errors import NewerSchema, StoreError, StoreUnavailable


def reopened(url: str) -> World:
    return World(open_store(url), VirtualClock(NOON))


def test_what_was_accepted_is_there_after_closing(url: str) -> None:
    first = reopened(url)
    first.install(nextskin())
    task = first.enqueue(payload={"a": 1}).task_id
    first.store.close()
    second = reopened(url)
    assert second.task(task).payload == '{"a":1}'
    second.store.close()


def test_a_newer_schema_is_refused_clearly(url: str, kind: str) -> None:
    open_store(url).close()
    _set_version(url, kind, 99)
    with pytest.raises(NewerSchema, match=r"schema version 99, this nsplugin knows versions up to \d+: upgrade nsplugin"):
        open_store(url)


def _set_version(url: str, kind: str, version: int) -> None:
    if kind == "sqlite":
        import sqlite3

        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        with connection:
            connection.execute("INSERT INTO schema_version VALUES (?)", (version,))
        connection.close()
        return
    import psycopg

    server, _, schema = url.partition("?schema=")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'INSERT INTO "{schema}".schema_version VALUES ({version})'.encode())


def test_processes_that_open_an_empty_store_at_once_all_succeed(url: str) -> None:
    code = "import sys; from nsplugin_core.store import open_store; s = open_store(sys.argv[1]); s.tasks.depths(); s.close()"
    processes = [
        subprocess.Popen([sys.executable, "-c", code, url], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(4)
    ]
    outputs = [process.communicate(timeout=60)[0].decode() for process in processes]
    assert [(process.returncode, output) for process, output in zip(processes, outputs, strict=True)] == [(0, "")] * 4


def test_another_process_s_enqueue_wakes_us(url: str) -> None:
    woken = Event()
    ours, theirs = open_store(url), reopened(url)
    theirs.install(nextskin())
    end = ours.subscribe(woken.set)
    _settle(woken)
    theirs.enqueue()
    assert woken.wait(5)
    end()
    _settle(woken)
    theirs.enqueue()
    assert not woken.wait(0.1)
    theirs.store.close()
    ours.close()


def _settle(woken: Event) -> None:
    while woken.wait(0.2):
        woken.clear()


def test_our_own_enqueue_wakes_us_at_once(core: World) -> None:
    core.install(nextskin())
    woken = Event()
    core.store.subscribe(woken.set)
    woken.clear()
    core.enqueue()
    assert woken.is_set()


def test_a_closed_store_says_so(url: str) -> None:
    store = open_store(url)
    store.close()
    with pytest.raises(StoreUnavailable):
        store.tasks.depths()


@pytest.mark.postgres
def test_connections_that_die_are_replaced(tmp_path: Path) -> None:
    import psycopg

    with store_url("postgres", tmp_path) as url:
        core = reopened(url)
        core.install(nextskin())
        with psycopg.connect(url.partition("?")[0], autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
                ("nsplugin:" + url.partition("schema=")[2],),
            )
        with pytest.raises(StoreUnavailable, match="PostgreSQL does not answer"):
            core.enqueue()
        core.enqueue()
        core.store.close()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://root@localhost/x", "'mysql://root@localhost/x' is no database: use sqlite:///path/core.db or postgresql://"),
        (
            "sqlite:////nowhere/core.db",
            "can't open the database /nowhere/core.db: the folder /nowhere does not exist",
        ),
        ("/tmp", "/tmp is a folder: name a file in it, such as /tmp/core.db"),
        ("postgresql://[/db", 'this is no PostgreSQL URL (end of string reached when looking for matching "]"'),
        (
            "postgresql://h/db?foo=bar",
            'this is no PostgreSQL URL (invalid URI query parameter: "foo"): write postgresql://user@',
        ),
        ("postgresql://nobody@127.0.0.1:1/none", "can't open PostgreSQL: connection failed"),
    ],
)
def test_a_store_that_can_t_be_opened_says_why(url: str, message: str) -> None:
    with pytest.raises(StoreError) as refused:
        open_store(url)
    assert str(refused.value).startswith(message)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "core.db"
    path.write_text("this is a diary, not a database; " * 100)
    with pytest.raises(StoreError, match=r"core\.db is not a usable SQLite database"):
        open_store(str(path))


def test_a_sqlite_store_is_durable_and_does_not_block_readers(tmp_path: Path) -> None:
    import sqlite3

    store = open_store(f"sqlite:///{tmp_path / 'core.db'}")
    connection = sqlite3.connect(tmp_path / "core.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.execute("BEGIN IMMEDIATE")
    assert store.tasks.depths() == []
    connection.rollback()
    connection.close()
    store.close()


def test_a_store_in_memory_is_there_for_simulations() -> None:
    store = open_store(MEMORY)
    assert isinstance(store, SqlStore)
    assert store.registry.plugins() == []
    store.close()


def test_a_transient_store_does_what_the_others_do() -> None:
    """For simulations: everything is one transaction, which is never committed."""
    core = World(open_transient(), VirtualClock(NOON))
    core.install(nextskin(jobs={"sync": {}}, cron=[{"schedule": "* * * * *", "job": "sync"}]))
    task = core.enqueue().task_id
    core.forward(2 * 60_000, by=60_000)
    assert [past.outcome for past in core.store.tasks.attempts(task)] == ["success"]
    assert [row.fires for row in core.store.registry.schedules("shop")] == [2]
    core.store.close()


@pytest.mark.postgres
def test_a_user_who_may_make_no_schema_is_told(tmp_path: Path) -> None:
    import psycopg

    with store_url("postgres", tmp_path) as url:
        server, _, schema = url.partition("?schema=")
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {schema} LOGIN".encode())
            try:
                theirs = f"postgresql://{schema}@{server.rpartition('@')[2]}?schema={schema}"
                with pytest.raises(StoreError, match=f"can't make or migrate the schema '{schema}': permission denied"):
                    open_store(theirs)
            finally:
                admin.execute(f"DROP ROLE {schema}".encode())


@pytest.mark.postgres
def test_a_statement_that_lost_a_deadlock_is_tried_again(tmp_path: Path) -> None:
    """Also one that is a transaction by itself."""
    import psycopg

    with store_url("postgres", tmp_path) as url:
        core = reopened(url)
        core.install(nextskin())
        task = core.enqueue().task_id
        server, _, schema = url.partition("?schema=")
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(
                f"""SET search_path = "{schema}"; CREATE SEQUENCE tries;
                CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF nextval('"{schema}".tries') = 1 THEN RAISE EXCEPTION 'lost' USING ERRCODE = 'deadlock_detected'; END IF;
                  RETURN NEW; END $$;
                CREATE TRIGGER lose BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION lose();""".encode()
            )
        core.step()
        assert [attempt.task_id for attempt in core.hosts.started] == [task]
        core.store.close()


@pytest.mark.postgres
def test_a_server_that_vanished_is_missed_soon(tmp_path: Path) -> None:
    """Within seconds, not when TCP gives up after a quarter of an hour; what the URL says goes first."""
    from nsplugin_core.store.postgres import PostgresDatabase

    with store_url("postgres", tmp_path) as url:
        database = PostgresDatabase(f"{url}&keepalives_idle=77")
        connection = database._connect()
        settings = connection.info.get_parameters()
        assert (settings["keepalives_idle"], settings["keepalives_interval"], settings["tcp_user_timeout"]) == (
            "77",
            "5",
            "30000",
        )
        assert connection.execute("SHOW statement_timeout").fetchone() == ("30s",)
        connection.close()
        database.close()


def test_a_list_does_not_keep_the_dispatcher_waiting(tmp_path: Path) -> None:
    """A page with many tasks is read beside what the loops ask, not before it."""
    store = open_store(f"sqlite:///{tmp_path / 'core.db'}")
    begun, go_on, looked = Event(), Event(), Event()

    def slowly() -> int:
        begun.set()
        go_on.wait(10)
        return 1

    def look() -> None:
        store.tasks.horizon()
        looked.set()

    database: Any = store._database
    for session in (database._reader, database._lister):
        session._connection.create_function("slowly", 0, slowly)
        session._statements["depths"] = (("SELECT 'shop', 'sync', 'dead', slowly()", lambda parameters: ()),)
    threads = [Thread(target=store.tasks.depths), Thread(target=look)]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    seen = looked.wait(5)
    go_on.set()
    for thread in threads:
        thread.join()
    store.close()
    assert seen


def test_a_file_system_without_a_write_ahead_log_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As SQLite answers on a network's file system: readers and writers would keep each other waiting."""
    import sqlite3

    class Remote(sqlite3.Connection):
        def execute(self, text: str, /, *parameters: Any) -> sqlite3.Cursor:
            return super().execute(text.replace("= WAL", "= DELETE"), *parameters)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *place, **options: real(*place, factory=Remote, **options))
    with pytest.raises(StoreError, match=r"write-ahead log \(journal mode delete\); put it on a local disk, or use PostgreSQL"):
        open_store(f"sqlite:///{tmp_path / 'core.db'}")


@pytest.mark.parametrize("name", ["InterfaceError", "DataError", "Warning"])
def test_errors_that_sqlite_has_no_name_for_are_told_as_they_are(name: str, tmp_path: Path) -> None:
    import sqlite3

    error = getattr(sqlite3, name)("too big")

    def fail(session: Any) -> None:
        raise error

    store = open_store(str(tmp_path / "core.db"))
    with pytest.raises(type(error), match="too big"):
        store._database.atomically(fail)
    store.close()
