"""What JSON would silently change or lose in a Python value (spec/nextskin.md E2, spec/cogover.md E3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Final

from nsplugin.frozen import FrozenDict, FrozenList
from nsplugin.handlers import type_name
from nsplugin.json_limits import DEPTH, SAFE_INTEGER
from nsplugin.lazy import pattern
from nsplugin.limited import limited
from nsplugin.place import Place, pointer
from nsplugin.pointers import UNKNOWN
from nsplugin.row import Row
from nsplugin.rules import Found
from nsplugin.spans import Target
from nsplugin.wording import found as described
from nsplugin.wording import integer, token


class Fault(Row):
    """What is wrong with a value and what to write instead; ``start`` and ``end`` narrow a string to characters."""

    message: str
    hint: str
    start: int | None = None
    end: int | None = None


_CONTAINERS: Final = frozenset({dict, list, FrozenDict, FrozenList})
_TEXT: Final = frozenset({str})
_SOUND: Final[frozenset[type]] = frozenset({bool, type(None), type(UNKNOWN)})
_FEW: Final = 1_000
"""Parts of a value that is looked at quickly."""
_SURROGATE: Final = pattern(r"[\ud800-\udfff]")
_CYCLE: Final = Fault("this value contains itself: JSON could not end", "write a key to the data instead")
_TOO_DEEP: Final = Fault(f"nested too deeply: this is level {DEPTH + 1}, and {DEPTH} are allowed", "make the value flatter")


def not_json(value: Any, pointer: str) -> Iterator[Found]:
    """Each place in ``value`` that would not survive JSON as it is; pointers begin with ``pointer``.

    Never runs code of the value's own and never takes long, even where a value contains itself or stands in a billion places.
    ``UNKNOWN`` is passed over. After 100 findings one more says that there are others.
    """
    return iter(()) if _is_plain(value) else limited(_Walk(pointer).value(value, None, 1), pointer)


def _is_plain(value: Any) -> bool:
    """Whether a value is JSON at a glance, as most are: few plain parts, in fewer containers than may stand in each other."""
    parts, containers = [value], 0
    for part in parts:
        kind = type(part)
        if kind is str:
            if not part.isascii():
                return False
        elif kind is dict or kind is list:
            containers += 1
            if containers > DEPTH or len(parts) + len(part) > _FEW:
                return False
            if kind is dict and not (_TEXT.issuperset(map(type, part)) and "".join(part).isascii()):
                return False
            parts += part.values() if kind is dict else part
        elif kind not in _SOUND and not (kind is int and -SAFE_INTEGER <= part <= SAFE_INTEGER):
            return False
    return True


class _Walk:
    """``_open`` holds the containers around the present place, ``_heights`` how many levels a flawless container has in it."""

    __slots__ = ("_heights", "_open", "_pointer")

    def __init__(self, pointer: str) -> None:
        self._pointer = pointer
        self._open: set[int] = set()
        self._heights: dict[int, int] = {}

    def value(self, value: Any, place: Place, depth: int) -> Iterable[Found]:
        """The faults of a value at ``place``, which is on level ``depth`` if it is a container."""
        kind = type(value)
        if kind in _CONTAINERS:
            return self._container(value, place, depth)
        fault = _SCALARS[kind](value) if kind in _SCALARS else _foreign(value)
        return (self._found(place, fault),) if fault is not None else ()

    def _container(self, value: Any, place: Place, depth: int) -> Iterator[Found]:
        identity = id(value)
        if depth + self._heights.get(identity, DEPTH) <= DEPTH:
            return  # seen before, and not too deep here either
        if identity in self._open:
            yield self._found(place, _CYCLE)
        elif depth > DEPTH:
            yield self._found(place, _TOO_DEEP)
        else:
            self._open.add(identity)
            yield from self._inside(value, place, depth)
            self._open.discard(identity)

    def _inside(self, value: Any, place: Place, depth: int) -> Iterator[Found]:
        height, flawless, keyed = 0, True, isinstance(value, dict)
        for name, item in value.items() if keyed else enumerate(value):
            if name is UNKNOWN:
                continue
            within = (place, token(name) if keyed else str(name))
            key = self._key(name, within) if keyed else ()
            for found in chain(key, self.value(item, within, depth + 1)):
                flawless = False
                yield found
            height = max(height, self._heights.get(id(item), -1) + 1)
        if flawless:
            self._heights[id(value)] = height

    def _key(self, name: Any, place: Place) -> Iterable[Found]:
        fault = _text(name) if type(name) is str else _key_fault(name)
        return (self._found(place, fault, "key"),) if fault is not None else ()

    def _found(self, place: Place, fault: Fault, target: Target = "value") -> Found:
        message, hint, start, end = fault
        where = pointer(self._pointer, place)
        return Found(pointer=where, message=message, hint=hint, target=target, start=start, end=end)


def _foreign(value: Any) -> Fault:
    from nsplugin.foreign_values import instead

    return instead(value)


def _key_fault(name: Any) -> Fault:
    if name is None or type(name) in (bool, int, float):
        shown = integer(name) if type(name) is int else repr(name)
        written = {"None": "null", "True": "true", "False": "false"}.get(shown, shown)
        return Fault(f'a key of JSON is a string: {shown} would become "{written}"', f'write "{written}"')
    if isinstance(name, str):
        return Fault(f"a key of JSON is a plain string: this one is an instance of {type_name(name)}", "write str(key)")
    return Fault(f"a key of JSON is a string, not {described(name, 'python')}", "write a string")


def _text(value: str) -> Fault | None:
    half = None if value.isascii() else _SURROGATE.search(value)
    if half is None:
        return None
    message = f"half of a surrogate pair, U+{ord(half[0]):04X}, is no character: JSON cannot carry it"
    return Fault(message, "write the whole character", *half.span())


def _integer(value: int) -> Fault | None:
    if -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return None
    return Fault(f"the integer {integer(value)} is beyond 2^53-1: JSON readers would round it", "write it as a string")


def _real(value: float) -> Fault | None:
    from nsplugin.json_text.numbers import exact

    if exact(value):
        return None
    if value - value != 0:
        name = {"nan": "NaN", "inf": "Infinity"}.get(repr(value), "-Infinity")
        return Fault(f"{name} is not JSON: it would become null", "write None, or leave it out")
    return Fault(f"{value!r} is an integer beyond 2^53-1: JSON readers would round it", "write it as a string")


def _fine(value: Any) -> None:
    return None


_SCALARS: Final[dict[type, Callable[[Any], Fault | None]]] = {
    **dict.fromkeys(_SOUND, _fine),
    str: _text,
    int: _integer,
    float: _real,
}
