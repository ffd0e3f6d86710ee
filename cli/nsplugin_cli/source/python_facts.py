"""Facts of one definition: what its handlers do with their context, and what loading its module starts."""

from __future__ import annotations

from nsplugin_cli.facts import Facts
from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_layout import Layout
from nsplugin_cli.source.python_module import Module


def facts_of(evaluator: Evaluator, module: Module, layout: Layout, *, timers: bool) -> Facts:
    """The facts of a definition that was laid out. ``timers``: whether to look at what loading the module starts."""
    return Facts()
