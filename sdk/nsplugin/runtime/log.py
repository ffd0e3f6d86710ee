"""``log``: structured records of an attempt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nsplugin.runtime.invocation import Run

_MAX_TEXT: Final = 8_000
_MAX_FIELDS: Final = 50


class Log:
    """Writes records. A record has a message and fields, given by name or as a mapping; what is no JSON is written as text.

    Never raises: a handler must not fail because of what it logs.
    """

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def debug(self, message: object, /, *args: Any, **fields: Any) -> None:
        """For whoever looks for a fault."""
        self._write("debug", message, args, fields)

    def info(self, message: object, /, *args: Any, **fields: Any) -> None:
        """What happened."""
        self._write("info", message, args, fields)

    def warning(self, message: object, /, *args: Any, **fields: Any) -> None:
        """What somebody may have to look at."""
        self._write("warning", message, args, fields)

    warn = warning

    def error(self, message: object, /, *args: Any, **fields: Any) -> None:
        """What went wrong."""
        self._write("error", message, args, fields)

    def _write(self, level: str, message: object, args: tuple[Any, ...], fields: Mapping[str, Any]) -> None:
        kept = list({**_named(args), **fields}.items())[:_MAX_FIELDS]
        plain = {_text(key): _plain(value, 3) for key, value in kept}
        self._run.caller.log(level, _text(message), plain)


def _named(args: tuple[Any, ...]) -> dict[Any, Any]:
    """The fields that mappings hold; other arguments are ``value``, ``value2`` and so on."""
    named: dict[Any, Any] = {}
    others = 0
    for argument in args:
        fields = _fields(argument)
        others += fields is None
        named |= {"value" if others == 1 else f"value{others}": argument} if fields is None else fields
    return named


def _fields(argument: Any) -> dict[Any, Any] | None:
    try:
        return dict(argument) if isinstance(argument, Mapping) else None
    except Exception:
        return None


def _plain(value: Any, depth: int) -> Any:
    try:
        return _data(value, depth)
    except Exception:
        return _text(value)


def _data(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return value if value is None or -(2**53) < value < 2**53 else str(value)
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if depth and isinstance(value, Mapping):
        return {_text(key): _plain(item, depth - 1) for key, item in list(value.items())[:_MAX_FIELDS]}
    if depth and isinstance(value, (list, tuple)):
        return [_plain(item, depth - 1) for item in value[:_MAX_FIELDS]]
    return _text(value)


def _text(value: object) -> str:
    try:
        return str(value)[:_MAX_TEXT]
    except Exception:
        return f"<{type(value).__name__} that can't be shown>"
