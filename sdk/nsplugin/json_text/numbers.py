"""JSON numbers as Python numbers: exact, or refused."""

from __future__ import annotations

from math import isinf

from nsplugin.json_limits import SAFE_INTEGER

_WRITTEN_AS_INTEGER = 10**21
"""JSON.stringify writes integral doubles below this as digits, so that they would come back as integers."""


def integer(text: str) -> int | None:
    """The integer that a JSON text names, or ``None`` when it lies beyond ±(2^53-1). Cheap for any number of digits."""
    if len(text) > 17:
        return None
    number = int(text)
    return number if -SAFE_INTEGER <= number <= SAFE_INTEGER else None


def real(text: str) -> int | float | None:
    """The number that a JSON text with a fraction or an exponent names; 5.0 is the integer 5 (spec/nextskin.md D8).

    ``None`` when it is beyond the range of a double, or an integer beyond ±(2^53-1) that JSON would write as digits.
    """
    number = float(text)
    if isinf(number):
        return None
    if not number.is_integer():
        return number
    if -SAFE_INTEGER <= number <= SAFE_INTEGER:
        return int(number)
    return number if abs(number) >= _WRITTEN_AS_INTEGER else None
