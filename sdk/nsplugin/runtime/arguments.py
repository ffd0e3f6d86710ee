"""What a handler passes to a call: judged before it leaves the handler's side, read with suspicion on the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nsplugin.canonical import json_size
from nsplugin.runtime.enqueueing import INVALID
from nsplugin.runtime.faults import Fault


def checked_arguments(method: str, arguments: Mapping[str, Any]) -> None:
    """Refuse what JSON would lose or change. Raises :class:`Fault` that names the place."""
    from nsplugin.payload import not_json

    for found in not_json(arguments, ""):
        raise Fault(INVALID, f"{method}: {found.pointer[1:]}: {found.message}", pointer=found.pointer)


class Arguments:
    """The arguments of a call by name. Each reader raises :class:`Fault` that says what the method wants."""

    __slots__ = ("method", "values")

    def __init__(self, method: str, values: Mapping[str, Any]) -> None:
        self.method, self.values = method, values

    def text(self, name: str, most: int, least: int = 1) -> str:
        """Text of ``least`` to ``most`` characters, without NUL and lone surrogates."""
        value = self.values.get(name)
        if type(value) is not str:
            raise self._wrong(name, "must be text")
        if not least <= len(value) <= most:
            raise self._wrong(name, f"has {len(value)} characters; {least} to {most} are allowed")
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise self._wrong(name, "contains a NUL character or half of a surrogate pair")
        return value

    def optional_text(self, name: str, most: int) -> str | None:
        """Text, or ``None``."""
        return None if self.values.get(name) is None else self.text(name, most)

    def integer(self, name: str, low: int, high: int) -> int:
        """A whole number in a range."""
        value = self.values.get(name)
        if type(value) is not int or not low <= value <= high:
            raise self._wrong(name, f"must be a whole number from {low} to {high}")
        return value

    def optional_integer(self, name: str, low: int, high: int) -> int | None:
        """A whole number, or ``None``."""
        return None if self.values.get(name) is None else self.integer(name, low, high)

    def texts(self, name: str, most: int) -> list[str]:
        """A list of at most ``most`` texts."""
        value = self.values.get(name)
        if type(value) is not list or len(value) > most or not all(type(item) is str for item in value):
            raise self._wrong(name, f"must be a list of at most {most} texts")
        return value

    def optional_texts(self, name: str, most: int) -> list[str] | None:
        """A list of texts, or ``None``."""
        return None if self.values.get(name) is None else self.texts(name, most)

    def mapping(self, name: str) -> dict[str, Any]:
        """A mapping."""
        value = self.values.get(name)
        if type(value) is not dict:
            raise self._wrong(name, "must be a mapping")
        return value

    def optional_mapping(self, name: str) -> dict[str, Any] | None:
        """A mapping, or ``None``."""
        return None if self.values.get(name) is None else self.mapping(name)

    def json(self, name: str, most: int) -> str:
        """A value as JSON text of at most ``most`` bytes."""
        value = self.values.get(name)
        size = json_size(value)
        if size > most:
            raise self._wrong(name, f"has {size:,} bytes as JSON; {most:,} are allowed")
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def _wrong(self, name: str, what: str) -> Fault:
        return Fault(INVALID, f"{self.method}: {name} {what}", argument=name)
