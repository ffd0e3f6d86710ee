"""Values and types of JSON in words: ``5``, ``"abc"``, ``an object``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from nsplugin.lazy import pattern
from nsplugin.wording import found, listed, quoted

TYPE_WORDS: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
    "other": "something that is not JSON",
}

_PLAIN_NAME: Final = pattern(r"[A-Za-z_$][A-Za-z0-9_$]{0,40}")
SHOWN: Final = 8
"""How many alternatives a sentence names."""


def shown(value: Any) -> str:
    """A value, short enough for a sentence; containers by their kind alone."""
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, int):
        return repr(value) if abs(value) < 10**20 else found(value, "json")
    if value == []:
        return "an empty list"
    return TYPE_WORDS["object" if isinstance(value, dict) else "array" if isinstance(value, list) else "other"]


def either(words: Iterable[str], more: int = 0) -> str:
    """``a``, ``a or b``, ``a, b or c``; a long list is cut. ``more``: how many there are besides."""
    return several(words, "or", more)


def several(words: Iterable[str], last: str = "and", more: int = 0) -> str:
    """``a``, ``a and b``, ``a, b and c``; a long list is cut. ``more``: how many there are besides."""
    known = list(dict.fromkeys(words))
    if len(known) + more > SHOWN:
        known = [*known[: SHOWN - 1], f"{len(known) + more - SHOWN + 1} others"]
    return listed(known, last)


def label(root: str, tokens: Iterable[str], value: Any) -> str:
    """A place as an author writes it: ``payload.items[3].key``. ``value`` is what the tokens lead through."""
    text = root
    for token in tokens:
        if isinstance(value, list) and token.isdecimal() and int(token[:9]) < len(value):
            text, value = f"{text}[{token}]", value[int(token[:9])]
        else:
            text += f".{token}" if _PLAIN_NAME.fullmatch(token) else f"[{quoted(token)}]"
            value = value.get(token) if isinstance(value, dict) else None
    return clipped_label(text)


def clipped_label(text: str) -> str:
    """A long place by its beginning and its end."""
    return text if len(text) <= 100 else f"{text[:50]}…{text[-49:]}"
