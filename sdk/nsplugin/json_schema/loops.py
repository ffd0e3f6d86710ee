"""Schemas that lead back to themselves at the same place of a value: their evaluation would never end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nsplugin.json_schema.keywords import IN_PLACE, subschemas
from nsplugin.place import Place

Schemas = Iterable[tuple[dict[Any, Any], Place]]


def loops(schemas: Schemas, leads: Mapping[int, Any]) -> Iterator[Place]:
    """The places whose references close a loop, each loop once. ``leads`` says where a schema's ``$ref`` leads, by identity."""
    places = {id(schema): place for schema, place in schemas}
    open_ones: set[int] = set()
    done: set[int] = set()
    for schema, _ in schemas:
        way = [_enter(schema, leads, open_ones)] if id(schema) not in done else []
        while way:
            identity, following = way[-1]
            ahead = next((each for each in following if id(each) not in done), None)
            if ahead is None:
                way.pop()
                open_ones.discard(identity)
                done.add(identity)
            elif id(ahead) in open_ones:
                yield (places[identity], "$ref") if identity in leads else places[identity]
            else:
                way.append(_enter(ahead, leads, open_ones))


def _enter(schema: dict[Any, Any], leads: Mapping[int, Any], open_ones: set[int]) -> tuple[int, Iterator[dict[Any, Any]]]:
    open_ones.add(id(schema))
    return id(schema), _in_place(schema, leads)


def _in_place(schema: dict[Any, Any], leads: Mapping[int, Any]) -> Iterator[dict[Any, Any]]:
    """The schemas that judge the same value when this one does."""
    lead = leads.get(id(schema))
    if isinstance(lead, dict):
        yield lead
    for keyword, _, below in subschemas(schema):
        if keyword in IN_PLACE and isinstance(below, dict):
            yield below
