"""Records that are made from tables of the TOML files."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Section:
    """A frozen record with the fields that its class annotates, all by keyword.

    To a type checker it is a dataclass; but twenty dataclasses take 7 ms of every start, and twenty of these nearly nothing
    (docs/decisions/0005-command-line.md). Records are equal when they are the same one.
    """

    _fields: ClassVar[frozenset[str]]

    def __init_subclass__(cls) -> None:
        cls._fields = frozenset(cls.__annotations__)

    def __init__(self, **values: Any) -> None:
        wrong = (values.keys() ^ self._fields) - {name for name in self._fields if hasattr(type(self), name)}
        if wrong:
            raise TypeError(f"{type(self).__name__}: {', '.join(sorted(wrong))} given and unknown, or wanted and not given")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items() if name in self._fields)
        return f"{type(self).__name__}({values})"
