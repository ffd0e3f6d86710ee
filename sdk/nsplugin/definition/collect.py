"""Definitions made while a module is imported, with their problems, so that one run reports all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from nsplugin.definition.call_site import CallSite
from nsplugin.record import record

if TYPE_CHECKING:
    from nsplugin.rules import Problem


@record(kw_only=False)
class Collected:
    """One call of a definer: what it returned, the problems it would have raised, and where it stands.

    Pointers are the definer's own: into the manifest for a plugin, into its configuration for a job.
    """

    definition: Any
    problems: tuple[Problem, ...]
    site: CallSite | None


_record: ContextVar[list[Collected] | None] = ContextVar("nsplugin_collected", default=None)


@contextmanager
def collecting() -> Iterator[list[Collected]]:
    """Inside, definers return a definition even when it has problems, and note both in the list this yields."""
    record: list[Collected] = []
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)


def collected(definition: Any, problems: tuple[Problem, ...], site: CallSite | None) -> bool:
    """Note a definition; false outside :func:`collecting`, where the caller has to raise."""
    record = _record.get()
    if record is None:
        return False
    record.append(Collected(definition, problems, site))
    return True


def is_collecting() -> bool:
    """Whether problems are collected instead of raised."""
    return _record.get() is not None
