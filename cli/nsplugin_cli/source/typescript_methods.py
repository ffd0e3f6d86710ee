"""What JavaScript's pure methods make of strings and arrays that are known; what is not certain fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from nsplugin_cli.source.typescript_scalars import MOST_TEXT, as_text, whole

_WHITE: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""What ``trim`` takes away; Python's ``strip`` takes other characters."""


class Failed(Exception):
    """The result is not certain, or would be too large."""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Failed
    return value


def _units(value: Any) -> str:
    """A text whose characters JavaScript counts as Python does: none of them takes two UTF-16 units."""
    text = _text(value)
    if text and max(text) > "\ud7ff":
        raise Failed
    return text


def _whole_number(value: Any) -> int:
    if type(value) is not int:
        raise Failed
    return value


def _bounded(size: int) -> None:
    if size > MOST_TEXT:
        raise Failed


def _repeat(on: Any, times: Any) -> str:
    text, count = _text(on), _whole_number(times)
    _bounded(len(text) * count)
    if count < 0:
        raise Failed
    return whole(text * count)


def _concat(on: Any, *others: Any) -> str:
    return _joined([_text(on), *others])


def _joined(values: list[Any], separator: str = "") -> str:
    texts = [as_text(value) for value in values]
    known = [text for text in texts if text is not None]
    if len(known) != len(texts):
        raise Failed
    _bounded(sum(map(len, known)) + len(separator) * len(known))
    return whole(separator.join(known))


def _join(on: Any, separator: Any = ",") -> str:
    if not isinstance(on, list):
        raise Failed
    return _joined(["" if value is None else value for value in on], _text(separator))


def _pad(on: Any, length: Any, fill: Any) -> tuple[str, str]:
    text, size, filling = _units(on), _whole_number(length), _units(fill)
    _bounded(size)
    missing = max(0, size - len(text)) if filling else 0
    return text, (filling * (missing // len(filling or " ") + 1))[:missing]


def _pad_start(on: Any, length: Any, fill: Any = " ") -> str:
    text, filling = _pad(on, length, fill)
    return filling + text


def _pad_end(on: Any, length: Any, fill: Any = " ") -> str:
    text, filling = _pad(on, length, fill)
    return text + filling


def _lower(on: Any) -> str:
    return _ascii(on).lower()


def _upper(on: Any) -> str:
    return _ascii(on).upper()


def _ascii(on: Any) -> str:
    text = _text(on)
    if not text.isascii():
        raise Failed
    return text


def _slice(on: Any, start: Any = 0, end: Any = None) -> str:
    return _units(on)[_whole_number(start) : None if end is None else _whole_number(end)]


def _replaced(most: int) -> Callable[[Any, Any, Any], str]:
    def replaced(on: Any, old: Any, new: Any) -> str:
        text, old_text, new_text = _text(on), _text(old), _text(new)
        if "$" in new_text or not old_text:
            raise Failed
        _bounded(len(text) + text.count(old_text) * len(new_text))
        return whole(text.replace(old_text, new_text, most))

    return replaced


def _to_string(on: Any) -> str:
    text = as_text(on) if isinstance(on, (str, int)) else None
    if text is None:
        raise Failed
    return text


METHODS: Final[dict[str, Callable[..., Any]]] = {
    "repeat": _repeat,
    "concat": _concat,
    "join": _join,
    "padStart": _pad_start,
    "padEnd": _pad_end,
    "toLowerCase": _lower,
    "toUpperCase": _upper,
    "trim": lambda on: _text(on).strip(_WHITE),
    "trimStart": lambda on: _text(on).lstrip(_WHITE),
    "trimEnd": lambda on: _text(on).rstrip(_WHITE),
    "slice": _slice,
    "replace": _replaced(1),
    "replaceAll": _replaced(-1),
    "toString": _to_string,
}
"""By name: what each makes of the value it is called on. They raise :class:`Failed`, or ``TypeError`` for other arguments."""
