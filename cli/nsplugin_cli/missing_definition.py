"""NSP004 in words: the entry's module has no attribute that holds a definition. ``build`` says the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nsplugin.platforms import Platform
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


def holds_other(platform: Platform, held: str, span: Span) -> Problem:
    """The finding where the attribute holds something else; ``held`` says what."""
    layout = platform.layout
    wanted, written = ("", f"{layout.definer}(…)") if layout.jobs == "mapping" else ("a list of ", f"[{layout.definer}(…)]")
    message = f"`{layout.attribute}` holds {held}, not {wanted}what {layout.definer} returns"
    hint = f"write {layout.attribute} = {written}"
    return problem("NSP004", Found(pointer="", message=message, hint=hint, span=span))
