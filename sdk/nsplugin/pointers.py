"""JSON pointers (RFC 6901) and the mark for what a static reader cannot know."""

from __future__ import annotations

from typing import Final


class Unknown:
    """The type of :data:`UNKNOWN`, a value that only running the plugin would tell."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()
"""Stands in a raw manifest for a value that was not evaluated. It is never guessed and never reported.

As a value: that value is unknown. As a key of a mapping: the mapping may hold further keys.
As an item of a list: any number of items may stand there.
"""


def join(pointer: str, *tokens: str | int) -> str:
    """Append reference tokens to a pointer: ``join("/jobs", "a/b") == "/jobs/a~1b"``."""
    return pointer + "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def split(pointer: str) -> tuple[str, ...]:
    """The unescaped reference tokens of a pointer: ``split("/jobs/a~1b") == ("jobs", "a/b")``."""
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


def parent(pointer: str) -> str:
    """The pointer of the enclosing container; the root is its own parent."""
    return pointer.rpartition("/")[0]
