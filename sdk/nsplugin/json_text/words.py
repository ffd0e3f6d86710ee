"""What stands where JSON wants a value but is none: Python's and JavaScript's words, numbers in other spellings."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from nsplugin.json_text.numbers import integer, real
from nsplugin.pointers import UNKNOWN
from nsplugin.wording import clipped, quoted


class Explained(NamedTuple):
    """What is wrong with a word, what to write instead, and the value that it surely means (else ``UNKNOWN``)."""

    message: str
    hint: str
    value: Any = UNKNOWN


_MEANT: Final[dict[str, tuple[str, Any]]] = {
    "true": ("true", True),
    "false": ("false", False),
    "null": ("null", None),
    "none": ("null", None),
    "nil": ("null", None),
    "undefined": ("null", None),
}
_NOT_FINITE: Final = re.compile(r"[-+]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NUMERIC: Final = re.compile(r"[-+]*\.?[0-9]")
_OTHER_BASE: Final = re.compile(r"[-+]?0(?:x[0-9a-f_]+|o[0-7_]+|b[01_]+)", re.IGNORECASE)
_LONGEST_NUMBER: Final = 40


def explained(word: str) -> Explained:
    """What to say of a bare word in the place of a value."""
    meant = _MEANT.get(word.lower())
    if meant is not None:
        return Explained(f"{word} is not JSON", f"write {meant[0]}", meant[1])
    if _NOT_FINITE.fullmatch(word):
        return Explained(f"{word} is not JSON: it has no such number", "write null, or leave it out")
    if _NUMERIC.match(word):
        return _number(word)
    return Explained(f"{clipped(word)} is not a JSON value", f"strings stand in double quotes: write {quoted(word)}")


def too_large(text: str) -> Explained:
    """What to say of a well-formed number that JSON readers would change."""
    shown = text if len(text) <= 24 else f"{text[:12]}… ({len(text.lstrip('-')):,} digits)"
    if text.lstrip("-").isdigit():
        return Explained(f"{shown} is beyond 2^53-1: other JSON readers would round it", "write it as a string")
    if real(text) is None and abs(float(text)) < float("inf"):
        return Explained(f"{shown} is an integer beyond 2^53-1: other JSON readers would round it", "write it as a string")
    return Explained(f"{shown} is too large: JSON readers would make it infinite", "write a smaller number, or a string")


def character_name(character: str) -> str:
    """A character that is easily taken for another, by its Unicode name: ``NO-BREAK SPACE``."""
    import unicodedata

    return unicodedata.name(character, f"the character U+{ord(character):04X}")


def _number(word: str) -> Explained:
    meant = _spelt(word) if len(word) <= _LONGEST_NUMBER else None
    hint = f"write {meant}" if meant else f"write a number such as 10, or the string {quoted(word)}"
    return Explained(f"{clipped(word)} is not a JSON number", hint)


def _spelt(word: str) -> str | None:
    """The number in JSON's spelling, where the word surely means one."""
    if _OTHER_BASE.fullmatch(word):
        return str(int(word.replace("_", ""), 0))
    bare = word.replace("_", "").removeprefix("+").removesuffix("n")
    bare = re.sub(r"^(-?)0+(?=[0-9])", r"\1", bare)
    bare = re.sub(r"^(-?)\.", r"\g<1>0.", bare)
    bare = re.sub(r"\.(?![0-9])", "", bare)
    match = _NUMBER.fullmatch(bare)
    exact = match and (real(bare) if match[1] or match[2] else integer(bare)) is not None
    return bare if exact else None
