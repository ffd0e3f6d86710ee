"""The timeline as an SVG drawing: a lane a job, a mark where something happened, bands for outages, lines for clock changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from nsplugin_core.simulation.summary import Simulation
from nsplugin_core.timeline.story import RANK, Clock, Entry, Tone

WIDTH: Final = 1000
LANE: Final = 40
TOP: Final = 34
LEFT: Final = 8
COLUMNS: Final = 240
"""Marks nearer than that to each other are one mark."""
_HOUR: Final = 3_600_000
_STEPS: Final = (1, 2, 3, 6, 12, 24, 48, 168, 336, 720, 2160, 8760)
_MOST_TICKS: Final = 12
_SHAPES: Final[dict[Tone, str]] = {
    "plain": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "good": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "note": "M0-5L5 0L0 5L-5 0z",
    "warning": "M0-6L6 5L-6 5z",
    "error": "M-5-5L5 5M-5 5L5-5",
}
"""The shape tells the tone too, for whoever can't tell the colours apart."""
_WORDS: Final[dict[Tone, str]] = {
    "good": "succeeded", "plain": "under way", "note": "worth knowing", "warning": "failed", "error": "dead letter",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Scale:
    start: int
    end: int

    def x(self, moment: int) -> float:
        """The place of a moment."""
        share = (min(max(moment, self.start), self.end) - self.start) / (self.end - self.start)
        return round(LEFT + share * (WIDTH - 2 * LEFT), 1)


def drawing(simulation: Simulation, told: Sequence[Entry], clock: Clock) -> str:
    """The SVG element; its title and description say the same in words."""
    lanes = _lanes(told)
    scale = _Scale(simulation.scenario.start, simulation.scenario.end)
    height = TOP + LANE * max(len(lanes), 1) + 8
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="drawing-title drawing-text">',
        '<title id="drawing-title">Timeline of the simulation</title>',
        f'<desc id="drawing-text">{escape(_described(lanes))}</desc>',
        *_axis(scale, height, clock),
        *_bands(simulation, scale, height),
        *(line for row, (name, entries) in enumerate(lanes.items()) for line in _lane(row, name, entries, scale, clock)),
        "</svg>",
    ]
    return "\n".join(parts)


def legend() -> str:
    """What the shapes mean."""
    items = (
        f'<li><svg viewBox="-8 -8 16 16" aria-hidden="true"><path class="{tone}" d="{_SHAPES[tone]}"/></svg> {word}</li>'
        for tone, word in _WORDS.items()
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _lanes(told: Sequence[Entry]) -> dict[str, list[Entry]]:
    lanes: dict[str, list[Entry]] = {}
    for entry in told:
        if entry.job:
            lanes.setdefault(f"{entry.plugin}/{entry.job}", []).append(entry)
    return dict(sorted(lanes.items()))


def _described(lanes: dict[str, list[Entry]]) -> str:
    told = (
        f"{name}: {len(entries)} marks, {sum(entry.tone == 'warning' for entry in entries)} failures, "
        f"{sum(entry.tone == 'error' for entry in entries)} dead letters."
        for name, entries in lanes.items()
    )
    return " ".join(told) or "Nothing happened."


def _axis(scale: _Scale, height: int, clock: Clock) -> Iterator[str]:
    """Ticks at whole hours or midnights of the site's clock."""
    hours = next((step for step in _STEPS if (scale.end - scale.start) / (step * _HOUR) <= _MOST_TICKS), _STEPS[-1])
    moment, last = scale.start - scale.start % _HOUR, -1
    while moment < scale.end:
        wall, _ = clock.wall(moment)
        number = (wall.toordinal() * 24 + wall.hour) // hours
        if moment >= scale.start and number != last and (wall.hour % min(hours, 24) == 0):
            x = scale.x(moment)
            text = f"{wall:%H:%M}" if hours < 24 and wall.hour else f"{wall:%b} {wall.day}"
            yield f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{height - 8}"/>'
            anchor = ' style="text-anchor: start"' if x < 3 * LEFT else ""
            yield f'<text class="tick" x="{x}" y="{TOP - 14}"{anchor}>{text}</text>'
            last = number
        moment += _HOUR


def _bands(simulation: Simulation, scale: _Scale, height: int) -> Iterator[str]:
    for begin, end in simulation.scenario.outages:
        x, width = scale.x(begin), max(scale.x(end) - scale.x(begin), 1)
        yield f'<rect class="down" x="{x}" y="{TOP - 8}" width="{width:.1f}" height="{height - TOP}">'
        yield "<title>The core is down</title></rect>"
    seen: dict[int, list[str]] = {}
    for remark in simulation.remarks:
        if remark.kind not in ("down", "up"):
            seen.setdefault(remark.at, []).append(remark.text)
    for at, texts in seen.items():
        x = scale.x(at)
        yield f'<line class="change" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{height - 8}">'
        yield f"<title>{escape(chr(10).join(dict.fromkeys(texts)))}</title></line>"


def _lane(row: int, name: str, entries: Sequence[Entry], scale: _Scale, clock: Clock) -> Iterator[str]:
    y = TOP + LANE * row + 24
    yield f'<text class="lane" x="{LEFT}" y="{y - 12}">{escape(name)}</text>'
    yield f'<line class="rail" x1="{LEFT}" x2="{WIDTH - LEFT}" y1="{y}" y2="{y}"/>'
    columns: dict[int, list[Entry]] = {}
    for entry in entries:
        columns.setdefault(int(scale.x(entry.at) / WIDTH * COLUMNS), []).append(entry)
    for group in columns.values():
        first = max(group, key=lambda entry: RANK.index(entry.tone))
        more = f" (and {len(group) - 1:,} more)" if len(group) > 1 else ""
        wall, label = clock.wall(first.at)
        text = f"{wall:%Y-%m-%d} {clock.time(first.at)} {label}: {first.text}{more}"
        yield f'<path class="{first.tone}" transform="translate({scale.x(first.at)} {y})" d="{_SHAPES[first.tone]}">'
        yield f"<title>{escape(text)}</title></path>"
