"""NSP004 in words: the entry's module has no attribute that holds a definition. ``build`` and ``lint`` say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nsplugin.rules._family import Found, Problem
from nsplugin.rules.identity import problem
from nsplugin.spans import Span

FIRST_LINE: Final = Span(1, 1, 1, 2)


def not_defined(module: str, wanted: Sequence[str], elsewhere: str | None, span: Span | None) -> Problem:
    """The finding. ``elsewhere``: another attribute of the module that holds a definition."""
    names = " or ".join(f"`{name}`" for name in wanted)
    hint = f"assign the definition to {names} at the top level of the module"
    if elsewhere is not None:
        hint = f'`{elsewhere}` holds a definition: rename it to {names}, or set entry = "{module}:{elsewhere}"'
    return problem("NSP004", Found(pointer="", message=f"the module {module} has no attribute {names}", hint=hint, span=span))
