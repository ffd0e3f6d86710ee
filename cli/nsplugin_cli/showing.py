"""Prints a report in the form that was asked for."""

from __future__ import annotations

import os
import sys

from nsplugin.record import replace
from nsplugin_cli import terminal
from nsplugin_cli.diagnostic import Report
from nsplugin_cli.report import renderer


def show(report: Report, form: str, color: terminal.Color, *, to_stderr: bool = False) -> None:
    """Print a report: text for a person, anything else as bytes on standard output."""
    if form != "text":
        terminal.write_bytes(renderer(form)(_in_repository(report)))
        return
    from nsplugin_cli.report import text

    stream = sys.stderr if to_stderr else sys.stdout
    stream.write(text.render(report, color=terminal.colored(color, stream)))


def _in_repository(report: Report) -> Report:
    """The report with the repository around the current folder noted: the nearest folder upward that holds ``.git``."""
    from pathlib import Path

    here = Path.cwd()
    root = next((folder for folder in (here, *here.parents) if os.path.exists(folder / ".git")), None)
    return replace(report, folder=here.as_posix(), root=root.as_posix() if root is not None else None)
