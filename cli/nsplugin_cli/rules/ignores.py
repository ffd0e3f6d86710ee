"""NSP901: ignores that silence nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from nsplugin.rules._family import Found, Problem
from nsplugin.rules.identity import problem
from nsplugin_cli.facts import Ignore

_CODE: Final = "NSP901"
_EXAMPLE: Final = "write nsplugin: ignore[NSP211], with the codes that it is to silence"


def needless(ignores: Iterable[Ignore], codes: Collection[str]) -> list[Problem]:
    """The findings on ignores of one file that silenced nothing. ``codes``: those of all rules."""
    return [problem(_CODE, found) for ignore in ignores for found in _faults(ignore, codes)]


def _faults(ignore: Ignore, codes: Collection[str]) -> Iterator[Found]:
    if ignore.fault is not None:
        yield Found(pointer="", message=ignore.fault, hint=_EXAMPLE, span=ignore.span)
    for code, span in ignore.codes if ignore.fault is None else ():
        if code == _CODE:
            message, hint = f"{_CODE} cannot be ignored", "remove the ignore that it is about"
        elif code in codes:
            message, hint = f"this ignore silences nothing: there is no {code} on this line", "remove it"
        else:
            message, hint = f"this ignore silences nothing: no rule has the code {code}", "`nsplugin rules` lists them"
        yield Found(pointer="", message=message, hint=hint, span=span)
