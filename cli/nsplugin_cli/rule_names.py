"""What people write for rules: codes, beginnings of codes and names, in any case."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

_DIGITS: Final = "NSP000"
"""So much of a code, but for its last two digits, is a group of rules."""


@cache
def codes_by_name() -> Mapping[str, str]:
    """The code of each rule by its name."""
    from nsplugin_cli.catalogue import rules

    return {rule.name: rule.code for rule in rules()}


def code_of(written: str) -> str | None:
    """The code, or the beginning of several, that was meant; ``None`` for what names no rule."""
    names = codes_by_name()
    if written.lower() in names:
        return names[written.lower()]
    begins = bool(written) and any(code.startswith(written.upper()) for code in names.values())
    return written.upper() if begins else None


def advice(written: str) -> str:
    """What to write in place of something that names no rule."""
    from nsplugin.nearest import closest

    names = codes_by_name()
    meant = closest(written.upper(), names.values()) or closest(written.lower(), names)
    if meant is not None:
        return f"did you mean {meant}?"
    group = written.upper()[: len(_DIGITS) - 2]
    near = [f"{code} {name}" for name, code in names.items() if len(group) == len(_DIGITS) - 2 and code.startswith(group)]
    return f"the rules in {group} are {', '.join(near)}" if near else "`nsplugin rules` lists them"
