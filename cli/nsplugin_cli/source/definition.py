"""What a static reader makes of a source file, whatever the language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nsplugin.handlers import Handler
from nsplugin.record import record
from nsplugin.rules._family import Found, Problem
from nsplugin.spans import Span, SpanMap
from nsplugin_cli.facts import Facts, Ignore

Resolve = Callable[[str, str], "tuple[str, bytes] | None"]
"""``resolve(path of the importing file, module as written)`` gives path and bytes of that module's file, or ``None`` when it
is not one of the repository's. Python's come with their leading dots (``.jobs``), TypeScript's as written (``./jobs``)."""


@record(kw_only=False)
class SourceDefinition:
    """A plugin (NextSkin) or a list of jobs (Cogover) as its source shows it.

    ``platform`` by name. ``attribute``: the module attribute or export that holds it, ``None`` when it is held by none.
    ``raw``: the raw manifest in the manifest's own key names, before defaults, with ``UNKNOWN`` for what was not evaluated.
    ``spans``: where each pointer of ``raw`` stands in this file. ``handlers``: by the pointer of the job or route.
    ``problems``: what no rule over ``raw`` can see (an argument given twice, a function in place of a job), not yet placed.
    ``call``: the whole defining call, or list. Jobs that no list of the file holds come together as one more definition without
    an attribute, whose list ends in ``UNKNOWN``.
    """

    platform: str
    attribute: str | None
    raw: Mapping[Any, Any]
    spans: SpanMap
    handlers: Mapping[str, Handler]
    path: str
    call: Span
    problems: tuple[Problem, ...] = ()
    facts: Facts = Facts()


@record(kw_only=False)
class SourceFile:
    """One file, read. ``unreadable`` is the one finding (NSP003) of a file that does not parse; it then has no definitions.

    ``ignores``: the comments that silence findings, whether or not the file defines anything. ``lacks``: the module surely has
    none of the attributes that were asked for; ``instead``: what surely is no definition stands in one: the platform by name,
    the value in words, its place.
    """

    path: str
    definitions: tuple[SourceDefinition, ...] = ()
    unreadable: Found | None = None
    ignores: tuple[Ignore, ...] = ()
    lacks: bool = False
    instead: tuple[str, str, Span] | None = None
