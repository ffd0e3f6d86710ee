"""NSP901: ignores that silence nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from nsplugin.rules._family import Found, Problem
from nsplugin.rules.identity import problem
from nsplugin_cli.facts import Ignore

_CODE: Final = "NSP901"
_EXAMPLE: Final = "write nsplugin: ignore[NSP211], with the codes that it is to silence"


def needless(ignores: Iterable[Ignore], codes: Mapping[str, str]) -> list[Problem]:
    """The findings on ignores of one file that silenced nothing. ``codes``: those of all rules, by name."""
    return [problem(_CODE, found) for ignore in ignores for found in _faults(ignore, codes)]


def _faults(ignore: Ignore, codes: Mapping[str, str]) -> Iterator[Found]:
    if ignore.fault is not None:
        yield Found(pointer="", message=ignore.fault, hint=_EXAMPLE, span=ignore.span)
    for code, span in ignore.codes if ignore.fault is None else ():
        meant = codes.get(code.lower(), code.upper())
        if meant == _CODE:
            message, hint = f"{_CODE} cannot be ignored", "remove the ignore that it is about"
        elif any(known.startswith(meant) for known in codes.values()):
            message, hint = f"this ignore silences nothing: there is no {code} on this line", "remove it"
        else:
            message, hint = f"this ignore silences nothing: no rule has the code or name {code}", "`nsplugin rules` lists them"
        yield Found(pointer="", message=message, hint=hint, span=span)
