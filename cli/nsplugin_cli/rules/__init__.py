"""Rules that need more than the manifest: what the source around it shows. ``family`` is all of them."""

from __future__ import annotations

from typing import Final

from nsplugin.rules._family import Family
from nsplugin_cli.rules import capabilities, enqueueing, handling, loading
from nsplugin_cli.rules.subject import SourceSubject

family: Final[Family[SourceSubject]] = Family((*enqueueing.RULES, *loading.RULES, *handling.RULES, *capabilities.RULES))
"""The rules over source facts, by code."""
