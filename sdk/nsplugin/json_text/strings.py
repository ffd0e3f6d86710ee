"""JSON strings: what a quoted stretch of text means, what is wrong inside it, and where each character stands."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from nsplugin.record import record

_PIECE: Final = re.compile(
    r"""(?P<plain>[^\\\x00-\x1f\ud800-\udfff]++)
      | (?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})
      | (?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})
      | (?P<code>\\u[0-9a-fA-F]{4})
      | (?P<short>\\["\\/bfnrt])
      | (?P<wrong>\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]{0,2}|.)?)
      | (?P<control>[\x00-\x1f])
      | (?P<undecoded>.)""",
    re.VERBOSE | re.DOTALL,
)
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONTROL: Final = {meant: "\\" + letter for letter, meant in _SHORT.items()}

_CONTROL_NAMES: Final = {"\n": "a line break", "\r": "a line break", "\t": "a tab"}


class Fault(NamedTuple):
    """A fault inside a string, at offsets into the whole text."""

    start: int
    end: int
    kind: str
    message: str
    hint: str


@record
class Decoded:
    """What a string means, read leniently. ``sound`` is false when something in it has no sure meaning.

    ``faults`` holds the first fault of each kind, with the number of all of that kind.
    """

    text: str
    sound: bool
    faults: tuple[tuple[Fault, int], ...]


def decode(text: str, start: int, end: int) -> Decoded:
    """The string whose inside is ``text[start:end]``."""
    parts, sound = [], True
    faults: dict[str, tuple[Fault, int]] = {}
    for match in _PIECE.finditer(text, start, end):
        kind = match.lastgroup or ""
        parts.append(_MEANINGS[kind](match[0]) if kind in _MEANINGS else match[0])
        if kind in _EXPLAINED:
            first, count = faults.get(kind) or (_fault(match, kind), 0)
            faults[kind] = (first, count + 1)
        sound = sound and kind in _SOUND
    return Decoded(text="".join(parts), sound=sound, faults=tuple(faults.values()))


def offsets(text: str, start: int, end: int) -> list[int]:
    """Where each character of that string begins in the text, and last where the string's inside ends."""
    places: list[int] = []
    for match in _PIECE.finditer(text, start, end):
        places.extend(range(*match.span()) if match.lastgroup == "plain" else (match.start(),))
    return [*places, end]


def _fault(match: re.Match[str], kind: str) -> Fault:
    return Fault(*match.span(), kind, *_EXPLAINED[kind](match[0]))


def _pair(source: str) -> str:
    high, low = int(source[2:6], 16), int(source[8:], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _code(source: str) -> str:
    return chr(int(source[2:], 16))


def _short(source: str) -> str:
    return _SHORT.get(source[1], source[1])


def _half_explained(source: str) -> tuple[str, str]:
    return f"{source} is half of a surrogate pair, and no character without the other half", "write the character itself"


def _control_explained(character: str) -> tuple[str, str]:
    name = _CONTROL_NAMES.get(character, f"the control character U+{ord(character):04X}")
    return f"{name} stands raw in a string", "write " + _CONTROL.get(character, f"\\u{ord(character):04x}")


def _wrong_explained(source: str) -> tuple[str, str]:
    if source[1:2] == "u":
        return f"{source} is not a JSON escape: four hexadecimal digits follow \\u", "write \\u00e9, for example"
    if source[1:2] == "x" and len(source) == 4:
        return f"{source} is not a JSON escape", f"write \\u00{source[2:].lower()}"
    if source == "\\'":
        return "\\' is not a JSON escape", "write ' without a backslash"
    shown = source if source.isprintable() else "a backslash at the end of a line"
    return f"{shown} is not a JSON escape", "write two backslashes for one: \\\\"


_MEANINGS: Final = {"pair": _pair, "half": _code, "code": _code, "short": _short}
_EXPLAINED: Final = {"half": _half_explained, "control": _control_explained, "wrong": _wrong_explained}
_SOUND: Final = frozenset({"plain", "pair", "code", "short", "control"})
