"""Where output goes: text and machine formats to standard output, everything else to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, TextIO, cast

Color = Literal["auto", "always", "never"]


class OutputLost(Exception):
    """Standard output takes no more: its reader has gone, or its disk is full."""


class _Output:
    """Standard output, or its bytes, whose failures are told from those of any other file."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def buffer(self) -> _Output:
        return _Output(self._stream.buffer)

    def write(self, data: Any) -> int:
        return int(self._reached(self._stream.write, data))

    def flush(self) -> None:
        self._reached(self._stream.flush)

    def _reached(self, act: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return act(*arguments)
        except OSError as error:
            raise OutputLost from error


def prepare() -> None:
    """Make writing to the standard streams unable to fail on a character that their encoding lacks.

    What fails in writing to standard output is :class:`OutputLost`.
    """
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    sys.stdout = cast(TextIO, _Output(sys.stdout))


def _open_closed() -> None:
    """Give a standard stream that was closed its number back: a file opened later would get it.

    What is written to standard output then fails, as on a full disk; what is said to standard error is lost.
    """
    for number, name, flags in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            taken = os.open(os.devnull, flags)
            if taken != number:
                os.dup2(taken, number)
                os.close(taken)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def colored(color: Color, stream: TextIO, environment: Mapping[str, str] | None = None) -> bool:
    """Whether to colour: ``--color``, then ``NO_COLOR``, then ``FORCE_COLOR``, then whether it is a terminal."""
    environment = os.environ if environment is None else environment
    if color != "auto":
        return color == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return environment.get("TERM") != "dumb" and stream.isatty()


def write_bytes(text: str) -> None:
    """A machine format to standard output: UTF-8 whatever the locale. A lone surrogate becomes its JSON escape."""
    data = text.encode("utf-8", "backslashreplace")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def say(text: str) -> None:
    """A remark to the person at the keyboard, to standard error. When that takes no more, nobody is there to be told."""
    with suppress(OSError):
        sys.stderr.write(harmless(text) + "\n")
        sys.stderr.flush()


def harmless(text: str) -> str:
    """A text of lines in which nothing moves the cursor otherwise or changes what the terminal does."""
    lines = text.split("\n")
    return "\n".join(line if line.isprintable() else "".join(map(_harmless, line)) for line in lines)


def _harmless(character: str) -> str:
    return character if character == "\t" else escaped(character)


def escaped(character: str) -> str:
    """A control, format or lone surrogate character as its escape, any other as it is."""
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
