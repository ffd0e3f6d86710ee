"""The log of a running core: structured lines, JSON or for a console, to standard error. Payloads are never in it."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Final, Literal, TextIO

import structlog

from nsplugin.durations import spoken
from nsplugin_core.events import EngineEvent
from nsplugin_core.host.logs import LogRecord
from nsplugin_core.views import isoformat

Form = Literal["json", "console"]
LEVELS: Final = ("debug", "info", "warning", "error")
_LEVEL: Final[dict[str, int]] = {
    "enqueue": logging.DEBUG,
    "duplicate": logging.DEBUG,
    "attempt": logging.DEBUG,
    "success": logging.DEBUG,
    "failure": logging.WARNING,
    "timeout": logging.WARNING,
    "lost": logging.WARNING,
    "refused": logging.WARNING,
    "dead": logging.ERROR,
}
"""What happens to every task is for debugging; what needs a look is a warning; what will not get well by itself an error."""
_DUE: Final = frozenset({"retry", "fire", "catch-up", "skip"})


class Journal:
    """Writes engine events, plugins' logs and the standard library's log as one stream of structured lines.

    What libraries log from ``warning`` on is in it, and what they warn of: a line of theirs would break whatever reads JSON.
    """

    def __init__(self, form: Form, level: str = "info", stream: TextIO | None = None) -> None:
        self._level = logging.getLevelNamesMapping()[level.upper()]
        handler = logging.StreamHandler(stream or sys.stderr)
        handler.setFormatter(_formatter(form, handler.stream))
        self._logger = logging.getLogger("nsplugin")
        self._logger.setLevel(self._level)
        self._logger.propagate = False
        self._logger.handlers[:] = [handler]
        logging.getLogger().addHandler(handler)
        logging.captureWarnings(True)
        self._handler = handler
        self._engine = structlog.wrap_logger(logging.getLogger("nsplugin.engine"), _PROCESSORS, structlog.stdlib.BoundLogger)
        self._plugins = structlog.wrap_logger(logging.getLogger("nsplugin.plugins"), _PROCESSORS, structlog.stdlib.BoundLogger)

    def close(self) -> None:
        """Leave the standard library's log as it was found."""
        logging.captureWarnings(False)
        logging.getLogger().removeHandler(self._handler)
        self._logger.removeHandler(self._handler)
        self._logger.setLevel(logging.NOTSET)
        self._logger.propagate = True

    def observe(self, event: EngineEvent) -> None:
        """Log an engine event."""
        level = _LEVEL.get(event.type, logging.INFO)
        if level < self._level:
            return
        due = isoformat(event.due) if event.type in _DUE and event.due is not None else None
        fields = {"plugin": event.plugin, "job": event.job, "task": event.task, "attempt": event.attempt, "due": due}
        fields["wait"] = spoken(event.due - event.at) if event.type == "retry" and event.due is not None else None
        fields["error"] = event.error
        self._engine.log(level, event.type, **{name: value for name, value in fields.items() if value})

    def take(self, record: LogRecord) -> None:
        """Log a line of a plugin; its own fields lie under ``fields``."""
        level = logging.getLevelNamesMapping()[record.level.upper()]
        if level < self._level:
            return
        fields = {
            "plugin": record.plugin,
            "stream": record.stream,
            "job": record.job,
            "task": record.task_id,
            "attempt": record.attempt,
            "fields": dict(record.fields),
        }
        self._plugins.log(level, record.message, **{name: value for name, value in fields.items() if value})


def _formatter(form: Form, stream: Any) -> logging.Formatter:
    last: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if form == "json":
        last += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    else:
        colors = hasattr(stream, "isatty") and stream.isatty()
        plain = structlog.dev.plain_traceback
        last += [_visible, structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain, pad_event_to=0)]
    return structlog.stdlib.ProcessorFormatter(processors=last, foreign_pre_chain=_FOREIGN)


def _visible(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A plugin's text must not steer the terminal that shows it, nor look like lines of ours."""
    text = str(event.get("event", ""))
    if not text.isprintable():
        event["event"] = "".join(_SHOWN.get(each) or (each if each.isprintable() else ascii(each)[1:-1]) for each in text)
    return event


_SHOWN: Final = {"\n": "\n    ", "\t": "    "}
_FOREIGN: Final[list[Any]] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
_PROCESSORS: Final[list[Any]] = [*_FOREIGN, structlog.stdlib.ProcessorFormatter.wrap_for_formatter]
