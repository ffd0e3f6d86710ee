"""A value held against a schema: every mismatch at its place, in a sentence, within a budget.

The schema may be anything: what is malformed in it is the checker's to report, and is passed over here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import Any, Final, Literal

from nsplugin.json_schema import references
from nsplugin.json_schema.budget import Budget, Exhausted
from nsplugin.json_schema.equality import key
from nsplugin.json_schema.keywords import TYPES
from nsplugin.json_schema.lists import list_mismatches
from nsplugin.json_schema.mismatch import Mismatch, Schema, has_type, has_unknown, kind_of, listed
from nsplugin.json_schema.objects import object_mismatches
from nsplugin.json_schema.scalars import number_fault, string_fault
from nsplugin.json_schema.words import TYPE_WORDS, either, shown
from nsplugin.nearest import MOST
from nsplugin.place import Place
from nsplugin.pointers import UNKNOWN
from nsplugin.wording import quoted

_Sort = Literal["type", "constant"]
_KEPT: Final = 20
"""How many alternatives a mismatch keeps, for one sentence about several unions."""

_DEEPEST: Final = 200
"""How many schemas may be at work inside each other. A value has at most 64 levels, and each takes a few."""


class Evaluation:
    """One value held against one schema."""

    def __init__(self, value: Any, root: Any, budget: Budget) -> None:
        self.budget = budget
        self._value = value
        self._root = root
        self._depth = 0
        self._constants: dict[int, tuple[frozenset[Hashable], bool]] = {}
        self._targets: dict[str, Any] = {}

    def run(self) -> list[Mismatch]:
        """Every mismatch. Raises :class:`Exhausted` at the end of the budget."""
        return self.mismatches(self._value, self._root, None)

    @cached_property
    def partial(self) -> bool:
        """Whether something is unknown, so that what must not fit cannot be judged."""
        return has_unknown(self._value) or has_unknown(self._root)

    def mismatches(self, value: Any, schema: Any, place: Place) -> list[Mismatch]:
        """Every mismatch of a value at a place. Of a wrong type or constant nothing else is told."""
        self.budget.spend()
        kind = kind_of(value)
        if kind is None or not isinstance(schema, dict):
            return [Mismatch(place, "no value is allowed here")] if schema is False and kind is not None else []
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Exhausted("the schema leads back to itself, or too deep", "refer to it below properties or items only")
        found = self._identity(value, kind, schema, place) or self._others(value, kind, schema, place)
        self._depth -= 1
        return found

    def _identity(self, value: Any, kind: str, schema: Schema, place: Place) -> list[Mismatch]:
        """The mismatch of type or constant."""
        wanted = schema.get("type")
        if wanted is not None and wanted != kind:
            types = [wanted] if isinstance(wanted, str) else listed(schema, "type")
            known = [name for name in types if isinstance(name, str) and name in TYPES]
            if known and len(known) == len(types) and not any(has_type(value, kind, name) for name in known):
                return [self._expecting(value, known, TYPE_WORDS.__getitem__, place, "type")]
        for constants in ([schema["const"]] if "const" in schema else None, schema.get("enum")):
            if isinstance(constants, list) and not self._is_one_of(value, constants):
                return [self._expecting(value, constants, shown, place, "constant")]
        return []

    def _is_one_of(self, value: Any, constants: list[Any]) -> bool:
        """Whether a value equals a constant; unless something unknown might."""
        if isinstance(value, str):
            self.budget.spend(1 + len(constants) // 64)
            return value in constants or UNKNOWN in constants
        keys, partial = self._keys(constants)
        return key(value, self.budget) in keys or partial or has_unknown(value)

    def _keys(self, constants: list[Any]) -> tuple[frozenset[Hashable], bool]:
        """The keys of constants, and whether something in them is unknown."""
        if id(constants) not in self._constants:
            keys = frozenset(key(item, self.budget) for item in constants)
            self._constants[id(constants)] = keys, has_unknown(constants)
        return self._constants[id(constants)]

    def _expecting(self, value: Any, expected: list[Any], word: Callable[[Any], str], place: Place, sort: _Sort) -> Mismatch:
        """The mismatch of type or constant; of many alternatives the first are kept, and the number of the others."""
        if not expected:
            return Mismatch(place, "no value is allowed here")
        words = tuple(map(word, expected[:_KEPT]))
        more = len(expected) - len(words)
        text = f"expected {either(words, more)}, got {shown(value)}"
        hint = self._meant(value, expected) if sort == "constant" and isinstance(value, str) else None
        return Mismatch(place, text, hint, sort=sort, expected=words, more=more)

    def _meant(self, value: str, constants: list[Any]) -> str | None:
        known = [item for item in constants[: MOST + 1] if isinstance(item, str)] if self.budget.letters > 0 else []
        meant = self.budget.suggestion(value, known)
        return f"did you mean {quoted(meant)}?" if meant else None

    def _others(self, value: Any, kind: str, schema: Schema, place: Place) -> list[Mismatch]:
        found = list(self._own(value, kind, schema, place))
        for keyword in _JUDGES if not _JUDGES.keys().isdisjoint(schema) else ():
            if found and kind not in ("object", "array"):
                break  # of a string or number one mismatch is enough
            if keyword in schema:
                found += _JUDGES[keyword](self, value, schema, place)
        return found if len(found) < 2 else list(dict.fromkeys(found))

    def _own(self, value: Any, kind: str, schema: Schema, place: Place) -> Iterable[Mismatch]:
        if kind == "object":
            return object_mismatches(self, value, schema, place)
        if kind == "array":
            return list_mismatches(self, value, schema, place)
        wrong = string_fault(value, schema, self.budget) if kind == "string" else None
        wrong = number_fault(value, schema) if kind == "number" else wrong
        return [Mismatch(place, wrong)] if wrong else []

    def _reference(self, value: Any, schema: Schema, place: Place) -> Iterable[Mismatch]:
        return self.mismatches(value, self.target(schema["$ref"]), place)

    def target(self, reference: Any) -> Any:
        """What a reference inside the schema leads to; something that is no schema for any other."""
        if not isinstance(reference, str):
            return references.NOWHERE
        if reference not in self._targets:
            local = references.is_local(reference, self._root)
            self._targets[reference] = references.target(reference, self._root, self._anchors) if local else references.NOWHERE
        return self._targets[reference]

    @cached_property
    def _anchors(self) -> dict[str, Any]:
        return references.anchors(self._root)

    def _all_of(self, value: Any, schema: Schema, place: Place) -> Iterable[Mismatch]:
        for branch in listed(schema, "allOf"):
            yield from self.mismatches(value, branch, place)

    def _any_of(self, value: Any, schema: Schema, place: Place) -> Iterable[Mismatch]:
        from nsplugin.json_schema.unions import misfit

        branches, faults = listed(schema, "anyOf"), []
        for branch in branches:
            faults.append(self.mismatches(value, branch, place))
            if not faults[-1]:
                return []
        return misfit(value, branches, faults, place) if branches else []

    def _one_of(self, value: Any, schema: Schema, place: Place) -> Iterable[Mismatch]:
        from nsplugin.json_schema.unions import misfit, too_many

        branches = listed(schema, "oneOf")
        faults = [self.mismatches(value, branch, place) for branch in branches]
        fitting = [number for number, found in enumerate(faults) if not found]
        if branches and not fitting:
            return misfit(value, branches, faults, place)
        return [too_many(branches, fitting, place)] if len(fitting) > 1 and not self.partial else []

    def _excluded(self, value: Any, schema: Schema, place: Place) -> Iterable[Mismatch]:
        if self.partial or self.mismatches(value, schema["not"], place):
            return []
        return [Mismatch(place, f'the "not" of the schema rules out {shown(value)}')]

    def _conditional(self, value: Any, schema: Schema, place: Place) -> Iterable[Mismatch]:
        if self.partial:
            return []
        branch = "else" if self.mismatches(value, schema["if"], place) else "then"
        return self.mismatches(value, schema.get(branch, True), place)

    def _unevaluated_properties(self, value: Any, schema: Schema, place: Place) -> Iterable[Mismatch]:
        from nsplugin.json_schema.unevaluated import unevaluated_properties

        return unevaluated_properties(self, value, schema, place) if isinstance(value, dict) and not self.partial else []

    def _unevaluated_items(self, value: Any, schema: Schema, place: Place) -> Iterable[Mismatch]:
        from nsplugin.json_schema.unevaluated import unevaluated_items

        return unevaluated_items(self, value, schema, place) if isinstance(value, list) and not self.partial else []


_Judge = Callable[[Evaluation, Any, Schema, Place], Iterable[Mismatch]]
_JUDGES: Final[dict[str, _Judge]] = {
    "$ref": Evaluation._reference,
    "allOf": Evaluation._all_of,
    "anyOf": Evaluation._any_of,
    "oneOf": Evaluation._one_of,
    "not": Evaluation._excluded,
    "if": Evaluation._conditional,
    "unevaluatedProperties": Evaluation._unevaluated_properties,
    "unevaluatedItems": Evaluation._unevaluated_items,
}
