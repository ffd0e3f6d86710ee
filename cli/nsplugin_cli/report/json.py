"""The report as one JSON object (the contract is in spec/cli.md)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nsplugin.preinstall import ScheduleReport
    from nsplugin_cli.diagnostic import Diagnostic, PluginReport, Report

VERSION = 1


def render(report: Report) -> str:
    """One object, two-space indent, one line feed at the end."""
    value: dict[str, Any] = {
        "version": VERSION,
        "command": report.command,
        "summary": {"files": report.files, "errors": report.errors, "warnings": report.warnings},
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in report.diagnostics],
        "plugins": [_plugin(plugin) for plugin in report.plugins],
    }
    if report.schedules:
        value["schedules"] = [_schedule(schedule) for schedule in report.schedules]
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "path": diagnostic.path,
        "pointer": diagnostic.pointer,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "endLine": diagnostic.end_line,
        "endColumn": diagnostic.end_column,
    }


def _plugin(plugin: PluginReport) -> dict[str, Any]:
    return {
        "id": plugin.id,
        "platform": plugin.platform.name,
        "manifest": plugin.manifest,
        "digest": plugin.digest,
        "schedules": [_schedule(schedule) for schedule in plugin.schedules],
    }


def _schedule(schedule: ScheduleReport) -> dict[str, Any]:
    return {
        "pointer": schedule.pointer,
        "expression": schedule.expression,
        "timezone": schedule.timezone,
        "words": schedule.words,
        "nextFires": [fire.utc for fire in schedule.fires],
        "fires": [{"utc": fire.utc, "local": fire.local, "site": fire.site, "note": fire.note} for fire in schedule.fires],
        "clockChanges": list(schedule.changes),
    }
