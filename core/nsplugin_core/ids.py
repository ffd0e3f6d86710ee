"""Task ids: the platform's prefix and random upper-case letters and digits (spec/cogover.md X7)."""

from __future__ import annotations

import random
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def new_id(prefix: str, length: int, source: random.Random) -> str:
    """An id of ``length`` characters; two are the same once in billions of billions."""
    number = source.getrandbits(8 * length)
    digits: list[str] = []
    for _ in range(length - len(prefix)):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return prefix + "".join(digits)
