"""What ``diff`` prints: text for a person, one JSON object for a program. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from nsplugin_cli.report.frame import Fragment, visible
from nsplugin_cli.report.text import count, paint

if TYPE_CHECKING:
    from nsplugin.upgrade import Level
    from nsplugin_cli.comparison import Comparison, Rhythm, Side, Step

_STYLES: Final[dict[Level, str]] = {"breaking": "error", "notable": "warning", "harmless": "dim"}


def render_text(comparison: Comparison, *, color: bool = False) -> str:
    """One paragraph a change, then how many there are of each level."""
    return paint(_fragments(comparison), color=color)


def _fragments(comparison: Comparison) -> Iterator[Fragment]:
    if comparison.old is not None and comparison.new is not None and comparison.platform is not None:
        yield "path", f"{_named(comparison.old)} → {_named(comparison.new)}"
        yield "", f" ({comparison.platform.title})\n\n"
    for step in comparison.steps:
        yield from _paragraph(step)
    if not comparison.steps:
        yield "good", "No changes.\n"
        return
    numbers = ", ".join(f"{comparison.count(level)} {level}" for level in _STYLES)
    yield "", f"{count(len(comparison.steps), 'change')}: {numbers}.\n"


def _named(side: Side) -> str:
    return visible(" ".join(filter(None, (side.id, side.version))))


def _paragraph(step: Step) -> Iterator[Fragment]:
    change = step.change
    yield _STYLES[change.level], change.level
    yield "dim", f" {change.kind} {visible(change.pointer)}\n"
    yield "", f"  {visible(change.message)}\n"
    if change.hint:
        yield "hint", "  hint: "
        yield "", f"{visible(change.hint)}\n"
    both = step.before is not None and step.after is not None
    if step.before is not None and both:
        yield "", f"    next fire before  {_fire(step.before)}\n"
    if step.after is not None:
        yield "", f"    next fire{' now   ' if both else ''}  {_fire(step.after)}\n"
    yield "", "\n"


def _fire(rhythm: Rhythm) -> str:
    return "never" if rhythm.next_fire is None else f"{rhythm.next_fire[0]}  {rhythm.next_fire[1]}"


def render_json(comparison: Comparison) -> str:
    """One object, two-space indent, one line feed at the end."""
    value = {
        "version": 1,
        "command": "diff",
        "old": _side(comparison.old),
        "new": _side(comparison.new),
        "summary": {level: comparison.count(level) for level in _STYLES},
        "changes": [_change(step) for step in comparison.steps],
    }
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _side(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {"path": side.path, "id": side.id, "version": side.version, "digest": side.digest}


def _change(step: Step) -> dict[str, Any]:
    change = step.change
    return {
        "kind": change.kind,
        "level": change.level,
        "pointer": change.pointer,
        "message": change.message,
        "hint": change.hint,
        "before": _rhythm(step.before),
        "after": _rhythm(step.after),
    }


def _rhythm(rhythm: Rhythm | None) -> dict[str, Any] | None:
    if rhythm is None:
        return None
    fire = rhythm.next_fire
    return {"expression": rhythm.expression, "timezone": rhythm.timezone, "nextFire": fire[1] if fire else None}
