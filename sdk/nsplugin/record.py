"""Records: what ``dataclass(frozen=True, slots=True, kw_only=True)`` makes, for classes that every start defines.

A command that runs on every save defines forty before it does anything. ``dataclasses`` compiles six methods for each; here one
is compiled and the others are shared (docs/decisions/0013-records.md has the figures).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, TypeVar, dataclass_transform, overload

T = TypeVar("T")
_REQUIRED: Final = object()
FEW: Final = 30
"""So many records of a class are made before its initializer is compiled."""


class _Field:
    """What :func:`field` says of a field."""

    __slots__ = ("default", "factory", "shown")

    def __init__(self, default: Any, factory: Callable[[], Any] | None, shown: bool) -> None:
        self.default = default
        self.factory = factory
        self.shown = shown


def field(*, default: Any = _REQUIRED, default_factory: Callable[[], Any] | None = None, repr: bool = True) -> Any:
    """A field whose default is made anew for every record, or that ``repr`` does not show."""
    return _Field(default, default_factory, repr)


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, frozen: bool = ..., kw_only: bool = ..., eq: bool = ...) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[Any] | None = None, /, *, frozen: bool = True, kw_only: bool = True, eq: bool = True) -> Any:
    """A class whose annotations are its fields; the arguments mean what they mean to ``dataclasses.dataclass``.

    Fields of a base that is a record come first. ``ClassVar`` is respected, ``__post_init__`` is not known; a class with cached
    properties has room for them.
    """
    if cls is None:
        return lambda each: _made(each, frozen=frozen, kw_only=kw_only, eq=eq)
    return _made(cls, frozen=frozen, kw_only=kw_only, eq=eq)


def replace(it: T, /, **changes: Any) -> T:
    """The same record with other values in the fields named."""
    return type(it)(**{name: getattr(it, name) for name in names(it)} | changes)


def names(it: Any) -> tuple[str, ...]:
    """The fields of a record or of a class of records, in order."""
    return tuple(it.__record_fields__)


def values(it: Any) -> tuple[Any, ...]:
    """What a record holds, in the order of its fields."""
    return tuple([getattr(it, name) for name in it.__record_fields__])


def _made(cls: type[Any], *, frozen: bool, kw_only: bool, eq: bool) -> type[Any]:
    namespace = dict(cls.__dict__)
    namespace.pop("__dict__", None)
    namespace.pop("__weakref__", None)
    own = {
        name: namespace.pop(name, _REQUIRED)
        for name, kind in namespace.get("__annotations__", {}).items()
        if not str(kind).startswith(("ClassVar", "typing.ClassVar"))
    }
    fields = own
    for base in cls.__bases__:
        fields = getattr(base, "__record_fields__", {}) | fields
    for name, method in _METHODS[frozen, eq]:
        if namespace.get(name) is None:
            namespace[name] = method
    namespace["__slots__"] = (*own, *_room(cls))
    namespace["__record_fields__"] = fields
    namespace["__record_uses__"] = [0]
    namespace["__match_args__"] = () if kw_only else tuple(fields)
    metaclass: Any = type(cls)
    made: type[Any] = metaclass(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def _room(cls: type[Any]) -> tuple[str, ...]:
    """Where cached properties keep what they found."""
    cached = cached_property in map(type, cls.__dict__.values())
    return ("__dict__",) if cached and not any("__dict__" in base.__dict__ for base in cls.__mro__[1:-1]) else ()


def _initialize(self: Any, /, *given: Any, **named: Any) -> None:
    """What ``__init__`` is for the first records: to compile one takes as long as to make thirty without."""
    made = next(cls for cls in type(self).__mro__ if "__record_fields__" in cls.__dict__)
    uses = made.__dict__["__record_uses__"]
    uses[0] += 1
    bound = _bound(made, given, named) if uses[0] <= FEW else None
    if bound is None:  # the compiled one also says what is wrong with the arguments
        initialize = made.__init__ = _initializer(made)  # type: ignore[misc]  # this class has no other
        initialize(self, *given, **named)
        return
    for name, value in bound.items():
        getattr(made, name).__set__(self, value)


def _bound(made: type[Any], given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any] | None:
    """The value of each field; ``None`` where the arguments do not fit."""
    fields: dict[str, Any] = made.__dict__["__record_fields__"]
    values = dict(zip(made.__match_args__, given, strict=False))
    if len(values) < len(given) or not named.keys() <= fields.keys() - values.keys():
        return None
    values |= named
    for name, told in fields.items() if len(values) < len(fields) else ():
        if name not in values:
            default, factory = (told.default, told.factory) if isinstance(told, _Field) else (told, None)
            if default is _REQUIRED and factory is None:
                return None
            values[name] = default if factory is None else factory()
    return values


def _initializer(made: type[Any]) -> Any:
    """The one method that is compiled. Slots are set by their own setters, which frozen records have too."""
    fields: dict[str, Any] = made.__dict__["__record_fields__"]
    variables: dict[str, Any] = {"_REQUIRED": _REQUIRED}
    parameters = ["self"] if made.__match_args__ == tuple(fields) else ["self", "*"]
    lines = []
    for name, told in fields.items():
        default, factory = (told.default, told.factory) if isinstance(told, _Field) else (told, None)
        variables |= {f"default_{name}": default, f"make_{name}": factory, f"set_{name}": getattr(made, name).__set__}
        parameters.append(name if default is _REQUIRED and factory is None else f"{name}=default_{name}")
        value = name if factory is None else f"make_{name}() if {name} is _REQUIRED else {name}"
        lines.append(f" set_{name}(self, {value})")
    exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"]), variables)
    initializer = variables["__init__"]
    initializer.__qualname__ = f"{made.__qualname__}.__init__"
    return initializer


def _equal(self: Any, other: object) -> Any:
    return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented


def _hashed(self: Any) -> int:
    return hash(values(self))


def _shown(self: Any) -> str:
    told = [
        f"{name}={getattr(self, name)!r}"
        for name, field in self.__record_fields__.items()
        if not isinstance(field, _Field) or field.shown
    ]
    return f"{self.__class__.__qualname__}({', '.join(told)})"


def _restored(self: Any, held: tuple[Any, ...]) -> None:
    for name, value in zip(self.__record_fields__, held, strict=True):
        object.__setattr__(self, name, value)


def _refuse(self: Any, name: str, *_: Any) -> None:
    raise AttributeError(f"{self.__class__.__qualname__}.{name} cannot be changed: a record is frozen", name=name)


_SHARED: Final = (("__init__", _initialize), ("__repr__", _shown), ("__getstate__", values), ("__setstate__", _restored))
_EQUAL: Final = (("__eq__", _equal), ("__hash__", _hashed))
_FROZEN: Final = (("__setattr__", _refuse), ("__delattr__", _refuse))
_METHODS: Final = {
    (True, True): (*_SHARED, *_EQUAL, *_FROZEN),
    (True, False): (*_SHARED, *_FROZEN),
    (False, True): (*_SHARED, ("__eq__", _equal)),
    (False, False): _SHARED,
}
"""What records have by whether they are frozen and whether they are compared by value."""
