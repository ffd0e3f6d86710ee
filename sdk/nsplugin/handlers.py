"""What is known of a handler without calling it, from its function object or from its source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from nsplugin.record import record

_TEXT: Final = 60
"""How many characters of a name or string a description quotes."""


YIELDS: Final = "it contains yield, so calling it would run none of its code"
"""Why a generator function is no handler."""


@record
class Parameter:
    """A parameter: ``positional_only`` ones cannot be reached by name, ``keyword_only`` ones not by position."""

    name: str
    required: bool
    positional_only: bool = False
    keyword_only: bool = False


@record
class Handler:
    """A handler as the rules see it. ``described`` names it for a person (``function expire``, ``the string "x"``).

    ``parameters`` is ``None`` when nothing is known of them; ``any_name`` says that ``**kwargs`` takes every name.
    ``refused`` says why something callable can still not be a handler (a generator function, a class).
    """

    described: str
    callable: bool
    parameters: tuple[Parameter, ...] | None = None
    any_name: bool = False
    missing: bool = False
    refused: str | None = None

    def chosen(self, offered: Iterable[str]) -> tuple[str, ...]:
        """Those of the offered argument names that a call hands over, in the order offered."""
        if self.any_name or self.parameters is None:
            return tuple(offered)
        named = {parameter.name for parameter in self.parameters if not parameter.positional_only}
        return tuple(name for name in offered if name in named)

    @property
    def only_parameter(self) -> str | None:
        """The name of the parameter when there is exactly one (Cogover's whole ``context``, spec/sdk.md)."""
        if self.any_name or self.parameters is None or len(self.parameters) != 1:
            return None
        return self.parameters[0].name


MISSING: Final = Handler(described="nothing", callable=False, missing=True)
"""No handler was given."""


def is_a(value: Any, kind: type) -> bool:
    """``isinstance`` by the real type alone: a hostile ``__class__`` property is not asked."""
    return kind in _mro(type(value))


def type_attribute(value: Any, name: str) -> Any:
    """What the type of ``value`` holds under that name, found without running a descriptor or a metaclass."""
    for entry in _mro(type(value)):
        attributes = type.__dict__["__dict__"].__get__(entry)
        if name in attributes:
            return attributes[name]
    return None


def _mro(kind: type) -> tuple[type, ...]:
    order: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return order


def type_name(value: Any) -> str:
    """The name of the real type of ``value``, fit for a message."""
    return class_name(type(value))


def class_name(kind: type) -> str:
    """The name of a class, fit for a message."""
    return clipped(type.__dict__["__name__"].__get__(kind))


def clipped(text: str) -> str:
    """The text on one line of printable characters, cut to a length that a message can hold."""
    shown = text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
    return shown if shown.isprintable() else ascii(shown)[1:-1]
