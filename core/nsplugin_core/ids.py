"""Task ids: the platform's prefix and random upper-case letters and digits (spec/cogover.md X7)."""

from __future__ import annotations

import random
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PAIRS: Final = tuple(first + second for first in ALPHABET for second in ALPHABET)
_TWO: Final = len(_PAIRS)
_SIX: Final = _TWO**3


def new_id(prefix: str, length: int, source: random.Random) -> str:
    """An id of ``length`` characters; two are the same once in billions of billions."""
    number = source.getrandbits(8 * length)
    found = prefix
    while len(found) < length:
        number, six = divmod(number, _SIX)
        six, first = divmod(six, _TWO)
        third, second = divmod(six, _TWO)
        found += _PAIRS[first] + _PAIRS[second] + _PAIRS[third]
    return found[:length]
