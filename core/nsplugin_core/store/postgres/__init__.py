"""PostgreSQL: several machines on one queue. One schema holds the tables; all its names are looked up there only."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from urllib.parse import unquote

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from nsplugin_core.store.database import Row, Subscribers, Transaction, pending, split_statements, statements
from nsplugin_core.store.errors import StoreBusy, StoreError, StoreUnavailable
from nsplugin_core.store.postgres.wakeups import Wakeups

T = TypeVar("T")
Connection = psycopg.Connection[Row]
DEFAULT_SCHEMA: Final = "nsplugin"
TRIES: Final = 5
WAIT_SECONDS: Final = 10.0
CONNECTIONS: Final = 10
NETWORK: Final = {
    # A server that vanished without a word is missed after half a minute, not when TCP gives up: then tasks start elsewhere.
    "connect_timeout": int(WAIT_SECONDS),
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30 * 1000,
}
CONFLICTS: Final = (errors.DeadlockDetected, errors.SerializationFailure)
SETTINGS: Final = (
    # A forgotten transaction holds back the clean-up of dead rows, and claims walk over those.
    "SET idle_in_transaction_session_timeout = '60s'",
    # Nothing here takes long; what waits for a lock or a stalled disk must not keep the dispatcher for ever.
    "SET statement_timeout = '30s'",
    # A plan made while the queue was empty reads the whole table; kept for a prepared statement, it would do so for ever.
    "SET enable_seqscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET jit = off",
)


class PostgresDatabase:
    """A pool of connections to one schema, ``?schema=…`` in the URL (default ``nsplugin``); made and migrated when it opens."""

    def __init__(self, url: str) -> None:
        self._url, self._schema = _split_schema(url)
        self._options: dict[str, Any] = {
            "autocommit": True,
            "fallback_application_name": f"nsplugin:{self._schema}",
            **_unnamed(self._url),
        }
        self._statements = {name: tuple(map(str.encode, parts)) for name, parts in statements(__name__).items()}
        self._migrate()
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            self._url,
            min_size=1,
            max_size=CONNECTIONS,
            timeout=WAIT_SECONDS,
            kwargs=self._options,
            configure=self._configure,
            open=True,
        )
        self._subscribers = Subscribers()
        self._wakeups = Wakeups(self._connect, channel=self._schema, sender=uuid.uuid4().hex, wake=self._subscribers.wake)

    def atomically(self, work: Callable[[Transaction], T]) -> T:
        """A write transaction, tried again when it lost a deadlock."""

        def transact(connection: Connection) -> T:
            with connection.transaction():
                return work(_Session(connection, self._statements))

        return self._again(transact)

    def once(self, name: str, /, **parameters: Any) -> list[Row]:
        """A single named statement that writes."""
        if len(self._statements[name]) > 1:
            return self.atomically(lambda transaction: transaction.run(name, **parameters))
        return self._again(lambda connection: _Session(connection, self._statements).run(name, **parameters))

    def read(self, name: str, /, **parameters: Any) -> list[Row]:
        """A named statement in its own transaction."""
        with self._connection() as connection:
            return _Session(connection, self._statements).run(name, **parameters)

    def _again(self, work: Callable[[Connection], T]) -> T:
        for remaining in reversed(range(TRIES)):
            try:
                with self._connection() as connection:
                    return work(connection)
            except CONFLICTS as error:
                if not remaining:
                    raise StoreBusy(f"the database is too busy: {_first_line(error)}") from error
        raise AssertionError("unreachable")

    def announce(self) -> None:
        """Wake this process at once and the others soon: NOTIFY is sent after the commit, and not once for every task."""
        self._subscribers.wake()
        self._wakeups.announce()

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Wake on tasks accepted here or by another process."""
        end = self._subscribers.add(wake)
        self._wakeups.listen()
        return end

    def close(self) -> None:
        """Send what is still to be told and close the pool."""
        self._wakeups.close()
        self._pool.close()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        try:
            connection = self._pool.getconn()
            try:
                yield connection
            finally:
                self._pool.putconn(connection)
        except (PoolTimeout, PoolClosed) as error:
            raise StoreUnavailable(f"no connection to PostgreSQL: {error}") from error
        except CONFLICTS:
            raise
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            self._pool.check()
            raise StoreUnavailable(f"PostgreSQL does not answer: {_first_line(error)}") from error

    def _connect(self) -> Connection:
        connection = psycopg.connect(self._url, **self._options)
        self._configure(connection)
        return connection

    def _configure(self, connection: Connection) -> None:
        connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(self._schema)))
        for setting in SETTINGS:
            connection.execute(setting)

    def _migrate(self) -> None:
        try:
            with psycopg.connect(self._url, **self._options) as connection:
                _migrate(connection, self._schema)
        except psycopg.OperationalError as error:
            raise StoreUnavailable(f"can't open PostgreSQL: {_first_line(error)}") from error
        except psycopg.Error as error:
            raise StoreError(f"can't make or migrate the schema {self._schema!r}: {_first_line(error)}") from error


class _Session:
    """Named statements on one connection."""

    __slots__ = ("_connection", "_statements")

    def __init__(self, connection: Connection, named: Mapping[str, tuple[bytes, ...]]) -> None:
        self._connection, self._statements = connection, named

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        rows: list[Row] = []
        for query in self._statements[name]:
            cursor = self._connection.execute(query, parameters)
            if cursor.description is not None:
                rows += cursor.fetchall()
        return rows

    def over(self, name: str, argument: str, rows: Sequence[Mapping[str, Any]], /, **parameters: Any) -> list[Row]:
        return self.run(name, **{argument: json.dumps(rows)}, **parameters)


def _migrate(connection: Connection, schema: str) -> None:
    """One process at a time migrates; the others wait and find it done."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s), hashtext('migrate'))", (schema,))
        if connection.execute("SELECT to_regnamespace(%s)", (f'"{schema}"',)).fetchone() == (None,):
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        connection.execute(sql.SQL("SET LOCAL search_path = {}").format(sql.Identifier(schema)))
        connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)")
        (found,) = connection.execute("SELECT coalesce(max(version), 0) FROM schema_version").fetchall()[0]
        for number, script in pending(__name__, found):
            for statement in split_statements(script):
                connection.execute(statement.encode())
            connection.execute("INSERT INTO schema_version VALUES (%s)", (number,))


def _split_schema(url: str) -> tuple[str, str]:
    """The URL as libpq knows it, and the schema; only that parameter is ours."""
    start, _, query = url.partition("?")
    rest = [part for part in query.split("&") if part and not part.startswith("schema=")]
    named = [unquote(part.removeprefix("schema=")) for part in query.split("&") if part.startswith("schema=")]
    return start + ("?" + "&".join(rest) if rest else ""), named[-1] if named else DEFAULT_SCHEMA


def _unnamed(url: str) -> dict[str, Any]:
    """The settings of the network that the URL leaves to us."""
    try:
        named = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        why = _first_line(error)  # not the URL itself: it may hold a password
        raise StoreError(f"this is no PostgreSQL URL ({why}): write postgresql://user@host:5432/database") from error
    return {name: value for name, value in NETWORK.items() if name not in named}


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
