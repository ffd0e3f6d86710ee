"""Deeply frozen JSON: mappings and lists that nothing can change (spec/manifest.md M2).

They are real ``dict`` and ``list`` objects, so that ``json.dumps``, ``==`` and pattern matching treat them as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

from nsplugin.pointers import UNKNOWN

_SCALARS: Final = (str, int, float, bool, type(None), type(UNKNOWN))


def freeze(value: Any) -> Any:
    """A deeply frozen, detached copy: mappings become :class:`FrozenDict`, lists and tuples :class:`FrozenList`.

    Scalars are returned as they are, and so is what is frozen already. Raises ``TypeError`` for any other object and
    ``ValueError`` for a value that contains itself or is nested too deeply to follow.
    """
    try:
        return _freeze(value)
    except RecursionError:
        raise ValueError("cannot freeze a value that contains itself or is nested too deeply") from None


def thaw(value: Any) -> Any:
    """The opposite of :func:`freeze`: a deep copy of plain dicts and lists that its owner may change."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw(item) for item in value]
    return value


def _freeze(value: Any) -> Any:
    if isinstance(value, (FrozenDict, FrozenList, *_SCALARS)):
        return value
    if isinstance(value, Mapping):
        return FrozenDict(value)
    if isinstance(value, (list, tuple)):
        return FrozenList(value)
    raise TypeError(f"cannot freeze a {type(value).__name__}: only JSON values can be frozen")


def _refuse(self: Any, *_args: Any, **_kwargs: Any) -> NoReturn:
    name = type(self).__name__
    raise TypeError(f"a {name} is frozen and cannot be changed; nsplugin.frozen.thaw(value) makes a copy that can")


class _Frozen:
    """Refuses what would change a container, and copies as an immutable value does: by returning itself."""

    __slots__ = ()

    __setattr__ = __delattr__ = _refuse

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class FrozenDict(_Frozen, dict[Any, Any]):
    """A ``dict`` that cannot change, deeply frozen and hashable; equal ones have equal hashes. ``copy()`` is a plain dict."""

    __slots__ = ("_hash",)
    _hash: int | None

    def __init__(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        if hasattr(self, "_hash"):
            _refuse(self)
        dict.__init__(self, {key: _freeze(item) for key, item in dict(items).items()})
        object.__setattr__(self, "_hash", None)

    def __hash__(self) -> int:  # type: ignore[override]  # typeshed marks every dict and list unhashable
        if self._hash is None:
            object.__setattr__(self, "_hash", hash(frozenset(self.items())))
        return hash(self._hash)

    def __reduce__(self) -> Any:
        return FrozenDict, (dict(self),)

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


class FrozenList(_Frozen, list[Any]):
    """A ``list`` that cannot change, deeply frozen and hashable; equal ones have equal hashes. ``copy()`` is a plain list."""

    __slots__ = ("_hash",)
    _hash: int | None

    def __init__(self, items: Iterable[Any] = ()) -> None:
        if hasattr(self, "_hash"):
            _refuse(self)
        list.__init__(self, map(_freeze, items))
        object.__setattr__(self, "_hash", None)

    def __hash__(self) -> int:  # type: ignore[override]  # typeshed marks every dict and list unhashable
        if self._hash is None:
            object.__setattr__(self, "_hash", hash(tuple(self)))
        return hash(self._hash)

    def __reduce__(self) -> Any:
        return FrozenList, (list(self),)

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = extend = insert = _refuse
    clear = pop = remove = reverse = sort = _refuse
