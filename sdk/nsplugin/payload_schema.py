"""Payload schemas: are they usable, and does a payload fit? (spec/manifest.md M5)

pydantic's schemas, and most others, are judged by :mod:`nsplugin.json_schema`, which starts in no time. The jsonschema library,
which takes longer to import than the rest of a check, is asked about two keywords only: ``unevaluatedProperties`` and
``unevaluatedItems``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from nsplugin.json_schema.budget import Budget, Exhausted
from nsplugin.limited import limited
from nsplugin.place import pointer as spelt
from nsplugin.place import tokens
from nsplugin.pointers import split
from nsplugin.rules import Found
from nsplugin.wording import clipped

if TYPE_CHECKING:
    from nsplugin.json_schema.mismatch import Mismatch, Schema

__all__ = ["Budget", "mismatches", "schema_faults"]

_LIBRARY_STEPS = 20
"""What one keyword in the library's hands takes from the budget."""


def schema_faults(schema: Any, pointer: str) -> Iterator[Found]:
    """What is wrong with a payload schema; pointers begin with ``pointer``. Nothing that it names is opened or fetched.

    It must be JSON Schema draft 2020-12, refer only inside itself, come to an end, and its patterns must be usable.
    """
    return limited(_checked(schema, pointer), pointer)


def mismatches(value: Any, schema: Any, pointer: str, *, budget: Budget | None = None) -> Iterator[Found]:
    """Each place where a payload does not fit a schema; pointers begin with ``pointer`` and lead into the payload.

    The work is bounded: when a schema branches without end or a pattern backtracks without end, one finding says so and is the
    only one. Checks that share a ``budget`` are bounded together. What is malformed in the schema is passed over, and what
    is unknown in the payload or not JSON is taken to fit.
    """
    return limited(_held(value, schema, pointer, budget or Budget()), pointer)


def _checked(schema: Any, pointer: str) -> Iterator[Found]:
    from nsplugin.json_schema.check import Checker  # here: most manifests have no payload schema

    try:
        yield from Checker(schema, pointer, Budget()).faults()
    except Exhausted:
        yield Found(pointer=pointer, message="the schema is too large to check", hint="make it smaller, or remove it")


def _held(value: Any, schema: Any, pointer: str, budget: Budget) -> Iterator[Found]:
    from nsplugin.json_schema.evaluate import Evaluation

    if budget.exhausted:
        return
    try:
        found = Evaluation(value, schema, budget, _Library(schema, budget)).run()
    except (Exhausted, RecursionError) as end:
        budget.exhausted = True
        known = end if isinstance(end, Exhausted) else Exhausted("it is nested too deeply", "make it flatter")
        yield Found(pointer=pointer, message=f"the payload cannot be held against its schema: {known.why}", hint=known.hint)
        return
    root = (split(pointer) or ("payload",))[-1]
    yield from (_dressed(each, value, pointer, root) for each in found)


def _dressed(mismatch: Mismatch, value: Any, pointer: str, root: str) -> Found:
    from nsplugin.json_schema.words import label

    place = mismatch.place[0] if mismatch.target == "key" and mismatch.place is not None else mismatch.place
    return Found(
        pointer=spelt(pointer, mismatch.place),
        message=f"{label(root, tokens(place), value)}: {mismatch.text}",
        hint=mismatch.hint,
        target=mismatch.target,
    )


class _Library:
    """The jsonschema library, asked about what is unevaluated: imported when needed, fetching nothing, within the budget."""

    def __init__(self, root: Any, budget: Budget) -> None:
        self._root = root
        self._budget = budget
        self._validator: Any = None

    def __call__(self, value: Any, schema: Schema) -> Iterator[str]:
        from referencing.exceptions import Unresolvable

        self._validator = self._validator or self._made()
        try:
            for error in self._validator.evolve(schema=schema).iter_errors(value):
                if error.validator in ("unevaluatedProperties", "unevaluatedItems") and len(error.absolute_schema_path) == 1:
                    yield clipped(error.message[:1].lower() + error.message[1:])
        except Unresolvable:
            return  # a reference that leads nowhere is the checker's to report

    def _made(self) -> Any:
        from jsonschema import Draft202012Validator, validators
        from referencing import Registry

        own = {keyword: self._counted(judge) for keyword, judge in Draft202012Validator.VALIDATORS.items()}
        extend: Any = validators.extend
        return extend(Draft202012Validator, {**own, "pattern": self._pattern})(self._root, registry=Registry())

    def _counted(self, judge: Callable[..., Iterable[Any]]) -> Callable[..., Iterator[Any]]:
        def counted(validator: Any, operand: Any, value: Any, schema: Any) -> Iterator[Any]:
            self._budget.spend(_LIBRARY_STEPS)
            yield from judge(validator, operand, value, schema) or ()

        return counted

    def _pattern(self, validator: Any, operand: Any, value: Any, schema: Any) -> Iterator[Any]:
        from jsonschema import ValidationError

        from nsplugin.json_schema.patterns import PatternError, search

        try:
            if isinstance(value, str) and isinstance(operand, str) and not search(operand, value, self._budget):
                yield ValidationError("does not match")
        except PatternError:
            return
