"""What an evaluation finds, and how it reads a schema that may be malformed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from nsplugin.place import Place
from nsplugin.pointers import UNKNOWN
from nsplugin.record import record
from nsplugin.spans import Target

Schema = Mapping[Any, Any]


@record(kw_only=False)
class Mismatch:
    """One mismatch. ``text`` follows the place in a sentence.

    ``sort`` "type" and "constant" mark those that say just "expected …, got …", with the first alternatives in ``expected``
    and the number of further ones in ``more``: several of them, from the branches of a union, become one sentence.
    """

    place: Place
    text: str
    hint: str | None = None
    target: Target = "value"
    sort: Literal["type", "constant", "other"] = "other"
    expected: tuple[str, ...] = ()
    more: int = 0


def listed(schema: Schema, keyword: str) -> list[Any]:
    """A keyword's list, empty where there is none."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def mapped(schema: Schema, keyword: str) -> dict[Any, Any]:
    """A keyword's object, empty where there is none."""
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def names(schema: Schema, keyword: str) -> list[str]:
    """The strings of a keyword's list."""
    return [item for item in listed(schema, keyword) if isinstance(item, str)]


def kind_of(value: Any) -> str | None:
    """The JSON type of a value ("number" for every number); ``None`` for what is unknown or not JSON."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, (int, float)):
        return "number" if isinstance(value, int) or value - value == 0 else None
    return next((kind for python, kind in _KINDS.items() if isinstance(value, python)), None)


_KINDS: Final[dict[type, str]] = {
    str: "string",
    int: "number",
    dict: "object",
    list: "array",
    bool: "boolean",
    type(None): "null",
}


def has_type(value: Any, kind: str, name: str) -> bool:
    """Whether a value of that kind has the JSON Schema type ``name``; 5.0 is an integer."""
    return name == kind or (name == "integer" and kind == "number" and value == value // 1)


def has_unknown(value: Any) -> bool:
    """Whether ``UNKNOWN`` stands anywhere in a value."""
    seen: set[int] = set()
    waiting = [value]
    for item in waiting:
        if item is UNKNOWN:
            return True
        if isinstance(item, (dict, list)) and id(item) not in seen:
            seen.add(id(item))
            waiting.extend((*item.keys(), *item.values()) if isinstance(item, dict) else item)
    return False
