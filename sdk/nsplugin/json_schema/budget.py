"""How much work foreign schemas and patterns may cause."""

from __future__ import annotations

from collections.abc import Collection
from time import perf_counter
from typing import Final

from nsplugin.nearest import MOST, closest

STEPS: Final = 200_000
"""Steps, a few microseconds each: far beyond what a payload within its size takes, and no long wait."""

SECONDS: Final = 0.5
"""Time that all patterns together may take: how often a pattern backtracks cannot be counted in steps."""

LETTERS: Final = 100_000
"""How many characters suggestions may compare: a thousand misspelt names among the keys of an ordinary object."""


class Exhausted(Exception):
    """The work is at its bound. ``why`` says what took so long, in words."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.why = why
        self.hint = hint


class Budget:
    """Steps and seconds that are left. One may be shared by many checks, so that their sum is bounded.

    ``exhausted`` is set once it was told that the work is at its bound; what shares the budget then ends at once.
    """

    __slots__ = ("exhausted", "letters", "seconds", "steps")

    def __init__(self, steps: float = STEPS, seconds: float = SECONDS) -> None:
        self.steps = steps
        self.seconds = seconds
        self.letters = LETTERS
        self.exhausted = False

    def spend(self, steps: float = 1) -> None:
        """Take steps from the budget. Raises :class:`Exhausted` when none are left."""
        self.steps -= steps
        if self.steps < 0:
            hint = "make the payload or the schema smaller; anyOf, oneOf and $ref inside each other multiply the steps"
            raise Exhausted("it takes too many steps", hint)

    def suggestion(self, word: str, candidates: Collection[str]) -> str | None:
        """The candidate that a misspelt word stands for, as long as letters are left to compare."""
        self.letters -= len(word) * min(len(candidates), MOST)
        return closest(word, candidates) if self.letters >= 0 else None

    def spend_time(self, since: float) -> None:
        """Take the time since ``since`` (of ``perf_counter``)."""
        self.seconds -= perf_counter() - since
