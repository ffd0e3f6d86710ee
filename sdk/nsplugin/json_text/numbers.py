"""JSON numbers as Python numbers: exact, or refused."""

from __future__ import annotations

from math import isfinite

from nsplugin.json_limits import SAFE_INTEGER

_WRITTEN_SHORT = 1e21
"""From here on ``JSON.stringify`` writes an exponent; an integral double below comes out as digits, and would come back as an
integer beyond ±(2^53-1)."""


def integer(text: str) -> int | None:
    """The integer that a JSON text names, or ``None`` when it lies beyond ±(2^53-1). Cheap for any number of digits."""
    if len(text) > 17:
        return None
    number = int(text)
    return number if -SAFE_INTEGER <= number <= SAFE_INTEGER else None


def real(text: str) -> int | float | None:
    """The number that a JSON text with a fraction or an exponent names; 5.0 is the integer 5 (spec/nextskin.md D8).

    ``None`` when it is not :func:`exact`.
    """
    number = float(text)
    if not exact(number):
        return None
    return int(number) if number.is_integer() and abs(number) <= SAFE_INTEGER else number


def exact(number: float) -> bool:
    """Whether a double is finite and, if it is an integer that JSON writes as digits, within ±(2^53-1)."""
    return isfinite(number) and not (SAFE_INTEGER < abs(number) < _WRITTEN_SHORT)
