"""Comments that silence findings on their line: ``nsplugin: ignore[NSP211, NSP209]``, in any language."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from nsplugin.lazy import pattern
from nsplugin.record import record
from nsplugin.rules._family import Problem
from nsplugin.spans import Span
from nsplugin_cli.facts import Ignore

_COMMENT: Final = pattern(r"nsplugin\s*:\s*(?P<word>[\w-]*)(?P<rest>[^#]*)")
_CODES: Final = pattern(r"\s*\[(?P<codes>[^\]]*)\]")
_CODE: Final = pattern(r"[^\s,]+")
_WELL_FORMED: Final = pattern(r"NSP\d{0,3}|[a-z]+(?:-[a-z0-9]+)+", re.IGNORECASE)
"""Codes, beginnings of codes and names, as the project file takes them."""
NEVER_SILENCED: Final = "NSP901"


def read_comment(text: str, line: int, column: int) -> Ignore | None:
    """The ignore in a comment that begins at a line and column, ``None`` when it addresses somebody else."""
    found = _COMMENT.search(text)
    if found is None:
        return None
    start = column + found.start()
    listed = _CODES.match(found["rest"])
    if found["word"] != "ignore" or listed is None:
        end = start + len(found[0].rstrip())
        return Ignore(codes=(), span=Span(line, start, line, end), fault=_fault(found["word"]))
    offset = column + found.start("rest")
    span = Span(line, start, line, offset + listed.end())
    codes = tuple(_codes(listed, line, offset))
    wrong = [code for code, _ in codes if not _WELL_FORMED.fullmatch(code)]
    if not codes or wrong:
        fault = f"{wrong[0]!r} is no rule's code or name" if wrong else "it names no code"
        return Ignore(codes=(), span=span, fault=f"this ignore silences nothing: {fault}")
    return Ignore(codes=codes, span=span)


def _codes(listed: re.Match[str], line: int, offset: int) -> Iterator[tuple[str, Span]]:
    base = offset + listed.start("codes")
    for code in _CODE.finditer(listed["codes"]):
        yield code[0], Span(line, base + code.start(), line, base + code.end())


def _fault(word: str) -> str:
    what = "it names no code" if word == "ignore" else f"'nsplugin: {word}' is no instruction"
    return f"this comment silences nothing: {what}"


def python_ignores(source: str) -> tuple[Ignore, ...]:
    """The ignores of a Python source that parses. Text in strings is no comment."""
    after = source.split("nsplugin")[1:]  # no expression is compiled for this: most files have no ignore
    return tuple(_in_comments(source)) if any(text.lstrip().startswith(":") for text in after) else ()


def _in_comments(source: str) -> Iterator[Ignore]:
    import tokenize  # here: few files have an ignore

    try:
        for token in tokenize.generate_tokens(io.StringIO(source, newline="\n").readline):
            if token.type == tokenize.COMMENT:
                line, offset = token.start
                ignore = read_comment(token.string, line, offset + 1)
                if ignore is not None:
                    yield ignore
    except (tokenize.TokenError, SyntaxError):
        return


@record(kw_only=False)
class Silenced:
    """What is left of a file's findings, and the ignores that silenced nothing."""

    problems: tuple[Problem, ...]
    needless: tuple[Ignore, ...]


def silence(problems: Iterable[Problem], ignores: Collection[Ignore]) -> Silenced:
    """Take away the placed findings of one file that an ignore on their first line names.

    ``needless``: each ignore that is malformed, or that names a code without a finding on its line, reduced to those codes.
    """
    wanted: dict[int, list[str]] = {}
    for ignore in ignores:
        wanted.setdefault(ignore.span.line, []).extend(code for code, _ in ignore.codes)
    kept: list[Problem] = []
    used: set[tuple[int, str]] = set()
    for problem in problems:
        line = problem.span.line if problem.span else 0
        written = next((each for each in wanted.get(line, ()) if _names(each, problem)), None)
        if written is None:
            kept.append(problem)
        else:
            used.add((line, written))
    return Silenced(tuple(kept), tuple(_needless(ignores, used)))


def _names(written: str, problem: Problem) -> bool:
    """Whether an ignore speaks of a finding: by its code, the beginning of its code, or its rule's name."""
    meant = problem.code.startswith(written.upper()) or problem.name == written.lower()
    return meant and problem.code != NEVER_SILENCED


def _needless(ignores: Iterable[Ignore], used: Collection[tuple[int, str]]) -> Iterator[Ignore]:
    left = set(used)
    for ignore in ignores:
        idle: list[tuple[str, Span]] = []
        for code, span in ignore.codes:
            if (ignore.span.line, code) in left:
                left.discard((ignore.span.line, code))
            else:
                idle.append((code, span))
        if ignore.fault is not None or idle:
            yield Ignore(codes=tuple(idle), span=ignore.span, fault=ignore.fault)
