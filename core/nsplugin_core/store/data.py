"""Plugins' own values and locks over named statements: one piece of Python for both dialects."""

from __future__ import annotations

import sys
from typing import Final

from nsplugin.record import names
from nsplugin_core.store.database import Database, Row, Transaction
from nsplugin_core.store.errors import UnknownPlugin
from nsplugin_core.store.records import Entry, LockLease

_ENTRY: Final = names(Entry)
_LEASE: Final = names(LockLease)


class SqlData:
    """:class:`nsplugin_core.store.protocol.DataStore` on a database."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def entry(self, plugin: str, namespace: str, key: str, *, now: int) -> Entry | None:
        """The value, unless it is absent or expired."""
        rows = self._database.read("entry", plugin=plugin, namespace=namespace, key=key, now=now)
        return _entry(rows[0]) if rows else None

    def put(
        self,
        plugin: str,
        namespace: str,
        key: str,
        value: str,
        *,
        now: int,
        expires_at: int | None = None,
        expected: int | None = None,
    ) -> int | None:
        """Write and return the new version, or ``None`` when ``expected`` is not the version now."""
        name = {None: "put", 0: "put_absent"}.get(expected, "put_expected")
        rows = self._database.once(
            name, plugin=plugin, namespace=namespace, key=key, value=value, now=now, expires_at=expires_at, expected=expected
        )
        if not rows and expected is None:
            raise UnknownPlugin(plugin)
        return rows[0][0] if rows else None

    def remove(self, plugin: str, namespace: str, key: str, *, now: int, expected: int | None = None) -> bool:
        """Delete; whether something was deleted."""
        return bool(self._database.once("remove", plugin=plugin, namespace=namespace, key=key, now=now, expected=expected))

    def entries(
        self, plugin: str, namespace: str, *, now: int, prefix: str = "", after: str = "", limit: int = 100
    ) -> list[Entry]:
        """Entries by key."""
        beyond = _successor(prefix)
        terms = {"plugin": plugin, "namespace": namespace, "now": now, "prefix": prefix, "after": after, "limit": limit}
        rows = (
            self._database.read("entries", **terms)
            if beyond is None
            else self._database.read("entries_below", beyond=beyond, **terms)
        )
        return [_entry(row) for row in rows]

    def lock(self, plugin: str, name: str, owner: str, *, now: int, ttl_ms: int) -> LockLease | None:
        """Take a free or expired lock."""

        def take(transaction: Transaction) -> list[Row]:
            transaction.run("lock_guard", plugin=plugin, name=name)
            return transaction.run("lock", plugin=plugin, name=name, owner=owner, now=now, expires_at=now + ttl_ms)

        return _lease(self._database.atomically(take))

    def renew(self, plugin: str, name: str, token: int, *, now: int, ttl_ms: int) -> LockLease | None:
        """Prolong a lease that still stands."""
        return _lease(self._database.once("renew", plugin=plugin, name=name, token=token, now=now, expires_at=now + ttl_ms))

    def unlock(self, plugin: str, name: str, token: int, *, now: int) -> bool:
        """Give a lease back; whether it was still held."""
        return bool(self._database.once("unlock", plugin=plugin, name=name, token=token, now=now))


def _successor(prefix: str) -> str | None:
    """The first text, by code point, behind all that begin with the prefix; ``None``: there is none."""
    bare = prefix.rstrip(chr(sys.maxunicode))
    if not bare:
        return None
    last = ord(bare[-1])
    return bare[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)  # no text holds a surrogate


def _entry(row: Row) -> Entry:
    return Entry(**dict(zip(_ENTRY, row, strict=True)))


def _lease(rows: list[Row]) -> LockLease | None:
    return LockLease(**dict(zip(_LEASE, rows[0], strict=True))) if rows else None
