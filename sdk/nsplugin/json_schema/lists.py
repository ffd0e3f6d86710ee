"""Lists held against a schema."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from operator import ge, le
from typing import TYPE_CHECKING, Any, Final

from nsplugin.json_schema.equality import key
from nsplugin.json_schema.mismatch import Mismatch, Schema, listed
from nsplugin.json_schema.scalars import Bound, size_fault
from nsplugin.place import Place
from nsplugin.pointers import UNKNOWN

if TYPE_CHECKING:
    from nsplugin.json_schema.evaluate import Evaluation

_SIZES: Final[tuple[Bound, ...]] = (("minItems", ge, "at least"), ("maxItems", le, "at most"))
_MOST: Final = _SIZES[1:]


def list_mismatches(evaluation: Evaluation, value: list[Any], schema: Schema, place: Place) -> Iterator[Mismatch]:
    """Every mismatch of a list. Where items are unknown, any number of them may be there."""
    evaluation.budget.spend(len(value))
    known = [item for item in value if item is not UNKNOWN]
    wrong = size_fault(len(known), schema, _SIZES if len(known) == len(value) else _MOST, "item")
    if wrong:
        yield Mismatch(place, wrong)
    yield from _items(evaluation, value, schema, place)
    if schema.get("uniqueItems") is True:
        yield from _repeated(evaluation, value, place)
    if "contains" in schema:
        yield from _contained(evaluation, value, schema, place)


def _items(evaluation: Evaluation, value: list[Any], schema: Schema, place: Place) -> Iterator[Mismatch]:
    """Each item against the schema of its position; behind an unknown item positions are unknown too."""
    first = listed(schema, "prefixItems")
    others = schema.get("items", True)
    certain = True
    for number, item in enumerate(value):
        certain = certain and item is not UNKNOWN
        own = first[number] if certain and number < len(first) else others if certain or not first else True
        if own is not True:
            yield from evaluation.mismatches(item, own, (place, str(number)))


def _repeated(evaluation: Evaluation, value: list[Any], place: Place) -> Iterator[Mismatch]:
    seen: dict[Hashable, int] = {}
    for number, item in enumerate(value):
        if item is not UNKNOWN:
            first = seen.setdefault(key(item, evaluation.budget), number)
            if first != number:
                yield Mismatch((place, str(number)), f"the same as item {first}: every item may stand once")


def _contained(evaluation: Evaluation, value: list[Any], schema: Schema, place: Place) -> Iterator[Mismatch]:
    fitting = sum(not evaluation.mismatches(item, schema["contains"], place) for item in value)
    wanted = {"minContains": schema.get("minContains", 1), "maxContains": schema.get("maxContains")}
    bounds: tuple[Bound, ...] = (("minContains", ge, "at least"), ("maxContains", le, "at most"))
    wrong = size_fault(fitting, wanted, bounds, "fitting item")
    if wrong and not evaluation.partial:
        yield Mismatch(place, wrong)
