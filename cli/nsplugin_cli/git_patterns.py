"""Path patterns as git writes them. One that is none is no pattern to git either, which leaves its line out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

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


def _compiled(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of sets in sets, such as [[:alpha:]]
        return GitIgnoreSpec.from_lines(lines)
