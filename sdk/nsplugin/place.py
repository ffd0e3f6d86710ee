"""Places as chains, spelt out as pointers only where something is wrong: pointers for everything would be slow and large."""

from __future__ import annotations

from nsplugin.pointers import join

Place = tuple["Place", str] | None
"""The enclosing place and the reference token within it; ``None`` is where a walk began."""


def tokens(place: Place) -> list[str]:
    """The reference tokens from the beginning of the walk."""
    names = []
    while place is not None:
        place, name = place
        names.append(name)
    return names[::-1]


def pointer(base: str, place: Place) -> str:
    """The JSON pointer of a place, when the walk began at ``base``."""
    return join(base, *tokens(place))
