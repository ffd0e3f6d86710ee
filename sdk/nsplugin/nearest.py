"""The one name that a misspelt name was meant to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

LONGEST: Final = 128
MOST: Final = 500
_LETTERS: Final = 8_000
"""No longer word, no more candidates and no more letters in all are compared: a suggestion is a courtesy, and foreign input
must not make it slow."""


def fold(name: str) -> str:
    """The name without what spelling styles differ in: ``max_attempts`` and ``maxAttempts`` fold to the same."""
    return name.replace("_", "").replace("-", "").casefold()


def closest(word: str, candidates: Iterable[str], *, within: int = 2) -> str | None:
    """The candidate that ``word`` most likely stands for, or ``None`` when none is near or two are equally near.

    ``within``: how many characters may differ in a word of five or more.
    """
    known = dict.fromkeys(islice(candidates, MOST + 1))
    if len(word) > LONGEST or len(known) > MOST:
        return None
    folded = fold(word)
    same = [name for name in known if len(name) <= LONGEST and fold(name) == folded]
    if same:
        return same[0] if len(same) == 1 else None
    return _nearest(word, known, within)


def look_up(word: str, table: Mapping[str, str]) -> str | None:
    """The entry of a table whose key differs from ``word`` in spelling style only."""
    return table.get(word) or next((value for key, value in table.items() if fold(key) == fold(word)), None)


def _nearest(word: str, candidates: Iterable[str], within: int) -> str | None:
    limit = within if len(word) > 4 else 1 if len(word) > 2 else 0
    near = [name for name in candidates if abs(len(name) - len(word)) <= limit]
    if len(word) * len(near) > _LETTERS:
        return None
    away = {name: _distance(word.casefold(), name.casefold(), limit) for name in near}
    least = min(away.values(), default=limit + 1)
    best = [name for name in near if away[name] == least]
    return best[0] if least <= limit and len(best) == 1 else None


def _distance(left: str, right: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours; a number beyond ``limit`` when there are more.

    Only the cells near the diagonal are computed: those farther away are beyond ``limit``.
    """
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        line = [row] + [limit + 1] * len(right)
        for column in range(max(1, row - limit), min(len(right), row + limit) + 1):
            b = right[column - 1]
            step = min(above[column] + 1, line[column - 1] + 1, above[column - 1] + (a != b))
            if row > 1 and column > 1 and a == right[column - 2] and b == left[row - 2]:
                step = min(step, before[column - 2] + 1)
            line[column] = step
        if min(line) > limit:
            return limit + 1
        before, above = above, line
    return above[-1]
