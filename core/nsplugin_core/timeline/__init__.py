"""A simulation as a person reads it (text, a page) and as a program does (JSON). Pure; the same simulation, the same bytes."""

from __future__ import annotations

from nsplugin_core.timeline.page import render_html
from nsplugin_core.timeline.plain import render_json
from nsplugin_core.timeline.text import fragments

__all__ = ["fragments", "render_html", "render_json"]
