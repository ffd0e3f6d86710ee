"""What the roles need of a database: named statements, transactions, and word that there is work.

The statements of a dialect lie in its folder as ``.sql`` files, each under a line ``-- name: …``; both dialects know the same
names with the same parameters and columns, so that one piece of Python serves both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, Protocol, TypeVar

from nsplugin_core.store.errors import NewerSchema

Row = tuple[Any, ...]
T = TypeVar("T")
STATEMENT_FILES: Final = ("tasks.sql", "registry.sql", "data.sql")


class Transaction(Protocol):
    """An open transaction."""

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a named statement (or several under one name, in turn) and return all rows."""
        ...

    def over(self, name: str, argument: str, rows: Sequence[Mapping[str, Any]], /, **parameters: Any) -> list[Row]:
        """Run a named statement over rows, its ``argument`` as JSON; or ``<name>_one`` over one row, where that is faster.

        Returns the statement's rows; of an ending, which has a claim, those that were there to be changed as (id, claim).
        """
        ...


class Database(Protocol):
    """A database of one dialect. All calls may come from any thread and raise ``StoreUnavailable`` when it can't be reached."""

    def atomically(self, work: Callable[[Transaction], T]) -> T:
        """Run ``work`` in a write transaction, durable when this returns; anew where the database asks for that."""
        ...

    def once(self, name: str, /, **parameters: Any) -> list[Row]:
        """A single named statement that writes, as its own transaction."""
        ...

    def read(self, name: str, /, **parameters: Any) -> list[Row]:
        """A named statement that only reads."""
        ...

    def announce(self) -> None:
        """Tell subscribers, in every process, that there may be work."""
        ...

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """See :class:`nsplugin_core.store.protocol.Store`."""
        ...

    def close(self) -> None:
        """Give up all connections."""
        ...


def statements(package: str) -> Mapping[str, tuple[str, ...]]:
    """The named statements of a dialect's package; more than one where a name needs several in turn."""
    return {name: parts for file in STATEMENT_FILES for name, parts in _named(files(package).joinpath(file).read_text("utf-8"))}


def _named(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for section in re.split(r"^-- name: ", text, flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("\n")
        yield name.strip(), tuple(split_statements(body))


def split_statements(text: str) -> Iterator[str]:
    """The statements of a script, without comments; each ends with a semicolon at the end of a line."""
    bare = re.sub(r"^\s*--.*\n", "", text, flags=re.MULTILINE)
    return (part.strip() for part in re.split(r";[ ]*$", bare, flags=re.MULTILINE) if part.strip())


def migrations(package: str) -> list[tuple[int, str]]:
    """The numbered migration scripts of a dialect's package, in order: ``0001_tables.sql`` is number 1."""
    found = [file for file in files(package).joinpath("migrations").iterdir() if file.name.endswith(".sql")]
    return sorted((int(file.name[:4]), file.read_text("utf-8")) for file in found)


def pending(package: str, version: int) -> list[tuple[int, str]]:
    """The migrations that a database of that schema version lacks. Raises :class:`NewerSchema` when it is beyond ours."""
    known = migrations(package)
    if version > known[-1][0]:
        raise NewerSchema(version, known[-1][0])
    return [(number, script) for number, script in known if number > version]


class Subscribers:
    """The wake-ups of one process: called one after the other, from whatever thread has the news."""

    def __init__(self) -> None:
        self._wakes: tuple[Callable[[], None], ...] = ()

    def add(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Register; the returned function ends the subscription."""
        self._wakes = (*self._wakes, wake)
        return lambda: self._remove(wake)

    def _remove(self, wake: Callable[[], None]) -> None:
        self._wakes = tuple(each for each in self._wakes if each is not wake)

    def __bool__(self) -> bool:
        return bool(self._wakes)

    def wake(self) -> None:
        """Call every subscriber."""
        for each in self._wakes:
            each()
