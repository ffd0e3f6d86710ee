"""The forms that keywords of JSON Schema want their values in, and the words for values in another form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeGuard

from nsplugin.json_schema.keywords import TYPES
from nsplugin.lazy import pattern
from nsplugin.nearest import closest
from nsplugin.pointers import UNKNOWN
from nsplugin.wording import listed, quoted

_ANCHOR: Final = pattern(r"[A-Za-z_][-A-Za-z0-9._]*")
_OTHER_NAMES: Final = {
    "int": "integer",
    "long": "integer",
    "str": "string",
    "text": "string",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "none": "null",
    "nil": "null",
}

_TEXTS: Final = {"date": "date", "datetime": "date-time", "time": "time", "uuid": "uuid", "email": "email", "url": "uri"}


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_number(value: Any) -> TypeGuard[float]:
    """A finite number; truth values are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and (isinstance(value, int) or value - value == 0)


def is_count(value: Any) -> TypeGuard[float]:
    """An integer from 0; 5.0 is one."""
    return is_number(value) and value >= 0 and value == value // 1


def is_names(value: Any) -> bool:
    """A list of strings, each once."""
    if not isinstance(value, list):
        return False
    known = [item for item in value if item is not UNKNOWN]
    return all(map(is_text, known)) and len(set(known)) == len(known)


def is_types(value: Any) -> bool:
    """A type, or a list of types that is not empty and has each once."""
    return value in TYPES if isinstance(value, str) else is_names(value) and value != [] and set(value) <= {*TYPES, UNKNOWN}


def is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_anchor(value: Any) -> bool:
    return isinstance(value, str) and _ANCHOR.fullmatch(value) is not None


def _is_positive(value: Any) -> bool:
    return is_number(value) and value > 0


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_filled(value: Any) -> bool:
    return isinstance(value, list) and value != []


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_name_lists(value: Any) -> bool:
    return isinstance(value, dict) and all(item is UNKNOWN or is_names(item) for item in value.values())


def _any(value: Any) -> bool:
    return True


WANTED: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "text": (is_text, "a string"),
    "anchor": (_is_anchor, "a name of letters, digits, _, - and ."),
    "types": (is_types, f"one of {listed(map(quoted, TYPES), 'or')}, or a list of them"),
    "list": (_is_list, "a list"),
    "names": (is_names, "a list of different strings"),
    "name lists": (_is_name_lists, "an object of lists of different strings"),
    "number": (is_number, "a number"),
    "positive number": (_is_positive, "a number above 0"),
    "count": (is_count, "an integer from 0"),
    "truth": (is_truth, "true or false"),
    "schema": (_any, "a schema"),
    "schema list": (_is_filled, "a list of schemas, at least one"),
    "schemas by name": (_is_object, "an object of schemas"),
}
"""By form: the test, and the words."""


def fits(form: str | None, value: Any) -> bool:
    """Whether a keyword's value has its form. What is unknown has."""
    return form is None or value is UNKNOWN or WANTED[form][0](value)


def advice(keyword: str, value: Any) -> str | None:
    """What an author who wrote this most likely wants."""
    if keyword == "type":
        given = value if isinstance(value, list) else [value]
        return next((_type_meant(name) for name in given if name not in TYPES), None)
    if keyword == "required" and isinstance(value, bool):
        return 'list the names beside "properties": "required": ["key"]'
    if keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
        return f"that is JSON Schema draft 4: write the bound itself, {quoted(keyword)}: 0"
    if keyword == "items" and isinstance(value, list):
        return 'write "prefixItems" for one schema an item'
    return None


def _type_meant(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    if value.lower() in _TEXTS:
        return f'write "string", and beside it "format": {quoted(_TEXTS[value.lower()])}'
    meant = _OTHER_NAMES.get(value.lower()) or closest(value, TYPES)
    return f"did you mean {quoted(meant)}?" if meant else None
