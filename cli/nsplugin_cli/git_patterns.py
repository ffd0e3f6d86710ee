"""Path patterns as git writes them. One that is none is no pattern to git either, which leaves its line out.

pathspec reads them; its expressions take time without end for a line of many wildcards (``*a*a*a*b``), which anybody may send
for review. Here each wildcard but the last of its kind takes the first place that fits and never another, which finds the same.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """What the lines match together, without those that are no patterns."""
    written = list(lines)
    try:
        return _compiled(written)
    except _NO_PATTERN:
        return _compiled([line for line in written if is_pattern(line)])


def is_pattern(line: str) -> bool:
    """Whether git would match anything by it: ``!`` and ``[z-a]`` are none."""
    try:
        _compiled([line])
    except _NO_PATTERN:
        return False
    return True


_NO_PATTERN: Final = (ValueError, OverflowError, RecursionError, re.error)


_STAR: Final = "[^/]*"
_ABOVE: Final = "(?:.+/)?"
_BETWEEN: Final = "(?:/.+)?"
_TOKEN: Final = re.compile(r"\[\^/\]\*|\(\?:\.\+/\)\?|\(\?:/\.\+\)\?|\(.*|\[\^/\]|\[\^?\]?(?:\\.|[^\]])*\]|\\.|.", re.DOTALL)
"""The parts of pathspec's expressions: wildcards, what ends them, sets of characters, escapes, characters."""
_FOLDERS: Final = {_ABOVE: "(?:[^/]+/)*?", _BETWEEN: "(?:/[^/]+)*?"}
MAX_LINE: Final = 4_096
"""A longer line is no pattern: no path is."""
MAX_LINES: Final = 10_000
"""So many lines of a file are read."""


def without_backtracking(expression: str) -> str:
    """The same expression, linear in the length of a path for each of its wildcards."""
    parts: list[str] = []
    star = folders = None
    for token in _TOKEN.findall(expression):
        if token == _STAR:
            if star is not None:
                parts[star:] = [f"(?>[^/]*?{''.join(parts[star + 1 :])})"]
            star = len(parts)
        elif token in _FOLDERS:
            if folders is not None:
                parts[folders:] = [f"(?>{_FOLDERS[parts[folders]]}{''.join(parts[folders + 1 :])}(?=/))"]
            star, folders = None, len(parts)
        elif token == "/":
            star = None
        elif token.startswith("[^") and token != "[^/]":
            token = f"[^/{token[2:]}"  # in git, a set matches no slash
        parts.append(token)
    return "".join(parts)


@cache
def _pattern() -> Any:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    class Pattern(GitIgnoreSpecPattern):
        """pathspec's, with an expression that ends."""

        @classmethod
        def pattern_to_regex(cls, pattern: Any) -> Any:
            expression, include = super().pattern_to_regex(pattern) if len(pattern) <= MAX_LINE else (None, None)
            return (without_backtracking(expression) if expression is not None else None), include

    return Pattern


def _compiled(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of sets in sets, such as [[:alpha:]]
        return GitIgnoreSpec.from_lines(lines[:MAX_LINES], _pattern())
