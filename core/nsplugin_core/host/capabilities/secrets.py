"""Where secrets come from, and how they are kept out of logs and error messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

PREFIX: Final = "NSPLUGIN_SECRET_"
HIDDEN: Final = "•••"
_SHORTEST: Final = 6
"""Shorter values are no secrets worth the name, and hiding them would make logs unreadable."""


def from_environment(plugin: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The secrets of a plugin from variables ``NSPLUGIN_SECRET_<PLUGIN>__<NAME>``.

    The plugin's id stands there in capitals with ``_`` for whatever a variable's name can't hold: the secret ``SMTP_KEY`` of
    ``order.mails`` is ``NSPLUGIN_SECRET_ORDER_MAILS__SMTP_KEY``.
    """
    start = PREFIX + "".join(character if character.isalnum() else "_" for character in plugin.upper()) + "__"
    return {name.removeprefix(start): value for name, value in environment.items() if name.startswith(start)}


class Redactor:
    """Replaces the values of secrets, whole, wherever they stand in text."""

    __slots__ = ("_values",)

    def __init__(self, values: Iterable[str]) -> None:
        self._values = sorted({value for value in values if len(value) >= _SHORTEST}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without secrets."""
        for value in self._values:
            text = text.replace(value, HIDDEN)
        return text

    def plain(self, value: Any) -> Any:
        """JSON data without secrets."""
        if not self._values:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.plain(item) for key, item in value.items()}
        return [self.plain(item) for item in value] if isinstance(value, list) else value
