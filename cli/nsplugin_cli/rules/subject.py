"""What the lint rules look at: a raw manifest with the facts of its source."""

from __future__ import annotations

from nsplugin.record import field, record
from nsplugin.rules.subject import Subject
from nsplugin_cli.facts import Facts


@record
class SourceSubject(Subject):
    """A raw manifest under judgement, and the facts that a static reader found beside it."""

    facts: Facts = field(default_factory=Facts)
