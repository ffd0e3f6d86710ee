"""How an attempt ended, judged from what its handler raised."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType
from typing import Final, Literal

from nsplugin.record import record

MAX_MESSAGE: Final = 2_000
"""Characters of an exception's message that leave the host; the platform's own limit is shorter."""
_MAX_TRACEBACK: Final = 6_000


@record
class Ended:
    """``error`` is the exception's message, ``code`` a short word for it; ``trace`` is for the log."""

    kind: Literal["success", "failure", "retryable"]
    error: str | None = None
    code: str | None = None
    trace: str | None = None


SUCCESS: Final = Ended(kind="success")


def ended_by(error: BaseException) -> Ended:
    """A failed attempt. Never raises, whatever the exception's own methods do."""
    kind: Literal["failure", "retryable"] = "retryable" if _asks_for_retry(error) else "failure"
    return Ended(kind=kind, error=_message(error), code=_code(error), trace=_trace(error))


def _asks_for_retry(error: BaseException) -> bool:
    """Only who imported ``RetryableError`` can raise it (spec/cogover.md X4)."""
    errors = sys.modules.get("nsplugin.cogover.errors")
    return errors is not None and issubclass(type(error), errors.RetryableError)


def _message(error: BaseException) -> str:
    message = vars(error).get("message") if isinstance(error, Exception) else None
    try:
        message = message if type(message) is str and message else str(error)
        return message[:MAX_MESSAGE] or type(error).__name__
    except Exception:
        return type(error).__name__


def _code(error: BaseException) -> str:
    code = vars(error).get("code")
    return code if type(code) is str and 0 < len(code) <= 64 else type(error).__name__


def _trace(error: BaseException) -> str:
    """The traceback below our own frames; the end of a long one, where the cause stands."""
    try:
        lines = traceback.format_exception(type(error), error, _own_code(error.__traceback__))
    except Exception:
        return type(error).__name__
    return "".join(lines)[-_MAX_TRACEBACK:].rstrip()


def _own_code(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(("nsplugin.", "nsplugin_core.")):
        trace = trace.tb_next
    return trace
