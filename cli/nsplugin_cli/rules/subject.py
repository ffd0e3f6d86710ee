"""What the lint rules look at: a raw manifest with the facts of its source."""

from __future__ import annotations

from dataclasses import dataclass, field

from nsplugin.rules.subject import Subject
from nsplugin_cli.facts import Facts


@dataclass(frozen=True, kw_only=True)
class SourceSubject(Subject):
    """A raw manifest under judgement, and the facts that a static reader found beside it."""

    facts: Facts = field(default_factory=Facts)
