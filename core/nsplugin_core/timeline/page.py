"""The timeline as one page that needs nothing else: no script, no network; for light and dark, keyboard and screen reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Final

from nsplugin.durations import spoken
from nsplugin_core.simulation.summary import Simulation, Summary
from nsplugin_core.timeline.drawing import drawing, legend
from nsplugin_core.timeline.story import Clock, Entry, entries

MOST_ROWS: Final = 2_000
"""As many entries are listed; more would make a page that nobody reads and few browsers show."""
_HEADS: Final = ("Time", "Job", "Task", "What happened")
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def render_html(simulation: Simulation) -> str:
    """The whole page."""
    clock = Clock(simulation)
    told = entries(simulation, clock)
    plugins = ", ".join(plugin.manifest.id for plugin in simulation.scenario.plugins)
    style = files("nsplugin_core.timeline").joinpath("page.css").read_text(encoding="utf-8")
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        f'<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Simulation of {escape(plugins)}</title>",
        f"<style>\n{style}</style></head>",
        '<body><a class="skip" href="#events">Skip to what happened</a>',
        f"<header><h1>Simulation of {escape(plugins)}</h1><p>{escape(_window(simulation, clock))}</p></header>",
        "<main>",
        *_summary(simulation.summary),
        '<section aria-labelledby="drawing-head"><h2 id="drawing-head">Timeline</h2>',
        '<div class="wide" role="region" aria-label="Timeline, drawn" tabindex="0">',
        drawing(simulation, told, clock),
        "</div>",
        legend(),
        "</section>",
        *_list(told, clock),
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _window(simulation: Simulation, clock: Clock) -> str:
    scenario = simulation.scenario
    first, last = (
        f"{clock.wall(moment)[0]:%Y-%m-%d %H:%M} {clock.wall(moment)[1]}" for moment in (scenario.start, scenario.end)
    )
    how = "the plugin's own handlers" if scenario.handlers else "no handlers"
    return f"{first} to {last}, {scenario.timezone}; seed {scenario.seed}, {how}."


def _summary(summary: Summary) -> Iterator[str]:
    yield '<section aria-labelledby="summary-head"><h2 id="summary-head">Summary</h2><dl class="counts">'
    rows = (
        ("Fires", summary.fires), ("Made up", summary.catch_ups), ("Skipped", summary.skips),
        ("Deferred by clock changes", summary.deferred), ("Dropped by clock changes", summary.dropped),
        ("Attempts", summary.attempts), ("Succeeded", summary.succeeded), ("Failed", summary.failures),
        ("Timed out", summary.timeouts), ("Cut short by outages", summary.lost), ("Given back", summary.deferrals),
        ("Waits for another attempt", summary.retries), ("Dead letters", summary.dead_letters),
        ("Unfinished at the end", summary.unfinished),
    )  # fmt: skip
    for name, number in rows:
        yield f"<div><dt>{name}</dt><dd>{number:,}</dd></div>"
    yield f"<div><dt>Longest wait</dt><dd>{spoken(summary.longest_wait_ms)}</dd></div></dl></section>"


def _list(told: Sequence[Entry], clock: Clock) -> Iterator[str]:
    """A table a day: first what was not all well, for which there is room; what went well is counted."""
    yield '<section id="events" aria-labelledby="events-head" tabindex="-1"><h2 id="events-head">What happened</h2>'
    room = MOST_ROWS
    for day, found in groupby(told, key=lambda entry: clock.wall(entry.at)[0].date()):
        group = list(found)
        rows = [entry for entry in group if not entry.quiet]
        yield f"<h3>{day:%A} {day.isoformat()}</h3>"
        if rows[:room]:
            yield from _table(rows[:room], f"{day:%A} {day.isoformat()}", clock)
        yield from _well(group)
        room -= len(rows[:room])
        if room <= 0:
            yield f"<p>The first {MOST_ROWS:,} entries are listed; <code>--format json</code> has all.</p>"
            break
    yield "</section>"


def _table(rows: Sequence[Entry], day: str, clock: Clock) -> Iterator[str]:
    yield f'<div class="wide" role="region" aria-label="{day}" tabindex="0"><table>'
    yield f"<caption>{escape(clock.zone(rows[0].at).name)}</caption>"
    heads = "".join(f'<th scope="col">{head}</th>' for head in _HEADS)
    yield f"<tr>{heads}</tr>"
    for entry in rows:
        task = str(entry.task) if entry.task else ""
        yield (
            f'<tr class="{entry.tone}"><td>{clock.time(entry.at)} {clock.wall(entry.at)[1]}</td>'
            f"<td>{escape(entry.job or entry.plugin)}</td><td>{task}</td><td>{escape(entry.text)}</td></tr>"
        )
    yield "</table></div>"


def _well(group: Sequence[Entry]) -> Iterator[str]:
    well = Counter(entry.job for entry in group if entry.quiet)
    if well:
        listed = ", ".join(f"{number:,} × {escape(job)}" for job, number in sorted(well.items()))
        yield f"<p>Ran and succeeded at the first attempt: {listed}.</p>"
