"""Where in an author's source a definer was called."""

from __future__ import annotations

import sys
from itertools import islice
from types import FrameType

from nsplugin.record import record

_OWN = ("nsplugin.definition", "nsplugin.cogover")
"""The modules whose frames stand between an author's call and :func:`caller`."""


@record
class CallSite:
    """The call expression, as ``ast`` counts: lines from 1, columns in UTF-8 bytes from 0, the end exclusive.

    Columns are ``None`` where the interpreter keeps none (``-X no_debug_ranges``).
    """

    path: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


def caller() -> CallSite | None:
    """The call of the nearest frame outside this package, ``None`` when there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_own(frame):
        frame = frame.f_back
    return None if frame is None else _site(frame)


def _is_own(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__"))
    return any(name == own or name.startswith(own + ".") for own in _OWN)


def _site(frame: FrameType) -> CallSite:
    code = frame.f_code
    positions = islice(code.co_positions(), frame.f_lasti // 2, None)
    line, end_line, column, end_column = next(positions, (None, None, None, None))
    return CallSite(
        path=code.co_filename,
        line=line or frame.f_lineno,
        column=column,
        end_line=end_line,
        end_column=end_column,
    )
