"""Where output goes: text and machine formats to standard output, everything else to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Literal, TextIO

Color = Literal["auto", "always", "never"]


def prepare() -> None:
    """Make writing to the standard streams unable to fail on a character that their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


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
    """A remark to the person at the keyboard, to standard error."""
    sys.stderr.write(text + "\n")
