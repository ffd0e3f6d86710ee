"""The JSON form, of exactly the shape in spec/core.md Commands."""

from __future__ import annotations

import json
from typing import Any, Final

from nsplugin_core.events import EngineEvent
from nsplugin_core.simulation.moments import stamp
from nsplugin_core.simulation.summary import Simulation

TYPES: Final[dict[str, str]] = {"lost": "failure"}
"""The shape has no word of its own for an attempt that an outage cut short: it is spent like one that failed (Q2)."""
LEFT_OUT: Final = ("duplicate", "refused")
"""Nothing happened to a task."""
SUMMARY: Final = {
    "fires": "fires", "catchUps": "catch_ups", "skips": "skips", "deferred": "deferred", "dropped": "dropped",
    "attempts": "attempts", "succeeded": "succeeded", "retries": "retries", "deadLetters": "dead_letters",
}  # fmt: skip


def render_json(simulation: Simulation) -> str:
    """``{"events": […], "summary": {…}}``, one event a line."""
    events = [json.dumps(_plain(event)) for event in simulation.events if event.type not in LEFT_OUT]
    summary = {name: getattr(simulation.summary, field) for name, field in SUMMARY.items()}
    listed = "[\n    " + ",\n    ".join(events) + "\n  ]" if events else "[]"
    return f'{{\n  "events": {listed},\n  "summary": {json.dumps(summary)}\n}}\n'


def _plain(event: EngineEvent) -> dict[str, Any]:
    return {
        "at": stamp(event.at),
        "type": TYPES.get(event.type, event.type),
        "plugin": event.plugin,
        "job": event.job,
        "task": event.task,
        "attempt": event.attempt,
    }
