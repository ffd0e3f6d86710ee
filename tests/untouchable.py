"""An object none of whose code may run: whoever looks at it other than from outside is found out."""

from __future__ import annotations

from typing import Any


class Never(BaseException):
    """Raised by code that must not run; no ``except Exception`` hides it."""


def untouchable() -> Any:
    """An object that raises whenever any of its code runs. (Made in a function: pytest looks at what a module holds.)"""

    class Untouchable:
        __slots__ = ()

        @property
        def __class__(self) -> Any:
            raise Never

        def __getattribute__(self, name: str) -> Any:
            raise Never

        def __repr__(self) -> str:
            raise Never

        def __eq__(self, other: object) -> bool:
            raise Never

        def __bool__(self) -> bool:
            raise Never

        __hash__ = object.__hash__

    return Untouchable()
