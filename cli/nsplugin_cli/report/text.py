"""The report for a person. Plain strings; rich is imported only when there are colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from nsplugin.lazy import pattern
from nsplugin_cli.report.frame import Fragment, cells, frame, visible

if TYPE_CHECKING:
    from nsplugin.preinstall import FireReport, ScheduleReport
    from nsplugin_cli.diagnostic import Diagnostic, PluginReport, Report

MOST: Final = 500
"""How many findings a person is shown."""
LINE_END: Final = pattern(r"\r\n|\r|\n")
STYLES: Final = {
    "path": "bold",
    "error": "bold red",
    "warning": "bold yellow",
    "mark": "bold red",
    "gutter": "cyan",
    "hint": "green",
    "note": "yellow",
    "good": "bold green",
    "dim": "dim",
}


def render(report: Report, *, color: bool = False) -> str:
    """Every finding with its code frame, then what was read or written, then one line of summary."""
    return paint(_fragments(report), color=color)


def paint(fragments: Iterable[Fragment], *, color: bool) -> str:
    """The fragments as one string, with terminal colours when asked for."""
    if not color:
        return "".join(text for _, text in fragments)
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    console = Console(file=StringIO(), force_terminal=True, color_system="standard", soft_wrap=True, width=10_000)
    text = Text.assemble(*((text, STYLES.get(style, style)) for style, text in fragments))
    with console.capture() as capture:
        console.print(text, end="", highlight=False)
    return capture.get()


def _fragments(report: Report) -> Iterator[Fragment]:
    lines = {path: LINE_END.split(text) for path, text in report.sources.items()}
    for diagnostic in report.diagnostics[:MOST]:
        yield from _finding(diagnostic, lines.get(diagnostic.path, []))
        yield "", "\n"
    if len(report.diagnostics) > MOST:
        yield "", f"… and {len(report.diagnostics) - MOST:,} more findings; --format json lists all of them.\n\n"
    for plugin in report.plugins:
        yield from _plugin(plugin)
    for schedule in report.schedules:
        yield from _forecast(schedule)
    if not report.schedules:
        yield from _summary(report)


def _finding(diagnostic: Diagnostic, lines: list[str]) -> Iterator[Fragment]:
    yield "path", _place(diagnostic)
    yield diagnostic.severity, f" {diagnostic.severity} {diagnostic.code}"
    yield "dim", f" {visible(diagnostic.name)}"
    yield "", f"\n  {visible(diagnostic.message)}\n"
    if diagnostic.line is not None and diagnostic.line <= len(lines):
        line = lines[diagnostic.line - 1]
        yield from frame(line, diagnostic.line, diagnostic.column or 1, _end(diagnostic, line))
    if diagnostic.hint:
        yield "hint", "  hint: "
        yield "", f"{visible(diagnostic.hint)}\n"


def _place(diagnostic: Diagnostic) -> str:
    path = visible(diagnostic.path)
    if diagnostic.line is None:
        return f"{path}:" if not diagnostic.pointer else f"{path}:{visible(diagnostic.pointer)}:"
    return f"{path}:{diagnostic.line}:{diagnostic.column or 1}:"


def _end(diagnostic: Diagnostic, line: str) -> int:
    if diagnostic.end_line != diagnostic.line or diagnostic.end_column is None:
        return len(line.rstrip()) + 1
    return diagnostic.end_column


def _plugin(plugin: PluginReport) -> Iterator[Fragment]:
    name = visible(" ".join(filter(None, (plugin.id, plugin.version))) or "(no id)")
    yield "good", name
    yield "", f" ({plugin.platform.title})"
    if plugin.manifest is not None:
        yield "", f": {visible(plugin.manifest)}"
    yield "dim", f" {plugin.note}\n" if plugin.note else "\n"
    if plugin.digest:
        yield "dim", f"  {plugin.digest}\n"
    for schedule in plugin.schedules:
        yield from _schedule(schedule)


def _schedule(schedule: ScheduleReport) -> Iterator[Fragment]:
    yield "", f"  {visible(schedule.pointer)}  "
    yield from _forecast(schedule)


def _forecast(schedule: ScheduleReport) -> Iterator[Fragment]:
    """Expression, words and zone; a row a fire, in local time, in UTC and in the site's; what clock changes do, once."""
    yield "path", visible(schedule.expression)
    yield "", f"  {schedule.words} ({visible(schedule.timezone)})\n"
    width = max((cells(fire.local) for fire in schedule.fires), default=0)
    for fire in schedule.fires:
        yield "", f"    {fire.local}{' ' * (width - cells(fire.local))}  "
        yield "dim", f"{fire.utc}{_on_site(fire)}\n"
        yield from _remark(fire.note)
    shown = {fire.note for fire in schedule.fires}
    for change in schedule.changes:
        yield from _remark(None if change in shown else change)


def _on_site(fire: FireReport) -> str:
    """The site's time, unless the row has it already: as the schedule's own clock, or as UTC."""
    known = (fire.local, f"{fire.utc[:16].replace('T', ' ')} UTC")
    return "" if fire.site in known else f"  site: {fire.site}"


def _remark(text: str | None) -> Iterator[Fragment]:
    if text:
        yield "note", "      ! "
        yield "", f"{text}\n"


def printed(path: str, name: str, text: str, left: int) -> str:
    """What a plugin printed while it was imported, labelled so that nobody takes it for ours. ``left`` counts bytes."""
    lines = LINE_END.split(text.removesuffix("\n"))
    more = [f"  … and {left:,} more bytes"] if left > 0 else []
    return "\n".join([f"{visible(path)} printed to {name}:", *(f"  | {visible(line)}" for line in lines), *more])


def count(number: int, noun: str) -> str:
    """``1 job``, ``2 jobs``."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def _summary(report: Report) -> Iterator[Fragment]:
    style = "error" if report.errors else "warning" if report.warnings else "good"
    found = f"{count(report.errors, 'error')}, {count(report.warnings, 'warning')}"
    yield style, "No problems" if not report.diagnostics else found
    yield "", f" in {count(report.files, 'file')}.\n"
    if report.diagnostics:
        yield "dim", f"`nsplugin explain {report.diagnostics[0].code}` tells more.\n"
