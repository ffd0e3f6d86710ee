"""The workspace's records and objects as a Cogover job sees them: ``data`` and ``schema`` (spec/cogover.md X1, X9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from nsplugin.context import Call, Json

Item = TypeVar("Item")


class Page(Protocol[Item]):
    """Items, and where to go on."""

    @property
    def items(self) -> list[Item]:
        """The items of this page."""
        ...

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page, ``None`` on the last one."""
        ...


class Record(Protocol):
    """A record of an object."""

    @property
    def id(self) -> str:
        """The record's id."""
        ...

    @property
    def fields(self) -> dict[str, Json]:
        """The fields that were asked for, by name."""
        ...

    @property
    def system(self) -> dict[str, Json]:
        """What the platform notes about the record, such as its version."""
        ...


class Condition(Protocol):
    """A test on records: ``a & b`` wants both, ``a | b`` one of them, ``~a`` the contrary."""

    def __and__(self, other: Any, /) -> Condition: ...

    def __or__(self, other: Any, /) -> Condition: ...

    def __invert__(self) -> Condition: ...


class Field(Protocol):
    """A field of an object, to make conditions of. Values are JSON data; text and numbers have an order."""

    def eq(self, value: Json) -> Condition:
        """Equal to the value."""
        ...

    def ne(self, value: Json) -> Condition:
        """Not equal to the value."""
        ...

    def lt(self, value: Json) -> Condition:
        """Less than the value."""
        ...

    def lte(self, value: Json) -> Condition:
        """Less than the value, or equal to it."""
        ...

    def gt(self, value: Json) -> Condition:
        """Greater than the value."""
        ...

    def gte(self, value: Json) -> Condition:
        """Greater than the value, or equal to it."""
        ...

    def is_in(self, values: Sequence[Json]) -> Condition:
        """Equal to one of the values."""
        ...

    def contains(self, text: str) -> Condition:
        """Contains the text."""
        ...

    def is_null(self) -> Condition:
        """Has no value."""
        ...


class Fields(Protocol):
    """The fields of an object: ``orders.fields.status``, or ``orders.fields["order date"]``."""

    def __getattr__(self, name: str, /) -> Field: ...

    def __getitem__(self, name: str, /) -> Field: ...


class Records(Protocol):
    """The records of one object. Conditions are made of the object's fields (``orders.fields.status.eq("new")``).

    Calls raise ``PermissionDeniedError`` where the run's identity has no right to them.
    """

    def list(
        self,
        query: Mapping[str, Any] | None = None,
        /,
        *,
        where: Any = None,
        fields: Sequence[str] | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Call[Page[Record]]:
        """A page of records (``limit`` 1–200) that fit the condition ``where``.

        ``order_by``: a field, ``-field`` for the greatest first. One mapping may hold the arguments instead.
        """
        ...

    def get(self, id: str, *, fields: Sequence[str] | None = None) -> Call[Record]:
        """One record. Raises ``NotFoundError``."""
        ...

    def create(self, fields: Mapping[str, Json]) -> Call[Record]:
        """Make a record. Raises ``ValidationError`` for fields that the object does not take."""
        ...

    def update(self, id: str, fields: Mapping[str, Json]) -> Call[Record]:
        """Change fields of a record. Raises ``NotFoundError``."""
        ...

    def delete(self, id: str) -> Call[None]:
        """Delete a record. Raises ``NotFoundError``."""
        ...

    def aggregate(
        self, *, measures: Mapping[str, str], where: Condition | None = None, group_by: Sequence[str] = ()
    ) -> Call[Sequence[dict[str, Json]]]:
        """Counts and sums, one row for each group: ``measures={"total": "sum:amount", "orders": "count"}``.

        Measures are ``count``, and ``sum``, ``min``, ``max``, ``avg`` of a field. A row has them, and the fields of
        ``group_by`` (at most 10), by name. Raises ``ValidationError`` for other measures and for values that cannot be added.
        Grouping needs the system's rights: in a run with a user ``data.as_system()``, else ``PermissionDeniedError``.
        """
        ...


class DataObject(Protocol):
    """One object of the workspace: its records, and its fields for conditions."""

    @property
    def records(self) -> Records:
        """The records."""
        ...

    @property
    def fields(self) -> Fields:
        """The fields by name."""
        ...


class Data(Protocol):
    """The workspace's records: ``data``."""

    def object(self, name: str) -> DataObject:
        """An object by name, with the rights of the run's identity; its calls raise ``PermissionDeniedError``."""
        ...

    def as_user(self) -> Data:
        """The same with the user's rights."""
        ...

    def as_system(self) -> Data:
        """The same with the system's rights, where the identity policy grants them."""
        ...


class Schema(Protocol):
    """What objects the workspace has, and what fields they have: ``schema``."""

    def objects(self) -> Call[list[str]]:
        """The names of the objects."""
        ...

    def object(self, name: str) -> Call[dict[str, Json]]:
        """One object's description: ``name`` and ``fields``. Raises ``NotFoundError``."""
        ...
