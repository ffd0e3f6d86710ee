"""How often each rule found something."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from nsplugin_cli.report.json import VERSION
from nsplugin_cli.report.text import count

if TYPE_CHECKING:
    from nsplugin_cli.diagnostic import Diagnostic, Report


def _counted(report: Report) -> list[tuple[Diagnostic, int]]:
    """One finding of each rule and how many there are, the most frequent first."""
    examples = {each.code: each for each in report.diagnostics}
    times = Counter(each.code for each in report.diagnostics)
    return [(examples[code], times[code]) for code in sorted(times, key=lambda code: (-times[code], code))]


def render_text(report: Report) -> str:
    """A line a rule, and a summary."""
    rows = [f"{times:>7,}  {one.code}  {one.severity:7}  {one.name}\n" for one, times in _counted(report)]
    total = f"{count(report.errors, 'error')}, {count(report.warnings, 'warning')}" if rows else "No problems"
    return "".join(rows) + f"{total} in {count(report.files, 'file')}.\n"


def render_json(report: Report) -> str:
    """One object, like the report's, with ``statistics`` in place of the findings."""
    value = {
        "version": VERSION,
        "command": report.command,
        "summary": {"files": report.files, "errors": report.errors, "warnings": report.warnings},
        "statistics": [
            {"code": one.code, "name": one.name, "severity": one.severity, "count": times} for one, times in _counted(report)
        ],
    }
    return json.dumps(value, indent=2) + "\n"
