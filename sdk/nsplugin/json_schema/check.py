"""Whether something is a JSON Schema that can be used here: draft 2020-12, whole in itself, without an endless loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final

from nsplugin.json_limits import DEPTH
from nsplugin.json_schema import references
from nsplugin.json_schema.budget import Budget
from nsplugin.json_schema.forms import WANTED, advice, fits
from nsplugin.json_schema.keywords import DIALECT, FORMS, REFUSED, subschemas
from nsplugin.json_schema.loops import loops
from nsplugin.json_schema.words import either, shown
from nsplugin.place import Place, pointer
from nsplugin.pointers import UNKNOWN
from nsplugin.record import record
from nsplugin.rules import Found
from nsplugin.spans import Target
from nsplugin.wording import quoted

_PATTERN_STEPS: Final = 50
"""What compiling a pattern takes from the budget, and a step more for each of its characters."""


@record(kw_only=False)
class _Visit:
    """A value in the place of a subschema: the keyword it stands under, and how deep."""

    value: Any
    place: Place
    keyword: str
    depth: int


class Checker:
    """One check of one schema. ``_order`` holds each subschema met, with its place; ``_leads`` where its ``$ref`` leads.

    ``_again``: a subschema was met a second time; without that, none leads back to itself.
    """

    def __init__(self, root: Any, base: str, budget: Budget) -> None:
        self._root = root
        self._base = base
        self._budget = budget
        self._order: list[tuple[dict[Any, Any], Place]] = []
        self._seen: set[int] = set()
        self._leads: dict[int, Any] = {}
        self._again = False

    def faults(self) -> Iterator[Found]:
        """Every fault. Raises :class:`nsplugin.json_schema.budget.Exhausted`."""
        faulty = False
        for found in self._all():
            faulty = True
            yield found
        if not faulty and self._again:
            yield from self._loops()

    def _all(self) -> Iterator[Found]:
        yield from self._tree(self._root, None)
        for schema, place in self._order:  # grows: a reference may lead to what is no subschema otherwise
            if isinstance(schema.get("$ref"), str):
                yield from self._reference(schema, (place, "$ref"))

    def _found(self, place: Place, message: str, hint: str | None = None, target: Target = "value") -> Found:
        return Found(pointer=pointer(self._base, place), message=message, hint=hint, target=target)

    def _tree(self, schema: Any, place: Place) -> Iterator[Found]:
        """A schema and all below it, in the order they stand."""
        waiting = [_Visit(schema, place, "", 1)]
        while waiting:
            visit = waiting.pop()
            schema = visit.value
            if schema is UNKNOWN or isinstance(schema, bool):
                continue
            if id(schema) in self._seen:
                self._again = True
                continue
            self._budget.spend(1 + (len(schema) if isinstance(schema, dict) else 0))
            if not isinstance(schema, dict):
                hint = advice(visit.keyword, schema) or "write {} for any value"
                yield self._found(visit.place, f"a schema is an object, true or false, not {shown(schema)}", hint)
            elif visit.depth > DEPTH:
                message = f"nested too deeply: schemas stand in each other at most {DEPTH} levels deep"
                yield self._found(visit.place, message, "use $defs and $ref")
            else:
                yield from self._schema(schema, visit.place)
                waiting.extend(reversed(_below(visit)))

    def _schema(self, schema: dict[Any, Any], place: Place) -> Iterator[Found]:
        self._seen.add(id(schema))
        self._order.append((schema, place))
        for keyword, value in schema.items():
            if not fits(FORMS.get(keyword), value):
                given = "this list" if isinstance(value, list) and value else shown(value)
                message = f"{quoted(keyword)} must be {WANTED[FORMS[keyword]][1]}, not {given}"
                yield self._found((place, keyword), message, advice(keyword, value))
            elif keyword in _SPECIAL and value is not UNKNOWN:
                yield from _SPECIAL[keyword](self, value, (place, keyword))

    def _identity(self, value: str, place: Place) -> Iterator[Found]:
        if place != (None, "$id"):
            yield self._found(
                place, "an $id inside a schema changes what $ref means there", "remove it, and refer with #/$defs/…"
            )
        elif "#" in value.removesuffix("#"):
            yield self._found(place, "an $id has no fragment", "remove the part from # on")

    def _dialect(self, value: str, place: Place) -> Iterator[Found]:
        if value.removesuffix("#") != DIALECT:
            message = f"payload schemas are read as JSON Schema draft 2020-12, not as {quoted(value)}"
            yield self._found(place, message, f"remove $schema, or write {quoted(DIALECT)}")

    def _dynamic(self, value: Any, place: Place) -> Iterator[Found]:
        yield self._found(place, "references that depend on where evaluation began are not read", "write $ref and $defs")

    def _pattern(self, value: str, place: Place, target: Target = "value") -> Iterator[Found]:
        from nsplugin.json_schema.patterns import PatternError, compiled

        self._budget.spend(_PATTERN_STEPS + len(value))
        try:
            compiled(value)
        except PatternError as error:
            yield self._found(place, str(error), "a pattern is a regular expression as in JavaScript", target)

    def _patterns(self, value: dict[Any, Any], place: Place) -> Iterator[Found]:
        for name in value:
            if isinstance(name, str):
                yield from self._pattern(name, (place, name), "key")

    def _reference(self, schema: dict[Any, Any], place: Place) -> Iterator[Found]:
        reference = schema["$ref"]
        self._budget.spend(1 + len(reference) // 8)
        if not references.is_local(reference, self._root):
            message = f"{quoted(reference)} leads out of the schema: nothing is ever opened or fetched"
            yield self._found(place, message, "copy what it names into $defs, and write #/$defs/…")
            return
        lead = references.target(reference, self._root, self._anchors)
        if lead is references.NOWHERE:
            yield self._found(place, f"{quoted(reference)} leads nowhere in this schema", _known(self._root))
        elif not isinstance(lead, (dict, bool)) and lead is not UNKNOWN:
            yield self._found(place, f"{quoted(reference)} leads to {shown(lead)}, which is no schema")
        else:
            self._leads[id(schema)] = lead
            yield from self._tree(lead, references.place(reference))

    @cached_property
    def _anchors(self) -> dict[str, Any]:
        return references.anchors(self._root)

    def _loops(self) -> Iterator[Found]:
        for place in loops(self._order, self._leads):
            message = "the schema refers to itself without going deeper into the value: no check of it would end"
            yield self._found(place, message, "refer to it below properties or items, or remove the reference")


def _below(visit: _Visit) -> list[_Visit]:
    found = []
    for keyword, tokens, value in subschemas(visit.value):
        place = visit.place
        for token in tokens:
            place = (place, str(token))
        found.append(_Visit(value, place, keyword, visit.depth + 1))
    return found


def _known(root: Any) -> str | None:
    names = root.get("$defs") if isinstance(root, dict) else None
    known = [f"#/$defs/{name}" for name in names if isinstance(name, str)] if isinstance(names, dict) else []
    return f"$defs has {either(map(quoted, known))}" if known else "define it in $defs"


_SPECIAL: Final[dict[str, Callable[[Checker, Any, Place], Iterator[Found]]]] = {
    "$id": Checker._identity,
    "$schema": Checker._dialect,
    "pattern": Checker._pattern,
    "patternProperties": Checker._patterns,
    **dict.fromkeys(REFUSED, Checker._dynamic),
}
