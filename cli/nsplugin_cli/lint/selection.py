"""Which findings count: ``select``, ``ignore`` and ``per-file-ignores``, by codes, their beginnings and rules' names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from nsplugin.record import record
from nsplugin_cli.diagnostic import CONFIG_CODE, WrongCall

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_ALL: Final = "NSP"


def codes(items: Iterable[str], where: str) -> tuple[str, ...]:
    """Codes and beginnings of codes for what was written: these, in any case, or rules' names.

    Raises :class:`WrongCall` for what names no rule; ``where`` says who wrote it.
    """
    return tuple(_code(item.strip(), where) for item in items if item.strip())


def _code(item: str, where: str) -> str:
    from nsplugin_cli.rule_names import advice, code_of

    code = code_of(item)
    if code is None:
        raise WrongCall(f"{where}: no rule has the code or name {item!r}; {advice(item)}")
    return code


@record(kw_only=False)
class Selection:
    """What one project file and the command line select. The longest beginning that fits decides, and ``ignore`` a draw."""

    select: tuple[str, ...] = (_ALL,)
    ignore: tuple[str, ...] = ()
    by_file: tuple[tuple[GitIgnoreSpec, tuple[str, ...]], ...] = ()

    def takes(self, code: str, path: str) -> bool:
        """Whether a finding counts. ``path`` is relative to the project file's folder, with slashes."""
        if code == CONFIG_CODE:
            return True
        if _longest(code, self.select) <= _longest(code, self.ignore):
            return False
        return not any(_longest(code, ignored) and spec.match_file(path) for spec, ignored in self.by_file)


def _longest(code: str, beginnings: Iterable[str]) -> int:
    return max((len(each) for each in beginnings if code.startswith(each)), default=0)


def selection(table: Mapping[str, Any], file: str, select: tuple[str, ...], ignore: tuple[str, ...]) -> Selection:
    """What a project file's table selects; the command line's ``select`` replaces the file's, its ``ignore`` adds."""
    return Selection(
        select or codes(table.get("select", ()), f"{file}: select") or (_ALL,),
        (*codes(table.get("ignore", ()), f"{file}: ignore"), *ignore),
        tuple(_by_file(table.get("per-file-ignores", {}), file)),
    )


def _by_file(table: Mapping[str, Iterable[str]], file: str) -> Iterable[tuple[GitIgnoreSpec, tuple[str, ...]]]:
    for pattern, items in table.items():
        from nsplugin_cli import git_patterns

        yield git_patterns.spec([pattern]), codes(items, f"{file}: per-file-ignores")
