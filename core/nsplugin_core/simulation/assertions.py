"""``--assert dead=0``: what a summary has to be, for CI."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nsplugin.nearest import closest
from nsplugin_core.simulation.orders import OrderError
from nsplugin_core.simulation.summary import Summary

_OPERATORS: Final[dict[str, Callable[[int, int], bool]]] = {
    "=": operator.eq, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
_WRITTEN: Final = re.compile(r"([A-Za-z][A-Za-z_-]*)\s*(<=|>=|==|=|<|>)\s*(\d{1,15})")
_SYNONYMS: Final = {"dead": "dead_letters", "success": "succeeded", "waits": "retries"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A comparison of one count with a number."""

    text: str
    count: str
    operator: str
    number: int

    def failure(self, summary: Summary) -> str | None:
        """What is wrong, or ``None`` when it holds."""
        found: int = getattr(summary, self.count)
        if _OPERATORS[self.operator](found, self.number):
            return None
        return f"--assert {self.text} does not hold: {self.count.replace('_', ' ')} is {found:,}"


def read(texts: Sequence[str]) -> list[Assertion]:
    """Read assertions. Raises ``OrderError``."""
    return list(map(_read, texts))


def failures(assertions: Sequence[Assertion], summary: Summary) -> Iterator[str]:
    """What does not hold, a sentence each."""
    return (text for each in assertions if (text := each.failure(summary)) is not None)


def _read(text: str) -> Assertion:
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise OrderError(f"--assert: {text!r} is not understood; write dead=0 or fires>=24 (=, <, >, <=, >=)")
    written = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", match[1]).replace("-", "_").lower()
    count = _SYNONYMS.get(written, written)
    if count not in Summary.names():
        meant = closest(count, (*_SYNONYMS, *Summary.names()))
        hint = f"did you mean {meant}?" if meant else f"there are {', '.join(Summary.names())}"
        raise OrderError(f"--assert: there is no count {match[1]!r}; {hint}")
    return Assertion(text=text, count=count, operator=match[2].replace("==", "="), number=int(match[3]))
