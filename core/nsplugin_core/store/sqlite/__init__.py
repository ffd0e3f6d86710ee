"""SQLite: one file, no service, one writer at a time. Also ``:memory:``, for simulations."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeVar

from nsplugin_core.store.database import Row, Subscribers, Transaction, pending, split_statements, statements
from nsplugin_core.store.errors import StoreError, StoreUnavailable
from nsplugin_core.store.sqlite.watch import Watch

T = TypeVar("T")
MEMORY: Final = ":memory:"
OLDEST: Final = (3, 38, 0)
BUSY_SECONDS: Final = 30.0
WAL_BYTES: Final = 64 * 1024 * 1024
LISTS: Final = frozenset({
    "depths", "depths_of", "page_unfinished", "page_unfinished_job", "page_finished", "page_finished_job", "attempts", "recent",
    "entries", "entries_below",
})  # fmt: skip
_Statement = tuple[str, Callable[[Mapping[str, Any]], tuple[Any, ...]]]
"""A statement with numbered parameters, and what takes their values out of the named ones: bound by name, they cost twice."""


class SqliteDatabase:
    """A database file with three connections a process, each used by one thread at a time: one writes, two read.

    What people look at has a reader of its own: a long list must not keep the dispatcher waiting. ``transient``: nothing is
    ever committed, nor taken back alone; after an error the database is of no use.
    """

    def __init__(self, path: str, *, transient: bool = False) -> None:
        _check_library()
        self._path = path
        self._statements = {name: tuple(map(_numbered, parts)) for name, parts in statements(__name__).items()}
        self._writer = _Session(path, self._statements)
        self._reader, self._lister = (self._writer if path == MEMORY else _Session(path, self._statements) for _ in range(2))
        self._subscribers = Subscribers()
        self._watch: Watch | None = None
        self._writer.migrate()
        if transient:
            self._writer.join()

    def atomically(self, work: Callable[[Transaction], T]) -> T:
        """A write transaction; other writers, of this process and others, wait for it."""
        return self._writer.write(work)

    def once(self, name: str, /, **parameters: Any) -> list[Row]:
        """A named statement that writes, as its own transaction."""
        if len(self._statements[name]) == 1:
            return self._writer.alone(name, parameters)
        return self._writer.write(lambda session: session.parts(name, parameters))

    def read(self, name: str, /, **parameters: Any) -> list[Row]:
        """A named statement that only reads; writers don't make it wait."""
        return (self._lister if name in LISTS else self._reader).alone(name, parameters)

    def announce(self) -> None:
        """Wake this process at once; watchers in other processes see the file change."""
        self._subscribers.wake()

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Wake on tasks accepted here, and on changes by other processes, seen within some milliseconds."""
        end = self._subscribers.add(wake)
        if self._watch is None and self._path != MEMORY:
            self._watch = Watch(self._path, self._subscribers.wake)
        return end

    def close(self) -> None:
        """Fold the log into the file and close."""
        if self._watch is not None:
            self._watch.close()
        for session in (self._lister, self._reader, self._writer):
            session.close()


class _Session:
    """A connection and the lock that gives it to one thread at a time. Every statement's rows are fetched at once."""

    def __init__(self, path: str, named: Mapping[str, tuple[_Statement, ...]]) -> None:
        self._statements = named
        self._lock = threading.RLock()
        self._path = path
        self._joined = False
        try:
            self._connection = _connected(path)
        except sqlite3.Error as error:
            raise _translation(path, error) from error
        self._cursor = self._connection.cursor()

    def write(self, work: Callable[[_Session], T]) -> T:
        """One transaction, with the write lock from its start: taken later, it could fail at once as out of date."""
        with self._lock:
            try:
                if self._joined:
                    return work(self)
                self._cursor.execute("BEGIN IMMEDIATE")
                try:
                    result = work(self)
                    self._cursor.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        self._cursor.execute("ROLLBACK")
                    raise
                return result
            except sqlite3.Error as error:
                raise _translation(self._path, error) from error

    def alone(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        """A single statement, which is a transaction in itself."""
        with self._lock:
            try:
                text, values = self._statements[name][0]
                return self._cursor.execute(text, values(parameters)).fetchall()
            except sqlite3.Error as error:
                raise _translation(self._path, error) from error

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        return self.parts(name, parameters)

    def over(self, name: str, argument: str, rows: Sequence[Mapping[str, Any]], /, **parameters: Any) -> list[Row]:
        """One row goes without JSON, which costs more than all the rest of a statement."""
        if len(rows) == 1:
            return self._over_one(f"{name}_one", {**rows[0], **parameters})
        return self.parts(name, {argument: json.dumps(rows), **parameters})

    def _over_one(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        """Its first statement tells whether the row is there to be changed; only then the others have their turn."""
        cursor = self._cursor
        (text, values), *others = self._statements[name]
        if cursor.execute(text, values(parameters)).rowcount == 0:
            return []
        for text, values in others:
            cursor.execute(text, values(parameters))
        return [(parameters["id"], parameters.get("claim"))]

    def parts(self, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        """The statements under one name, in turn; all their rows."""
        found: list[Row] = []
        for text, values in self._statements[name]:
            found += self._cursor.execute(text, values(parameters)).fetchall()
        return found

    def join(self) -> None:
        """From now on everything is one transaction."""
        self._cursor.execute("BEGIN IMMEDIATE")
        self._joined = True

    def migrate(self) -> None:
        """Bring the schema up to date; a second process waits here and finds it done."""
        self.write(lambda session: session._migrate())

    def _migrate(self) -> None:
        self._connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT")
        found = self._connection.execute("SELECT coalesce(max(version), 0) FROM schema_version").fetchone()[0]
        for number, script in pending(__name__, found):
            for statement in split_statements(script):
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO schema_version VALUES (?)", (number,))

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def _connected(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if path != MEMORY and mode != "wal":
            why = f"its file system does not allow SQLite's write-ahead log (journal mode {mode})"
            raise StoreError(f"the database {path} can't be used: {why}; put it on a local disk, or use PostgreSQL")
        connection.execute("PRAGMA synchronous = FULL")  # every commit is durable, against a power cut too
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        if path == MEMORY:
            connection.execute("PRAGMA secure_delete = OFF")
    except (sqlite3.Error, StoreError):
        connection.close()
        raise
    return connection


def _numbered(statement: str) -> _Statement:
    names = list(dict.fromkeys(re.findall(r":(\w+)", statement)))
    text = re.sub(r":(\w+)", lambda match: f"?{names.index(match[1]) + 1}", statement)
    if not names:
        return text, lambda parameters: ()
    if len(names) == 1:
        return text, lambda parameters: (parameters[names[0]],)
    return text, itemgetter(*names)


def _check_library() -> None:
    if sqlite3.sqlite_version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise StoreError(
            f"Python's SQLite is {sqlite3.sqlite_version}; nsplugin needs {wanted} or newer: use a newer Python, or PostgreSQL"
        )


def _translation(path: str, error: sqlite3.Error) -> Exception:
    """What callers can act on; a fault of ours (SQLITE_ERROR, a broken constraint) stays what it is."""
    if isinstance(error, sqlite3.ProgrammingError):
        return StoreUnavailable(f"the database {path} was closed") if "closed database" in str(error) else error
    name = getattr(error, "sqlite_errorname", "")  # errors of the module itself have none
    if name in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
        return StoreError(f"{path} is not a usable SQLite database: {error}")
    if not isinstance(error, sqlite3.OperationalError) or name == "SQLITE_ERROR":
        return error
    return StoreUnavailable(_explained(path, error))


def _explained(path: str, error: Exception) -> str:
    folder = Path(path).parent
    if "unable to open" in str(error) and not folder.is_dir():
        return f"can't open the database {path}: the folder {folder} does not exist"
    return f"the database {path} can't be used now: {error}"
