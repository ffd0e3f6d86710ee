"""Where tasks live: SQLite or PostgreSQL behind one protocol."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nsplugin_core.store.data import SqlData
from nsplugin_core.store.database import Database
from nsplugin_core.store.errors import StoreError
from nsplugin_core.store.registry import SqlRegistry
from nsplugin_core.store.tasks import SqlTasks

MEMORY = "sqlite://:memory:"


class SqlStore:
    """:class:`nsplugin_core.store.protocol.Store` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.tasks = SqlTasks(database)
        self.registry = SqlRegistry(database)
        self.data = SqlData(database)

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call ``wake`` after tasks were accepted, until the returned function is called."""
        return self._database.subscribe(wake)

    def close(self) -> None:
        """Give up connections."""
        self._database.close()


def open_store(url: str) -> SqlStore:
    """Open, and make or migrate, the store of a URL.

    ``sqlite:///core.db`` (relative), ``sqlite:////var/core.db`` (absolute), a plain path, :data:`MEMORY`, or
    ``postgresql://host/database`` with an optional ``?schema=…``. Raises :class:`StoreError` when that can't be done.
    """
    if url.startswith(("postgresql://", "postgres://")):
        return SqlStore(_postgres(url))
    if url.startswith("sqlite://"):
        return SqlStore(_sqlite(url.removeprefix("sqlite://").removeprefix("/")))
    if "://" in url:
        raise StoreError(f"{url!r} is no database: use sqlite:///path/core.db or postgresql://user@host/database")
    return SqlStore(_sqlite(url))


def open_transient() -> SqlStore:
    """A store in memory that is given up at the first error: all it ever does is one transaction, which ends with it.

    For a simulation in one thread, whose errors end it.
    """
    from nsplugin_core.store.sqlite import MEMORY as IN_MEMORY
    from nsplugin_core.store.sqlite import SqliteDatabase

    return SqlStore(SqliteDatabase(IN_MEMORY, transient=True))


def _sqlite(path: str) -> Database:
    from nsplugin_core.store.sqlite import MEMORY as IN_MEMORY
    from nsplugin_core.store.sqlite import SqliteDatabase

    if path != IN_MEMORY and Path(path).is_dir():
        raise StoreError(f"{path} is a folder: name a file in it, such as {Path(path) / 'core.db'}")
    return SqliteDatabase(path)


def _postgres(url: str) -> Database:
    try:
        from nsplugin_core.store.postgres import PostgresDatabase
    except ModuleNotFoundError as error:
        raise StoreError("PostgreSQL needs one more package: pip install 'nsplugin[postgres]'") from error
    return PostgresDatabase(url)
