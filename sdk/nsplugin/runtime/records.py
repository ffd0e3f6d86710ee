"""``data`` and ``schema``: the workspace's records and what they look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nsplugin.record import field, record
from nsplugin.runtime.calls import Call
from nsplugin.runtime.invocation import Run
from nsplugin.runtime.storage import Page

Mode = Literal["invocation", "user", "system"]
"""On whose behalf records are touched: the run's own identity, its user's, or the system's (spec/cogover.md X1, X9)."""


@record
class Record:
    """A record: ``fields`` are those that were asked for, ``system`` what the platform notes (``createdAt``, ``updatedAt``)."""

    id: str
    fields: dict[str, Any] = field(default_factory=dict)
    system: dict[str, Any] = field(default_factory=dict)


@record(kw_only=False)
class Condition:
    """A test on a field; ``&`` and ``|`` join tests, ``~`` turns one round."""

    plain: dict[str, Any]

    def __and__(self, other: Condition) -> Condition:
        return Condition({"op": "and", "of": [self.plain, other.plain]})

    def __or__(self, other: Condition) -> Condition:
        return Condition({"op": "or", "of": [self.plain, other.plain]})

    def __invert__(self) -> Condition:
        return Condition({"op": "not", "of": [self.plain]})


class Field:
    """A field by name, to make conditions of."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def eq(self, value: Any) -> Condition:
        """Equal."""
        return self._test("eq", value)

    def ne(self, value: Any) -> Condition:
        """Not equal."""
        return self._test("ne", value)

    def lt(self, value: Any) -> Condition:
        """Less."""
        return self._test("lt", value)

    def lte(self, value: Any) -> Condition:
        """Less or equal."""
        return self._test("lte", value)

    def gt(self, value: Any) -> Condition:
        """Greater."""
        return self._test("gt", value)

    def gte(self, value: Any) -> Condition:
        """Greater or equal."""
        return self._test("gte", value)

    def is_in(self, values: Sequence[Any]) -> Condition:
        """One of several."""
        return self._test("in", list(values))

    def contains(self, text: str) -> Condition:
        """Contains a text."""
        return self._test("contains", text)

    def is_null(self) -> Condition:
        """Has no value."""
        return self._test("eq", None)

    def _test(self, operator: str, value: Any) -> Condition:
        return Condition({"op": operator, "field": self.name, "value": value})


class Fields:
    """``orders.fields.status`` is the field of that name; ``orders.fields["order date"]`` too."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Field:
        if name.startswith("__"):
            raise AttributeError(name)
        return Field(name)

    def __getitem__(self, name: str) -> Field:
        return Field(name)


class Records:
    """The records of one object."""

    __slots__ = ("_mode", "_object", "_run")

    def __init__(self, run: Run, name: str, mode: Mode) -> None:
        self._run, self._object, self._mode = run, name, mode

    def list(
        self,
        query: Mapping[str, Any] | None = None,
        /,
        *,
        where: Condition | None = None,
        fields: Sequence[str] | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Call[Page]:
        """A page of records (``limit`` 1–200). ``order_by``: a field, ``-field`` for the greatest first. The arguments may
        be given as one mapping instead."""
        named = {"where": where, "fields": fields, "order_by": order_by, "limit": limit, "cursor": cursor}
        return self._call("list", {**named, **_by_name(query, named)}, _page)

    def get(self, id: str, *, fields: Sequence[str] | None = None) -> Call[Record]:
        """One record. Raises ``NotFoundError``."""
        return self._call("get", {"id": id, "fields": fields}, _record)

    def create(self, fields: Mapping[str, Any]) -> Call[Record]:
        """Make a record."""
        return self._call("create", {"fields": fields}, _record)

    def update(self, id: str, fields: Mapping[str, Any]) -> Call[Record]:
        """Change fields of a record. Raises ``NotFoundError``."""
        return self._call("update", {"id": id, "fields": fields}, _record)

    def delete(self, id: str) -> Call[None]:
        """Delete a record. Raises ``NotFoundError``."""
        return self._call("delete", {"id": id}, None)

    def aggregate(
        self,
        *,
        measures: Mapping[str, str],
        where: Condition | None = None,
        group_by: Sequence[str] = (),
    ) -> Call[Sequence[dict[str, Any]]]:
        """Counts and sums: ``measures={"total": "sum:amount", "orders": "count"}``, one row for each group.

        Grouping needs ``data.as_system()`` (spec/cogover.md X9).
        """
        return self._call("aggregate", {"measures": measures, "where": where, "group_by": group_by}, None)

    def _call(self, method: str, arguments: Mapping[str, Any], convert: Any) -> Call[Any]:
        plain = {name: _plain(value) for name, value in arguments.items()}
        return self._run.caller.call(f"data.{method}", {"mode": self._mode, "object": self._object, **plain}, convert)


class DataObject:
    """One object of the workspace: its records, and its fields for conditions."""

    __slots__ = ("fields", "name", "records")

    def __init__(self, run: Run, name: str, mode: Mode) -> None:
        self.name = name
        self.records = Records(run, name, mode)
        self.fields = Fields()


class Data:
    """Records under the run's identity; :meth:`as_user` and :meth:`as_system` name another, within the project's policy."""

    __slots__ = ("_mode", "_run")

    def __init__(self, run: Run, mode: Mode = "invocation") -> None:
        self._run = run
        self._mode: Mode = mode

    def object(self, name: str) -> DataObject:
        """An object by name."""
        return DataObject(self._run, name, self._mode)

    def as_user(self) -> Data:
        """With the rights of the run's user."""
        return Data(self._run, "user")

    def as_system(self) -> Data:
        """With the system's rights, if the project's identity policy allows it."""
        return Data(self._run, "system")


class Schema:
    """What objects the workspace has and what fields they have."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def objects(self) -> Call[list[str]]:
        """The names of the objects."""
        return self._run.caller.call("schema.objects", {})

    def object(self, name: str) -> Call[dict[str, Any]]:
        """One object's description: ``name`` and ``fields``. Raises ``NotFoundError``."""
        return self._run.caller.call("schema.object", {"name": name})


def _by_name(query: Mapping[str, Any] | None, known: Mapping[str, Any]) -> dict[str, Any]:
    given = {("order_by" if name == "orderBy" else name): value for name, value in (query or {}).items()}
    unknown = given.keys() - known.keys()
    if unknown:
        raise TypeError(f"records.list has no {', '.join(sorted(unknown))}; it has {', '.join(known)}")
    return given


def _plain(value: Any) -> Any:
    if isinstance(value, Condition):
        return value.plain
    return list(value) if isinstance(value, tuple) else value


def _record(answer: Any) -> Record:
    return Record(**answer)


def _page(answer: Any) -> Page:
    return Page(items=[Record(**item) for item in answer["items"]], next_cursor=answer["next_cursor"])
