"""Operators on known scalars, refused at once where the result could be large: an evaluation never costs more than reading."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

from nsplugin.lazy import pattern
from nsplugin.pointers import UNKNOWN

MAX_BITS: Final = 4096
MAX_LENGTH: Final = 1 << 20
"""The longest string, in characters, that is made by evaluating: sixteen times the largest payload."""

MAX_ROUNDS: Final = 1_000
"""A loop with more rounds is not followed."""

_SPEC: Final = pattern(r"(?:[^{}]?[<>=^])?[+\- ]?#?0?[0-9]{0,3}[,_]?(?:\.[0-9]{1,2})?[a-zA-Z%]?")
_PERCENT: Final = pattern(r"%(?:0?[0-9]{0,2}[sdrf%])")
_NUMBERS: Final = (int, float, complex)


def binary(left: Any, operation: ast.operator, right: Any) -> Any:
    """The value of a binary operation on scalars, or ``UNKNOWN``."""
    try:
        return _bounded(_BINARY[type(operation)](left, right))
    except Exception:
        return UNKNOWN


def unary(operation: ast.unaryop, operand: Any) -> Any:
    """The value of ``-x``, ``+x`` or ``~x``, or ``UNKNOWN``."""
    function = _UNARY.get(type(operation))
    if function is None or not isinstance(operand, _NUMBERS) or (function is operator.invert and type(operand) is bool):
        return UNKNOWN
    try:
        return function(operand)
    except TypeError:
        return UNKNOWN


def formatted(value: Any, conversion: int, spec: str) -> Any:
    """One field of an f-string as text, or ``UNKNOWN``."""
    if not isinstance(value, (str, int, float, type(None))) or not _SPEC.fullmatch(spec):
        return UNKNOWN
    try:
        converted = _CONVERSIONS[conversion](value)
        return format(converted, spec)
    except (KeyError, ValueError, TypeError, OverflowError):
        return UNKNOWN


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return UNKNOWN
    if isinstance(value, (str, bytes)) and len(value) > MAX_LENGTH:
        return UNKNOWN
    return value


def bounded(value: Any) -> Any:
    """The scalar itself, or ``UNKNOWN`` when it is larger than anything that is evaluated."""
    return _bounded(value)


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, (str, bytes)) and len(left) + len(right) > MAX_LENGTH:
        return UNKNOWN
    return left + right


def _multiply(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, (str, bytes)):
        left, right = right, left
    if isinstance(left, (str, bytes)):
        return left * right if len(left) * max(right, 0) <= MAX_LENGTH else UNKNOWN
    return left * right


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        wild = _PERCENT.sub("", left)
        return UNKNOWN if "%" in wild or not isinstance(right, (str, int, float)) else left % right
    return UNKNOWN if isinstance(left, bytes) else left % right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * right
        return left**right if -MAX_BITS <= bits <= MAX_BITS else UNKNOWN
    return left**right


def _shift_left(left: int, right: int) -> Any:
    return left << right if left.bit_length() + right <= MAX_BITS else UNKNOWN


_BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: _add,
    ast.Sub: operator.sub,
    ast.Mult: _multiply,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _modulo,
    ast.Pow: _power,
    ast.LShift: _shift_left,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_UNARY: Final[dict[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_CONVERSIONS: Final[dict[int, Callable[[Any], Any]]] = {-1: lambda value: value, 115: str, 114: repr, 97: ascii}
