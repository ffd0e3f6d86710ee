"""Task ids: the platform's prefix and random upper-case letters and digits (spec/cogover.md X7)."""

from __future__ import annotations

import random
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PAIRS: Final = tuple(first + second for first in ALPHABET for second in ALPHABET)


def new_id(prefix: str, length: int, source: random.Random) -> str:
    """An id of ``length`` characters; two are the same once in billions of billions."""
    number = source.getrandbits(8 * length)
    pairs: list[str] = []
    for _ in range((length - len(prefix) + 1) // 2):
        number, pair = divmod(number, len(_PAIRS))
        pairs.append(_PAIRS[pair])
    return (prefix + "".join(pairs))[:length]
