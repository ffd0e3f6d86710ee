"""Local stand-ins for providers: what ``nsplugin dev`` and an author's tests run on. In memory, and told what to hold."""

from __future__ import annotations

import copy
import itertools
import operator
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nsplugin.runtime.enqueueing import INVALID
from nsplugin.runtime.faults import Fault
from nsplugin.runtime.providers import Access, Completed, Providers


class LocalData:
    """Records by object and id; also the schema, read off the records that are there."""

    def __init__(self, objects: Mapping[str, Iterable[Mapping[str, Any]]] | None = None) -> None:
        """``objects``: records by object; each a mapping of fields, its ``id`` among them if it matters.

        Raises ``ValueError`` when two records of an object have one id.
        """
        self._objects: dict[str, dict[str, dict[str, Any]]] = {}
        self._given: dict[str, set[str]] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()
        for name, records in (objects or {}).items():
            self._fill(name, [copy.deepcopy(dict(record)) for record in records])

    def _fill(self, name: str, records: Sequence[dict[str, Any]]) -> None:
        self._objects[name] = {}
        self._given[name] = {str(record["id"]) for record in records if record.get("id") is not None}
        for record in records:
            try:
                self._insert(name, record)
            except Fault as fault:
                raise ValueError(fault.message) from None

    def _insert(self, name: str, fields: dict[str, Any]) -> dict[str, Any]:
        given = fields.pop("id", None)
        id = self._free(name) if given is None else str(given)
        if id in self._objects[name]:
            raise Fault(INVALID, f"data: {name} has a record {id!r} already", object=name, id=id)
        record = {"id": id, "fields": fields, "system": {"version": 1}}
        self._objects[name][id] = record
        return record

    def _free(self, name: str) -> str:
        """An id that no record has, or will have."""
        drawn = (f"{name}-{number}" for number in self._numbers)
        return next(id for id in drawn if id not in self._given[name] and id not in self._objects[name])

    def _records(self, name: str) -> dict[str, dict[str, Any]]:
        if name not in self._objects:
            known = ", ".join(sorted(self._objects)) or "none"
            raise Fault("NOT_FOUND", f"data: there is no object {name!r} (there are: {known})", object=name)
        return self._objects[name]

    def _record(self, name: str, id: str) -> dict[str, Any]:
        record = self._records(name).get(id)
        if record is None:
            raise Fault("NOT_FOUND", f"data: {name} has no record {id!r}", object=name, id=id)
        return record

    def list(
        self,
        access: Access,
        object: str,
        *,
        where: Mapping[str, Any] | None,
        fields: Sequence[str] | None,
        order_by: str | None,
        limit: int,
        cursor: str | None,
    ) -> dict[str, Any]:
        """A page of records; the cursor is how many came before."""
        with self._lock:
            found = [record for record in self._records(object).values() if _fits(record, where)]
        if order_by is not None:
            name = order_by.removeprefix("-")
            found.sort(key=lambda record: _sortable(record["fields"].get(name)), reverse=order_by.startswith("-"))
        start = int(cursor) if cursor is not None and cursor.isdecimal() else 0
        end = start + limit
        items = [_shown(record, fields) for record in found[start:end]]
        return {"items": items, "next_cursor": str(end) if end < len(found) else None}

    def get(self, access: Access, object: str, id: str, *, fields: Sequence[str] | None) -> dict[str, Any]:
        """One record."""
        with self._lock:
            return _shown(self._record(object, id), fields)

    def create(self, access: Access, object: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Make a record."""
        with self._lock:
            self._records(object)
            return _shown(self._insert(object, dict(values)), None)

    def update(self, access: Access, object: str, id: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Change a record."""
        with self._lock:
            record = self._record(object, id)
            if "id" in values:
                raise Fault(INVALID, "data: a record's id can't be changed", object=object, id=id)
            record["fields"].update(values)
            record["system"]["version"] += 1
            return _shown(record, None)

    def delete(self, access: Access, object: str, id: str) -> None:
        """Delete a record."""
        with self._lock:
            self._record(object, id)
            del self._objects[object][id]

    def aggregate(
        self,
        access: Access,
        object: str,
        *,
        measures: Mapping[str, str],
        where: Mapping[str, Any] | None,
        group_by: Sequence[str],
    ) -> Sequence[dict[str, Any]]:
        """A row for each group, one row for all when nothing is grouped."""
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {} if group_by else {(): []}
        with self._lock:
            for record in self._records(object).values():
                if _fits(record, where):
                    groups.setdefault(_group(record["fields"], group_by), []).append(record["fields"])
        return [dict(zip(group_by, key, strict=True)) | _measured(measures, rows) for key, rows in groups.items()]

    def objects(self, access: Access) -> Sequence[str]:
        """The names of the objects."""
        return sorted(self._objects)

    def object(self, access: Access, name: str) -> dict[str, Any]:
        """The fields that occur in an object's records."""
        with self._lock:
            names = {field for record in self._records(name).values() for field in record["fields"]}
        return {"name": name, "fields": [{"name": field} for field in sorted(names)]}

    def all(self, name: str) -> Sequence[dict[str, Any]]:
        """The records of an object as they are now, for a test to look at: fields and ``id``."""
        with self._lock:
            return [{"id": record["id"], **copy.deepcopy(record["fields"])} for record in self._records(name).values()]


def _shown(record: Mapping[str, Any], fields: Sequence[str] | None) -> dict[str, Any]:
    shown = record["fields"] if fields is None else {name: record["fields"].get(name) for name in fields}
    return {"id": record["id"], "fields": dict(shown), "system": dict(record["system"])}


_TESTS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
    "in": lambda value, several: value in several,
    "contains": lambda value, part: part in value,
}


def _fits(record: Mapping[str, Any], where: Mapping[str, Any] | None) -> bool:
    if where is None:
        return True
    kind, parts = str(where.get("op")), where.get("of", ())
    if kind in _JOINS:
        return _JOINS[kind](_fits(record, part) for part in parts)
    if kind not in _TESTS:
        raise Fault(INVALID, f"data: there is no condition {kind!r}")
    wanted: Any = where.get("value")
    value = record["id"] if where.get("field") == "id" else record["fields"].get(where.get("field"))
    try:
        return bool(_TESTS[kind](value, wanted))
    except TypeError:
        return False


_JOINS: Final[Mapping[Any, Callable[[Iterable[bool]], bool]]] = {
    "and": all,
    "or": any,
    "not": lambda parts: not any(parts),
}


def _sortable(value: Any) -> tuple[int, Any]:
    kinds = ((type(None), 0), (bool, 1), (int, 2), (float, 2), (str, 3))
    rank = next((rank for kind, rank in kinds if isinstance(value, kind)), 4)
    return rank, value if rank in (1, 2, 3) else 0


def _group(fields: Mapping[str, Any], group_by: Sequence[str]) -> tuple[Any, ...]:
    for name in group_by:
        if isinstance(fields.get(name), (list, dict)):
            raise Fault(INVALID, f"data: records can't be grouped by {name}: it holds lists or mappings", field=name)
    return tuple(fields.get(name) for name in group_by)


def _measured(measures: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: _measure(measure, rows) for name, measure in measures.items()}


def _measure(measure: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    kind, _, name = str(measure).partition(":")
    values = [row[name] for row in rows if row.get(name) is not None] if name else list(rows)
    if kind == "count":
        return len(values)
    if kind not in _MEASURES or not name:
        raise Fault(INVALID, f'data: there is no measure {measure!r}; write "count" or "sum:amount" (min, max, avg)')
    try:
        return _MEASURES[kind](values) if values else None
    except TypeError as error:
        raise Fault(INVALID, f'data: "{measure}" cannot be made of these values: {error}', field=name) from None


_MEASURES: Final[Mapping[str, Callable[[list[Any]], Any]]] = {
    "sum": sum,
    "min": min,
    "max": max,
    "avg": lambda values: sum(values) / len(values),
}


@dataclass(slots=True)
class Outbox:
    """Notifications and e-mail that would have been sent; nothing leaves the machine."""

    sent: list[dict[str, Any]] = field(default_factory=list)

    def send(self, access: Access, **message: Any) -> None:
        """Note a message."""
        self.sent.append(dict(message))


@dataclass(slots=True)
class LocalOrg:
    """The users that one was told of."""

    people: Sequence[Mapping[str, Any]] = ({"id": "dev", "name": "Local developer", "email": "dev@localhost"},)

    def user(self, access: Access, id: str) -> Mapping[str, Any]:
        """A user by id."""
        for person in self.people:
            if person.get("id") == id:
                return person
        raise Fault("NOT_FOUND", f"org: there is no user {id!r}", id=id)

    def users(self, access: Access, limit: int) -> Sequence[Mapping[str, Any]]:
        """The first users."""
        return self.people[:limit]


class LocalExecutions:
    """Processes or agents that end at once, with what one was told they give: a value, or a function of their input.

    One that raises has failed, with the exception's message as output.
    """

    def __init__(self, results: Mapping[str, Any] | None = None, kind: str = "process") -> None:
        self._results, self._kind = dict(results or {}), kind
        self._numbers = itertools.count(1)
        self.started: list[dict[str, Any]] = []

    def start(self, access: Access, key: str, input: Any, completed: Completed | None) -> str:
        """Start one, and end it."""
        if key not in self._results:
            known = ", ".join(sorted(self._results)) or "none"
            text = f"there is no {self._kind} {key!r} here (there are: {known}); tell the stand-in what it gives"
            raise Fault("NOT_FOUND", text, key=key)
        id = f"{self._kind}-{next(self._numbers)}"
        self.started.append({"id": id, "key": key, "input": input})
        result = self._results[key]
        try:
            output = result(input) if callable(result) else result
        except Exception as error:
            _tell(completed, "failed", str(error))
        else:
            _tell(completed, "completed", output)
        return id


def _tell(completed: Completed | None, status: Any, output: Any) -> None:
    if completed is not None:
        completed(status, output)


def local_providers(
    *,
    objects: Mapping[str, Iterable[Mapping[str, Any]]] | None = None,
    processes: Mapping[str, Any] | None = None,
    agents: Mapping[str, Any] | None = None,
    people: Sequence[Mapping[str, Any]] | None = None,
) -> Providers:
    """Stand-ins for all providers. ``objects``: records by object. ``processes``, ``agents``: what each gives, by key."""
    data = LocalData(objects)
    return Providers(
        data=data,
        schema=data,
        notifications=Outbox(),
        email=Outbox(),
        org=LocalOrg() if people is None else LocalOrg(people),
        processes=LocalExecutions(processes),
        agents=LocalExecutions(agents, "agent"),
    )
