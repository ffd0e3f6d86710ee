"""Mends what is safe to mend: the characters of one literal or key, and nothing else in the file."""

from __future__ import annotations

import difflib
import io
import os
import re
import tokenize
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from nsplugin.rules._family import Problem
from nsplugin.spans import Span
from nsplugin_cli import regular_file
from nsplugin_cli.lint.judging import Judged
from nsplugin_cli.source.discover import TYPESCRIPT

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_PATCH_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
"""What `patch` and git take for a line."""
_LITERAL: Final = re.compile(r"""(['"`])[^'"`\\\r\n]*\1""")
_ESCAPES: Final = re.compile(r"(?:\\[nrtfv]|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4})+")
_HARMLESS: Final = re.compile(r"""[^\x00-\x1f\x7f-\U0010ffff'"`\\]+""")
_NAMED: Final = re.compile(r"(?=.*[A-Za-z])(?:[A-Za-z]{3,}|[0-9]+)(?:-(?:[A-Za-z]{3,}|[0-9]+))?")
_CRON: Final = frozenset(("NSP201", "NSP202"))
_NAMES: Final = frozenset(("NSP006", "NSP204", "NSP304"))
"""A key or a job that is not known."""
_BOM: Final = b"\xef\xbb\xbf"
_ROUNDS: Final = 10

Judge = Callable[[bytes], Judged]
Counting = Callable[[Judged], Sequence[Problem]]


class Edit(NamedTuple):
    """The characters ``start:end`` of the text are to become ``new``."""

    start: int
    end: int
    new: str


class Mended(NamedTuple):
    """A file's bytes before and after, and how many findings that takes away."""

    path: str
    before: bytes
    after: bytes
    findings: int


def mend(path: str, data: bytes, judge: Judge, counting: Counting) -> Mended | None:
    """The file with all that is safe to mend mended, or ``None`` when there is nothing.

    ``judge`` judges bytes in the file's place, ``counting`` gives the findings that count. Every change is judged before it is
    kept: it must take findings away and bring no new one.
    """
    current, judged = data, judge(data)
    first = len(judged.problems)
    for _ in range(_ROUNDS):
        edits = _edits(path, current, counting(judged))
        better = _best(path, current, judged, edits, judge)
        if better is None:
            break
        current, judged = better
    if current == data:
        return None
    return Mended(path, data, current, first - len(judged.problems))


def _best(path: str, data: bytes, judged: Judged, edits: list[Edit], judge: Judge) -> tuple[bytes, Judged] | None:
    """All edits at once when that makes the file better, else those that do so one by one."""
    found = _tried(path, data, judged, edits, judge)
    if found is not None or len(edits) < 2:
        return found
    return _singly(path, data, judged, edits, judge)


def _singly(path: str, data: bytes, judged: Judged, edits: list[Edit], judge: Judge) -> tuple[bytes, Judged] | None:
    """Every edit that makes the file better, the last first: those before it stay where they are."""
    best = None
    for edit in reversed(edits):
        found = _tried(path, data, judged, [edit], judge)
        if found is not None:
            best = data, judged = found
    return best


def _tried(path: str, data: bytes, judged: Judged, edits: list[Edit], judge: Judge) -> tuple[bytes, Judged] | None:
    new = _applied(path, data, edits) if edits else None
    if new is None:
        return None
    after = judge(new)
    return (new, after) if _is_better(judged, after) else None


def _is_better(before: Judged, after: Judged) -> bool:
    old, new = (Counter(problem.code for problem in judged.problems) for judged in (before, after))
    return new < old and after.definitions == before.definitions and _silenced(after) == _silenced(before)


def _silenced(judged: Judged) -> list[tuple[list[str], str | None]]:
    """What the ignores say; their columns may move."""
    return [([code for code, _ in ignore.codes], ignore.fault) for ignore in judged.ignores]


class _Source:
    """A file's text with the places of its lines; ``None`` for one that would not come back byte by byte."""

    def __init__(self, text: str, codec: str, mark: bytes) -> None:
        self.text, self.codec, self.mark = text, codec, mark
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        """The offset of a place, which counts from 1."""
        return self._starts[line - 1] + column - 1

    def encoded(self, text: str) -> bytes:
        """The bytes of another text in this file's encoding."""
        return self.mark + text.encode(self.codec)


def _source(path: str, data: bytes) -> _Source | None:
    mark, body = (_BOM, data[len(_BOM) :]) if data.startswith(_BOM) else (b"", data)
    try:
        codec = "utf-8" if path.lower().endswith(TYPESCRIPT) else tokenize.detect_encoding(io.BytesIO(body).readline)[0]
        source = _Source(body.decode(codec), codec, mark)
        return source if source.encoded(source.text) == data else None
    except (SyntaxError, ValueError, LookupError):
        return None


def _edits(path: str, data: bytes, problems: Iterable[Problem]) -> list[Edit]:
    """The edits for findings that say what to write instead, none of them touching another."""
    source = _source(path, data)
    hopeful = [each for each in problems if each.fix is not None and each.code in _CRON | _NAMES]
    if source is None or not hopeful:
        return []
    places = _fixable(path, data)
    own = (each for each in hopeful if each.span is not None and any(_lies_in(each.span, place) for place in places))
    edits = sorted({edit for each in own for edit in _edit(source, path, each)})
    ends = [edit.end for edit in edits]
    return [edit for at, edit in enumerate(edits) if bisect_left(ends, edit.start + 1) == at]


def _fixable(path: str, data: bytes) -> tuple[Span, ...]:
    """Where a change can hurt nothing else; a literal that a name holds may be in use anywhere."""
    if path.lower().endswith(TYPESCRIPT):
        from nsplugin_cli.source.typescript_fixable import fixable_in_typescript

        return fixable_in_typescript(data, path)
    from nsplugin_cli.source.python_fixable import fixable_in_python

    return fixable_in_python(data)


def _lies_in(span: Span, place: Span) -> bool:
    return place[:2] <= span[:2] and span[2:] <= place[2:]


def _edit(source: _Source, path: str, problem: Problem) -> Iterator[Edit]:
    span, fix = problem.span, problem.fix
    if span is None or fix is None or span.line != span.end_line or problem.path not in (None, path):
        return
    start, end = source.offset(span.line, span.column), source.offset(span.end_line, span.end_column)
    written = source.text[start:end]
    if not _HARMLESS.fullmatch(fix) or (problem.code in _CRON and not _says_the_same(written, fix)):
        return
    if _LITERAL.fullmatch(written):
        yield Edit(start + 1, end - 1, fix)
    elif problem.target == "key" and written.isidentifier() and fix.isidentifier():
        yield Edit(start, end, fix if path.lower().endswith(TYPESCRIPT) else _snake(fix))
    elif problem.start is not None and problem.target == "value" and _is_plain(written):
        yield Edit(start, end, fix)


def _says_the_same(written: str, fix: str) -> bool:
    """Whether a change in a cron text is one of white space, of a macro, or of names to numbers."""
    bare = written.strip("'\"` \t")
    return bare.startswith("@") or _NAMED.fullmatch(bare) is not None or _visible(bare) == _visible(fix)


def _visible(text: str) -> str:
    return "".join(sign for sign in _ESCAPES.sub("", text) if sign.isprintable() and sign != " ")


def _is_plain(written: str) -> bool:
    """Whether a piece of a literal stands for itself, or is nothing but escapes."""
    return not re.search(r"""['"`\\{}$]""", written) or _ESCAPES.fullmatch(written) is not None


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _applied(path: str, data: bytes, edits: list[Edit]) -> bytes | None:
    source = _source(path, data)
    if source is None:
        return None
    text = source.text
    for edit in reversed(edits):
        text = text[: edit.start] + edit.new + text[edit.end :]
    try:
        return source.encoded(text)
    except UnicodeEncodeError:
        return None


def difference(mended: Mended, name: str) -> str:
    """What changes, as a unified diff. Bytes that are no text of the file's encoding are shown as escapes."""
    before, after = (_lines(mended.path, data) for data in (mended.before, mended.after))
    lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(path: str, data: bytes) -> list[str]:
    source = _source(path, data)
    return _PATCH_LINE.findall(data.decode("utf-8", "backslashreplace") if source is None else source.text)


def leads_out(path: str, root: str) -> str | None:
    """Why a file that was found below a folder is not that folder's to change, or ``None``: git stores links."""
    if os.path.realpath(path).startswith(os.path.realpath(root).rstrip(os.sep) + os.sep):
        return None
    return f"it is a link to a file outside of {root}: name that file itself"


def once(mended: Iterable[Mended]) -> list[Mended]:
    """Each file by one of its names, no link where there is one."""
    found: dict[str, Mended] = {}
    for each in mended:
        if found.setdefault(os.path.realpath(each.path), each) is not each and not os.path.islink(each.path):
            found[os.path.realpath(each.path)] = each
    return list(found.values())


def write(mended: Mended) -> str | None:
    """Put the mended bytes in the file's place, all at once; why that was not done, or ``None``.

    A symbolic link stays one, and the file keeps owner and mode. Left alone are a file that changed since it was read, one that
    nobody may write, and one with hard links: a new file would part it from its other names, and one that is written over may
    be left half written.
    """
    place = os.path.realpath(mended.path)
    try:
        with open(place, "rb") as file:
            status = os.fstat(file.fileno())
            if (now := file.read()) != mended.before:
                return None if now == mended.after else "it has changed meanwhile"
        if not status.st_mode & 0o222 or not os.access(place, os.W_OK):
            return "it is read-only"
        if status.st_nlink > 1:
            return f"it has {status.st_nlink} names (hard links), which a new file would part; --diff shows what to change"
        regular_file.put(place, mended.after, status)
    except OSError as error:
        return error.strerror or str(error)
    return None
