"""Regular expressions as JavaScript reads them, put into the dialect of the ``regex`` library.

What both read alike is passed on; what they read differently is written out (``\\d`` is ten digits, ``$`` the very end); what
JavaScript does not have is refused, since another reader of the schema would refuse it or read it differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from nsplugin.lazy import pattern

ESCAPE: Final = r"""\\(?:
      [pP]\{[^{}]*\}
    | u\{[0-9a-fA-F]+\}
    | u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
    | u[0-9a-fA-F]{4}
    | x[0-9a-fA-F]{2}
    | c[A-Za-z]
    | k<[^<>]*>
    | [1-9][0-9]*
    | .)"""
"""One escape, whole; to be compiled with ``VERBOSE`` and ``DOTALL``."""

_ITEM: Final = pattern(f"(?P<escape>{ESCAPE})|.", re.VERBOSE | re.DOTALL)
_GROUPS: Final = pattern(r"\(\?(?:[:=!]|<[=!]|<[^\W\d]\w*>|-?i:)")
_WORD: Final = "A-Za-z0-9_"
_SPACE: Final = r"\t-\r \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF"
_CLASSES: Final = {
    "d": "0-9",
    "D": r"\x00-/:-\U0010FFFF",
    "w": _WORD,
    "W": r"\x00-/:-@\[-\^`{-\U0010FFFF",
    "s": _SPACE,
    "S": r"\x00-\x08\x0E-\x1F!-\x9F\u00A1-\u167F\u1681-\u1FFF\u200B-\u2027\u202A-\u202E\u2030-\u205E\u2060-\u2FFF"
    r"\u3001-\uFEFE\uFF00-\U0010FFFF",
}
"""What a class of characters holds, as it stands in brackets."""
_BOUNDARIES: Final = {
    "b": f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    "B": f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))",
}
_INSTEAD: Final = {"A": "^", "Z": "$", "z": "$", "h": "[ \\t]", "a": "\\x07", "e": "\\x1B"}
"""By the letter of an escape that other languages have: how JavaScript says it."""


class Foreign(ValueError):
    """Something that JavaScript does not have: ``part``, and ``instead`` where there is another way to say it."""

    def __init__(self, part: str, instead: str | None = None) -> None:
        super().__init__(part)
        self.part = part
        self.instead = instead


def escape(text: str) -> str:
    """An escape outside brackets. Raises :class:`Foreign`."""
    letter, rest = text[1], text[2:]
    if letter in _BOUNDARIES:
        return _BOUNDARIES[letter]
    if letter in _CLASSES:
        return f"[{_CLASSES[letter]}]"
    if letter == "k" and rest:
        return f"(?({rest[1:-1]})(?P={rest[1:-1]}))"  # a group that took no part stands for the empty text
    if letter in "123456789":
        return f"(?({text[1:]}){text})"
    return _character(text)


def brackets(text: str) -> str:
    """A set of characters, with its brackets. Raises :class:`Foreign`."""
    if text in ("[]", "[^]"):
        return r"[\x00-\U0010FFFF]" if text == "[^]" else "(?!)"
    opening = "[^" if text.startswith("[^") else "["
    items = [match[0] for match in _ITEM.finditer(text[len(opening) : -1])]
    classes = [len(item) == 2 and item[0] == "\\" and item[1] in _CLASSES for item in items]
    beside = [before or after for before, after in zip([False, *classes], [*classes[1:], False], strict=False)]
    return f"{opening}{''.join(_member(item, near) for item, near in zip(items, beside, strict=True))}]"


def _member(item: str, beside_class: bool) -> str:
    """One member of a set; a dash beside a class makes no range."""
    if item == "-" and beside_class:
        return r"\-"
    if item[0] != "\\":
        return rf"\{item}" if item in "[&~|" else item
    if item[1] in _CLASSES:
        return _CLASSES[item[1]]
    return r"\x08" if item == r"\b" else _character(item)


def group(text: str) -> str:
    """The beginning of a group. Raises :class:`Foreign`."""
    if _GROUPS.fullmatch(text):
        return text
    if text.startswith(("(?P<", "(?P=")):
        raise Foreign("(?P…", "(?<name>…) and \\k<name>")
    if text.startswith("(?i"):
        raise Foreign("(?i)", "both cases in brackets, such as [Aa]")
    raise Foreign(f"{text[:3]}…")


def _character(text: str) -> str:
    """An escape that stands for one character, or for characters with a property."""
    letter = text[1]
    known = _NUMBERED.get(letter) if len(text) > 2 else None
    if known is not None:
        return known(text)
    if letter in "fnrtv":
        return text
    if letter == "0":
        return r"\x00"
    if letter.isascii() and letter.isalnum():
        raise Foreign(text, _INSTEAD.get(letter))
    return re.escape(letter)


def _code(text: str) -> str:
    numbers = [int(number, 16) for number in re.findall("[0-9a-fA-F]+", text.replace("\\u", " ").replace("\\x", " "))]
    if len(numbers) == 2:  # a pair of surrogates is one character
        return f"\\U{0x10000 + ((numbers[0] & 0x3FF) << 10) + (numbers[1] & 0x3FF):08X}"
    if numbers[0] > 0x10FFFF:
        raise Foreign(text)
    return f"\\U{numbers[0]:08X}"


_NUMBERED: Final[dict[str, Callable[[str], str]]] = {
    "u": _code,
    "x": _code,
    "c": lambda text: f"\\x{ord(text[2]) % 32:02X}",
    "p": str,
    "P": str,
}
