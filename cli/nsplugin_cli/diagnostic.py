"""What a command found, as plain data: the only thing that the renderers see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from nsplugin.record import field, record

if TYPE_CHECKING:
    from nsplugin.platforms import Platform
    from nsplugin.preinstall import ScheduleReport
    from nsplugin.rules._family import Problem, Severity

CONFIG_CODE = "NSP001"
"""The one finding that says the configuration is wrong, not the input: exit code 2 (spec/cli.md)."""


class WrongCall(Exception):
    """The command was called in a way that cannot work: the message says how to call it; exit code 2."""


@record
class Diagnostic:
    """A finding at its place. Lines and columns count from 1, columns in characters, ``end_column`` is exclusive."""

    code: str
    name: str
    severity: Severity
    message: str
    path: str
    hint: str | None = None
    pointer: str | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    @classmethod
    def of(cls, problem: Problem, path: str) -> Diagnostic:
        """A problem, in the file of that path; its span, when it has one, becomes lines and columns."""
        line, column, end_line, end_column = problem.span or (None, None, None, None)
        return cls(
            code=problem.code,
            name=problem.name,
            severity=problem.severity,
            message=problem.message,
            path=problem.path or path,
            hint=problem.hint,
            pointer=problem.pointer,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
        )

    def _order(self) -> tuple[object, ...]:
        return (self.path, self.line or 0, self.code, self.column or 0, self.pointer or "", self.message)


@record
class PluginReport:
    """A plugin that a command judged and found fit.

    ``manifest`` is the path of the manifest, ``None`` when it went to standard output; ``content`` is what it holds (build
    only), ``note`` what was done with it, for a person.
    """

    id: str | None
    platform: Platform
    version: str | None = None
    manifest: str | None = None
    digest: str | None = None
    schedules: tuple[ScheduleReport, ...] = ()
    content: str | None = None
    note: str | None = None


@record
class Report:
    """All of one run. ``files`` counts what was read; ``sources`` holds the text of each path that a diagnostic names."""

    command: str
    files: int
    diagnostics: tuple[Diagnostic, ...] = ()
    plugins: tuple[PluginReport, ...] = ()
    schedules: tuple[ScheduleReport, ...] = ()
    """Schedules that belong to no plugin (``next``)."""
    sources: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    """The absolute folder that paths are relative to, with slashes."""
    root: str | None = None
    """The absolute root of the repository around it, for the formats that name files from there."""

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return len(self.diagnostics) - self.errors

    def exit_code(self, *, strict: bool = False) -> int:
        """2 when the configuration is wrong, 1 for errors (with ``strict`` for warnings too), else 0."""
        if any(diagnostic.code == CONFIG_CODE for diagnostic in self.diagnostics):
            return 2
        return int(self.errors > 0 or (strict and self.warnings > 0))


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each finding once, sorted by path, line and code."""
    return tuple(sorted(set(diagnostics), key=Diagnostic._order))
