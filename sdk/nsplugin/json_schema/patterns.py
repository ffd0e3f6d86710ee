"""Regular expressions of schemas, which anyone may have written: bounded in size and in time."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import Any, Final

from nsplugin.json_schema import dialect
from nsplugin.json_schema.budget import Budget, Exhausted
from nsplugin.lazy import pattern
from nsplugin.wording import quoted

_LONGEST: Final = 5_000
_LARGEST: Final = 20_000
"""Length in characters, and size with counted repetitions written out: ``(a{1000}){1000}`` would take memory without end."""

_PART: Final = pattern(
    rf"""(?P<escape>{dialect.ESCAPE})
      | (?P<set>\[(?:[^\]\\]|\\.)*\])
      | (?P<odd>\(\*|(?:[*+?]|\{{[0-9]+(?:,[0-9]*)?\}})\+)
      | (?P<open>\((?:\?(?:<[^<>()]*>|<?[=!]|-?[a-zA-Z]+:|[a-zA-Z]<|.?))?)
      | (?P<close>\))
      | (?P<count>\{{(?P<least>[0-9]+)(?:,[0-9]*)?\}})
      | (?P<brace>\{{)
      | (?P<any>\.)
      | (?P<end>\$)
      | .""",
    re.VERBOSE | re.DOTALL,
)
_WRITTEN: Final[dict[str, Callable[[str], str]]] = {
    "escape": dialect.escape,
    "set": dialect.brackets,
    "open": dialect.group,
    "brace": lambda _: r"\{",
    "any": lambda _: r"[^\n\r\u2028\u2029]",
    "end": lambda _: r"\Z",
}
"""By kind of part: how it is written for the ``regex`` library."""


class PatternError(ValueError):
    """A pattern that cannot be used. The message says why, in words."""


def search(pattern: str, text: str, budget: Budget) -> bool:
    """Whether the pattern matches somewhere in the text (as JSON Schema has it).

    Raises :class:`PatternError` for a pattern that cannot be used and :class:`Exhausted` for one that backtracks without end.
    """
    budget.spend(1 + len(text) // 64)
    if budget.seconds <= 0:
        raise Exhausted("its patterns take too long", "make the payload smaller, or the patterns simpler")
    started = perf_counter()
    try:
        return compiled(pattern).search(text, timeout=max(budget.seconds, 0.001)) is not None
    except TimeoutError:
        shown = quoted(pattern)
        raise Exhausted(f"the pattern {shown} backtracks without end", "write it without a repetition inside another") from None
    finally:
        budget.spend_time(started)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """The pattern, ready to search. Raises :class:`PatternError`."""
    import regex  # only when a schema has a pattern: its search takes a time limit, which re's does not

    source = _translated(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return regex.compile(source)
    except (regex.error, ValueError, OverflowError) as error:
        raise PatternError(f"{quoted(pattern)} is not a regular expression: {error}") from None
    except RecursionError:
        raise PatternError(f"{quoted(pattern)} is nested too deeply for a regular expression") from None


def _translated(pattern: str) -> str:
    """The pattern in the dialect of the ``regex`` library; a brace that counts nothing is a brace.

    Raises :class:`PatternError`.
    """
    if len(pattern) > _LONGEST:
        raise PatternError(f"a pattern of {len(pattern):,} characters is too long: at most {_LONGEST:,} are read")
    size = _Size()
    parts = []
    try:
        for match in _PART.finditer(pattern):
            size.add(match)
            parts.append(_written(match))
    except dialect.Foreign as foreign:
        instead = f": write {foreign.instead}" if foreign.instead else ""
        raise PatternError(f"{quoted(pattern)} uses {foreign.part}, which JavaScript does not have{instead}") from None
    return "".join(parts)


def _written(match: re.Match[str]) -> str:
    kind = "count" if match["count"] else match.lastgroup or ""
    if kind == "odd":
        raise dialect.Foreign(match[0])
    return _WRITTEN[kind](match[0]) if kind in _WRITTEN and match[0] != "(" else match[0]


class _Size:
    """The size of a pattern with its counted repetitions written out. Raises :class:`PatternError` when it is too large."""

    def __init__(self) -> None:
        self._sums = [0]
        self._last = 0

    def add(self, part: re.Match[str]) -> None:
        """Count one part of the pattern, from left to right."""
        if part["open"]:
            self._sums.append(0)
            return
        if part["count"]:
            more = self._last * (int(part["least"][:9] or 0) - 1)
        else:
            more = self._sums.pop() if part["close"] and len(self._sums) > 1 else 1
            self._last = more
        self._last += max(more, 0) if part["count"] else 0
        self._sums[-1] += max(more, 0)
        if self._sums[-1] > _LARGEST:
            raise PatternError(f"a pattern of this size is not read: its counted repetitions make more than {_LARGEST:,} parts")
