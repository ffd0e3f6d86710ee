"""How values are named in messages: quoted, on one line, cut to a length that a person reads, never run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

from nsplugin.handlers import type_name

Origin = Literal["python", "json"]

_TEXT: Final = 60
"""How many characters of a string are quoted."""

_EXACT: Final = 10**20
"""Integers beyond this are described by their length: no author reads more digits, and CPython refuses to print very many."""

_WORDS: Final[dict[Origin, dict[Any, str]]] = {
    "python": {None: "None", True: "the value True", False: "the value False", dict: "a mapping", list: "a list"},
    "json": {None: "null", True: "the value true", False: "the value false", dict: "an object", list: "an array"},
}

_WANTED: Final[dict[Origin, dict[str, str]]] = {
    "python": {
        "integer": "an integer",
        "string": "a string",
        "boolean": "True or False",
        "object": "a mapping",
        "array": "a list",
    },
    "json": {
        "integer": "an integer",
        "string": "a string",
        "boolean": "true or false",
        "object": "an object",
        "array": "an array",
    },
}


def plain(text: str) -> str:
    """The characters of a string of any subclass, as an exact ``str`` and without running its methods."""
    return text if type(text) is str else str.__str__(text)


def clipped(text: str) -> str:
    """The text on one line of printable characters, its end cut off with an ellipsis when it is long."""
    text = plain(text)
    shown = text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
    return shown if shown.isprintable() else "".join(map(_visible, shown))


def _visible(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def quoted(text: str) -> str:
    """The text in double quotes, as :func:`clipped` shows it: ``"0 3 * * *"``."""
    return f'"{clipped(text)}"'


def token(key: Any) -> str:
    """The reference token of a mapping key of any type: strings and numbers are themselves, other values are described."""
    if isinstance(key, str):
        return plain(key)
    return integer(key) if type(key) is int else found(key, "python")


def found(value: Any, origin: Origin) -> str:
    """What a value is, for "…, not the string "5"". Never calls anything of the value."""
    words = _WORDS[origin]
    if value is None or value is True or value is False:
        return words[value]
    for kind, describe in _KINDS:
        if isinstance(value, kind):
            return describe(value, words)
    return f"an instance of {type_name(value)}"


def wanted(kinds: Iterable[str], origin: Origin) -> str:
    """What JSON Schema types ask for, in words: ``an object or true or false``."""
    return " or ".join(_WANTED[origin][kind] for kind in kinds)


def integer(value: int) -> str:
    """The digits of an integer, or how many it has when nobody would read them."""
    if abs(value) < _EXACT:
        return int.__repr__(value)
    return f"of about {int(value.bit_length() * 0.30103) + 1} digits"


def counted(number: int, noun: str) -> str:
    """``1 character``, ``65 characters``, ``65,537 bytes``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(words: Iterable[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def _number(value: float) -> str:
    return f"the number {float.__repr__(value)}"


_KINDS: Final[tuple[tuple[Any, Callable[[Any, dict[Any, str]], str]], ...]] = (
    (str, lambda value, words: f"the string {quoted(value)}"),
    (int, lambda value, words: f"the integer {integer(value)}"),
    (float, lambda value, words: _number(value)),
    (Mapping, lambda value, words: words[dict]),
    (list, lambda value, words: words[list]),
    (tuple, lambda value, words: "a tuple"),
    (type, lambda value, words: "a class"),
)
"""How each kind of value is described; the first that fits counts."""
