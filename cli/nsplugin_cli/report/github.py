"""Annotations for GitHub Actions: a workflow command a finding, which marks the line in the pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from nsplugin_cli.report.frame import visible
from nsplugin_cli.report.places import from_root

if TYPE_CHECKING:
    from nsplugin_cli.diagnostic import Diagnostic, Report

_LINE: Final = re.compile(r"[^\r\n]+")


def render(report: Report) -> str:
    """One line a finding; nothing when there is none."""
    return "".join(_annotation(diagnostic, from_root(report, diagnostic.path)) for diagnostic in report.diagnostics)


def _annotation(diagnostic: Diagnostic, path: str) -> str:
    properties = [] if path.startswith("<") else [("file", path)]
    if diagnostic.line is not None:
        properties.append(("line", str(diagnostic.line)))
        properties.append(("endLine", str(diagnostic.end_line or diagnostic.line)))
        # the runner refuses columns for findings of several lines
        if diagnostic.column is not None and diagnostic.end_line == diagnostic.line:
            properties.append(("col", str(diagnostic.column)))
            properties.append(("endColumn", str(diagnostic.end_column)))
    properties.append(("title", f"{diagnostic.code} {diagnostic.name}"))
    text = diagnostic.message + (f"\nhint: {diagnostic.hint}" if diagnostic.hint else "")
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties)
    return f"::{diagnostic.severity} {listed}::{_data(text)}\n"


def _data(text: str) -> str:
    """A message as the runner reads it: a line end would end the command, and a percent sign starts an escape."""
    text = _LINE.sub(lambda line: visible(line[0]), text)
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
