"""JavaScript's strings and numbers: literals, and what operators make of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from tree_sitter import Node

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source.typescript_tree import Source

MOST_TEXT: Final = 200_000
"""More characters than that are not put together."""
ABSENT: Final = object()


def undefined(value: Any) -> bool:
    """Whether the value is JavaScript's ``undefined``, which is as if the key were not there."""
    return value is ABSENT


def pieces(source: Source, node: Node, *, substitutions: bool = False) -> Iterator[tuple[str, int, int]]:
    """The decoded parts of a string or template literal with the bytes each stands for: ``(text, start, end)``.

    With ``substitutions`` each of a template's has its place among the parts, as ``("", -1, -1)``.
    """
    high: tuple[str, int] | None = None
    for child in node.named_children:
        if child.type == "template_substitution" and substitutions:
            if high is not None:
                yield high[0], high[1], child.start_byte
                high = None
            yield "", -1, -1
        if child.type not in ("string_fragment", "escape_sequence"):
            continue
        text, start = source.text(child), child.start_byte
        if child.type == "escape_sequence":
            text = unescaped(text)
        elif node.type == "template_string" and "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if high is not None:
            paired = "\udc00" <= text[:1] <= "\udfff"
            text, start = (whole(high[0] + text), high[1]) if paired else (high[0] + text, high[1])
            high = None
        if len(text) == 1 and "\ud800" <= text <= "\udbff":
            high = (text, start)
            continue
        yield text, start, child.end_byte
    if high is not None:
        yield high[0], high[1], node.end_byte - 1


def whole(text: str) -> str:
    """The text with surrogates that meet joined to one character, which JavaScript keeps apart only in its own counting."""
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}


def unescaped(text: str) -> str:
    body = text[1:]
    if body[:1] in ("\n", "\r", "\u2028", "\u2029"):
        return ""
    if body[:1] in ("x", "u") and len(body) > 1:
        try:
            return chr(int(body[1:].strip("{}"), 16))
        except (ValueError, OverflowError):
            return body
    if body and all(digit in "01234567" for digit in body):
        return chr(int(body, 8))
    return _ESCAPES.get(body, body)


def as_text(value: Any) -> str | None:
    """JavaScript's ``String(value)`` for what has one plain answer."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int) and abs(value) < 10**21:
        return str(value)
    return "null" if value is None else None


def parsed_number(text: str) -> Any:
    digits = text.replace("_", "").lower()
    if len(digits) > 400 or digits.endswith("n"):
        return UNKNOWN
    try:
        if digits[:2] in ("0x", "0o", "0b"):
            return narrow(float(int(digits, 0)))
        return narrow(float(digits)) if not (len(digits) > 1 and digits.isdigit() and digits[0] == "0") else UNKNOWN
    except (ValueError, OverflowError):
        return UNKNOWN


def narrow(value: float) -> Any:
    """JavaScript has one kind of number: a whole one is an integer here, what is not finite stays as it is."""
    if math.isfinite(value) and value == int(value) and abs(value) <= 2**53 - 1:
        return int(value)
    return value


def computed(operator: str, left: Any, right: Any) -> Any:
    if operator == "??" and left is not UNKNOWN:
        return right if left is None or undefined(left) else (left if _scalar(left) else UNKNOWN)
    if operator == "+" and (isinstance(left, str) or isinstance(right, str)):
        first, second = as_text(left), as_text(right)
        return (
            whole(first + second)
            if first is not None and second is not None and len(first) + len(second) <= MOST_TEXT
            else UNKNOWN
        )
    if not all(isinstance(side, (int, float)) and not isinstance(side, bool) for side in (left, right)):
        return UNKNOWN
    return _arithmetic(operator, float(left), float(right))


def _scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


def _arithmetic(operator: str, left: float, right: float) -> Any:
    try:
        match operator:
            case "+":
                return narrow(left + right)
            case "-":
                return narrow(left - right)
            case "*":
                return narrow(left * right)
            case "/":
                return narrow(left / right)
            case "%":
                return narrow(math.fmod(left, right))
            case "**":
                return narrow(left**right)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError):
        return UNKNOWN
    return UNKNOWN
