"""Payload schemas: are they usable, and does a payload fit? (spec/manifest.md M5)

The work lies in :mod:`nsplugin.json_schema`. It is not the jsonschema library's, which is slow to import and bounds neither its
steps nor the time of its patterns; a test holds the two against each other (decision 0004).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nsplugin.json_schema.budget import Budget, Exhausted
from nsplugin.limited import limited
from nsplugin.place import pointer as spelt
from nsplugin.place import tokens
from nsplugin.pointers import split
from nsplugin.rules import Found

if TYPE_CHECKING:
    from nsplugin.json_schema.mismatch import Mismatch

__all__ = ["Budget", "mismatches", "schema_faults"]


def schema_faults(schema: Any, pointer: str) -> Iterator[Found]:
    """What is wrong with a payload schema; pointers begin with ``pointer``. Nothing that it names is opened or fetched.

    It must be JSON Schema draft 2020-12, refer only inside itself, come to an end, and its patterns must be usable.
    """
    from nsplugin.json_schema.plain import is_plain  # here: most manifests have no payload schema

    return iter(()) if is_plain(schema) else limited(_checked(schema, pointer), pointer)


def mismatches(value: Any, schema: Any, pointer: str, *, budget: Budget | None = None) -> Iterator[Found]:
    """Each place where a payload does not fit a schema; pointers begin with ``pointer`` and lead into the payload.

    The work is bounded: when a schema branches without end or a pattern backtracks without end, one finding says so and is the
    only one. Checks that share a ``budget`` are bounded together. What is malformed in the schema is passed over, and what
    is unknown in the payload or not JSON is taken to fit.
    """
    return limited(_held(value, schema, pointer, budget or Budget()), pointer)


def _checked(schema: Any, pointer: str) -> Iterator[Found]:
    from nsplugin.json_schema.check import Checker

    try:
        yield from Checker(schema, pointer, Budget()).faults()
    except Exhausted:
        yield Found(pointer=pointer, message="the schema is too large to check", hint="make it smaller, or remove it")


def _held(value: Any, schema: Any, pointer: str, budget: Budget) -> Iterator[Found]:
    from nsplugin.json_schema.evaluate import Evaluation

    if budget.exhausted:
        return
    try:
        found = Evaluation(value, schema, budget).run()
    except (Exhausted, RecursionError) as end:
        budget.exhausted = True
        known = end if isinstance(end, Exhausted) else Exhausted("it is nested too deeply", "make it flatter")
        yield Found(pointer=pointer, message=f"the payload cannot be held against its schema: {known.why}", hint=known.hint)
        return
    for each in found:
        yield _dressed(each, value, pointer)


def _dressed(mismatch: Mismatch, value: Any, pointer: str) -> Found:
    from nsplugin.json_schema.words import label

    root = (split(pointer) or ("payload",))[-1]
    place = mismatch.place[0] if mismatch.target == "key" and mismatch.place is not None else mismatch.place
    return Found(
        pointer=spelt(pointer, mismatch.place),
        message=f"{label(root, tokens(place), value)}: {mismatch.text}",
        hint=mismatch.hint,
        target=mismatch.target,
    )
