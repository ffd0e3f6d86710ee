"""Copies of what an author passed in: built-in types only, so that nothing later runs an author's code by touching them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from nsplugin.handlers import class_name, is_a, type_name
from nsplugin.pointers import UNKNOWN
from nsplugin.record import field, record

MAX_VALUES: Final = 200_000
"""How many values one copy may hold: far beyond every limit on a payload, far below what takes noticeable time."""

_MAX_DEPTH: Final = 100
"""How deep a copy goes: deeper than the rules allow, so that the depth itself is still reported."""


class TooLarge(Exception):
    """The value holds more than a manifest ever could."""


class StandIn:
    """Stands for an object of an author's own class: it has the name of its type, those of its bases, and nothing else."""

    bases: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return stand_in, (type(self).__name__, self.bases)


def stand_in(name: str, bases: tuple[str, ...] = ()) -> StandIn:
    """An object whose type is called ``name``."""
    kind: type[StandIn] = type(name, (StandIn,), {"__repr__": lambda self: f"<{name}>", "bases": bases})
    return kind()


def _standing_for(value: Any) -> StandIn:
    known = type.__dict__["__mro__"].__get__(type(value))
    return stand_in(type_name(value), tuple(map(class_name, known)))


def detach(value: Any) -> Any:
    """A copy of JSON-like data that shares nothing mutable with ``value``.

    Subclasses of str, int, float, list and dict become those types; tuples stay tuples (the rules refuse them); any other
    object becomes a stand-in of its type's name. Cycles stay cycles, but for those through a tuple, which
    hold a stand-in. Raises :class:`TooLarge` for more values than 200,000.
    """
    return _Copy().of(value, 0)


@record(kw_only=False, frozen=False)
class _Copy:
    left: int = MAX_VALUES
    open: dict[int, Any] = field(default_factory=dict)

    def of(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if self.left < 0:
            raise TooLarge
        if type(value) in _ATOMS:
            return value
        for kind, copied in _CONTAINERS:
            if is_a(value, kind):
                return self._container(value, depth, copied)
        return scalar(value)

    def _container(self, value: Any, depth: int, copied: Any) -> Any:
        if depth == _MAX_DEPTH:
            return _standing_for(value)
        if id(value) in self.open:
            return self.open[id(value)]
        result = copied(self, value, depth + 1)
        self.open.pop(id(value), None)
        return result

    def mapping(self, value: dict[Any, Any], depth: int) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        self.open[id(value)] = result
        for key, item in list(dict.items(value)):
            result[scalar(key)] = self.of(item, depth)
        return result

    def sequence(self, value: list[Any], depth: int) -> list[Any]:
        result: list[Any] = []
        self.open[id(value)] = result
        result.extend(self.of(item, depth) for item in list.__iter__(value))
        return result

    def fixed(self, value: tuple[Any, ...], depth: int) -> tuple[Any, ...]:
        self.open[id(value)] = stand_in("tuple")
        return tuple(self.of(item, depth) for item in tuple.__iter__(value))


_ATOMS: Final = frozenset((str, int, float, bool, type(None)))
_CONTAINERS: Final = ((dict, _Copy.mapping), (list, _Copy.sequence), (tuple, _Copy.fixed))


def scalar(value: Any) -> Any:
    """The same value as one of Python's own types, or a stand-in."""
    if type(value) in _ATOMS or value is UNKNOWN:
        return value
    for exact, plain in _PLAIN:
        if is_a(value, exact):
            return plain(value)
    return _standing_for(value)


_PLAIN: Final = ((str, str.__str__), (int, int.__int__), (float, float.__float__))


@record(kw_only=False)
class Unreadable:
    """Why a mapping could not be read."""

    reason: str


def entries(value: Any, limit: int = MAX_VALUES) -> list[tuple[Any, Any]] | Unreadable | None:
    """The entries of a mapping of any class, ``None`` when it is not a mapping. Never raises.

    Of a mapping of an author's own class at most ``limit + 1`` entries are read, in case its iteration never ends.
    """
    if is_a(value, dict):
        return list(dict.items(value))
    try:
        return list(_read(value, limit + 1)) if issubclass(type(value), Mapping) else None
    except Exception as error:
        return Unreadable(f"reading it raised {type(error).__name__}")


def _read(value: Mapping[Any, Any], limit: int) -> Iterator[tuple[Any, Any]]:
    for key in islice(value, limit):
        yield key, value[key]
