"""Rows: what ``typing.NamedTuple`` makes, for classes that every start defines (docs/decisions/0013-records.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nsplugin.record import FEW

__all__ = ["Row"]

if TYPE_CHECKING:
    from typing import NamedTuple as Row
else:
    from collections import _tuplegetter

    class _Tuple(tuple):
        """What all rows have."""

        __slots__ = ()

        def __repr__(self) -> str:
            told = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{self.__class__.__qualname__}({told})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, /, **changes: Any) -> Any:
            return self.__class__(**self._asdict() | changes)

    class _Maker(type):
        """Makes a plain class of tuples of a class whose annotations are its fields."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace["__annotations__"])
            defaults = {name: namespace.pop(name) for name in fields if name in namespace}
            getters = {name: _tuplegetter(place, "") for place, name in enumerate(fields)}
            own = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "_uses": [0]}
            own |= {"__match_args__": fields, "__new__": _first}
            return type(name, (_Tuple,), namespace | getters | own)

    class Row(metaclass=_Maker):
        """The base of a row; a class below it is a tuple, and no instance of this one."""

    def _first(cls: type, /, *given: Any, **named: Any) -> Any:
        """What ``__new__`` is for the first rows, which are cheaper to make without compiling it."""
        made = next(each for each in cls.__mro__ if "_fields" in each.__dict__)
        made._uses[0] += 1
        if made._uses[0] <= FEW and len(given) == len(made._fields) and not named:
            return tuple.__new__(cls, given)
        variables = {"_new": tuple.__new__, **{f"_default_{name}": value for name, value in made._field_defaults.items()}}
        parameters = [f"{name}=_default_{name}" if name in made._field_defaults else name for name in made._fields]
        body = f"def __new__(_cls, {', '.join(parameters)}): return _new(_cls, ({', '.join(made._fields)},))"
        exec(body, variables)
        made.__new__ = staticmethod(variables["__new__"])
        return made.__new__(cls, *given, **named)
