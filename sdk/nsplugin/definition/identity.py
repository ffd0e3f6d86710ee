"""What a definition and the project file may both give, and must then give alike (spec/sdk.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from nsplugin.findings import problem
from nsplugin.pointers import UNKNOWN, join
from nsplugin.wording import found

if TYPE_CHECKING:
    from nsplugin.rules import Problem

FROM_PROJECT: Final = ("id", "version")


def contradictions(raw: Mapping[Any, Any], project: Mapping[str, Any]) -> Iterator[Problem]:
    """A finding for each value that the call and the project file give differently. What is not known contradicts nothing."""
    for key in FROM_PROJECT:
        own, other = (given.get(key, UNKNOWN) for given in (raw, project))
        if UNKNOWN not in (own, other) and own != other:
            message = f"`{key}` is {found(own, 'python')} in the call and {found(other, 'python')} in the project file"
            yield problem("NSP001", join("", key), message, "give it in one place")
