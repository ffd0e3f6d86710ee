"""Every rule there is, of all families: what ``explain``, ``rules`` and the generated documentation are made of."""

from __future__ import annotations

from typing import Any

from nsplugin.nearest import closest
from nsplugin.rules._family import Rule
from nsplugin.rules.catalogue import documented
from nsplugin_cli.diagnostic import WrongCall
from nsplugin_cli.rules import family


def rules() -> tuple[Rule[Any], ...]:
    """All rules, by code."""
    return tuple(sorted((*documented, *family.rules), key=lambda rule: rule.code))


def rule(name: str) -> Rule[Any]:
    """The rule of that code or name, in any case. Raises :class:`WrongCall` for one that does not exist."""
    known = {key: rule for rule in rules() for key in (rule.code, rule.name)}
    found = known.get(name.upper()) or known.get(name.lower())
    if found is None:
        meant = closest(name.upper(), known) or closest(name.lower(), known)
        hint = f"did you mean {meant}?" if meant else "`nsplugin rules` lists them"
        raise WrongCall(f"there is no rule {name!r}; {hint}")
    return found
