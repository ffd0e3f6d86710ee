"""Renderers: one pure function a format, ``render(report) -> str``. A new format is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nsplugin_cli.diagnostic import Report

FORMATS: Final = {name: f"nsplugin_cli.report.{name}" for name in ("text", "json", "sarif", "github", "junit")}


def renderer(name: str) -> Callable[[Report], str]:
    """The ``render`` of a format in :data:`FORMATS`."""
    render: Callable[[Report], str] = import_module(FORMATS[name]).render
    return render
