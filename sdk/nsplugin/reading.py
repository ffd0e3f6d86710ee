"""Reading JSON that anyone may have written (spec/manifest.md M6): no exception, no hang, every fault with its place.

Most texts are sound: they are parsed by the C parser, with hooks that refuse what JSON readers disagree on. Only when something
is wrong, or when positions are asked for, does the exact scanner of :mod:`nsplugin.json_text` run (decision 0004).
"""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import TYPE_CHECKING, Any, Final

from nsplugin.json_limits import DEPTH, FINDINGS, TEXT_BYTES
from nsplugin.json_text.numbers import integer, real
from nsplugin.pointers import UNKNOWN
from nsplugin.spans import Span

if TYPE_CHECKING:
    from nsplugin.json_text.lines import Lines
    from nsplugin.json_text.scan import Scan
    from nsplugin.rules import Problem
    from nsplugin.spans import SpanMap

    _Scanned = tuple[Lines, Scan]


class Document:
    """A JSON text that was read. ``text`` is what positions refer to: without byte order mark, its line ends as they were.

    ``value`` is the JSON value. Where the text is faulty it is what was surely meant, with ``UNKNOWN`` in the place of the rest
    (``UNKNOWN`` as a whole when nothing is sure), so that rules may look at it without reporting a fault twice.
    ``problems`` are the faults of the text (NSP601) in their order, each with its span.
    """

    __slots__ = ("_scanned", "_spans", "problems", "text", "value")

    def __init__(self, text: str, value: Any, problems: tuple[Problem, ...] = (), scanned: _Scanned | None = None) -> None:
        self.text = text
        self.value = value
        self.problems = problems
        self._scanned = scanned
        self._spans: SpanMap | None = None

    @property
    def spans(self) -> SpanMap:
        """The span of every value and key, and of characters in strings; found when asked for."""
        if self._spans is None:
            from nsplugin.json_text.places import JsonSpans

            lines, found = self._scanned or _scan(self.text)
            self._spans = JsonSpans(self.text, lines, found.root, found.whole)
        return self._spans


def read(data: bytes | str, *, limit: int = TEXT_BYTES) -> Document:
    """Read a JSON text of at most ``limit`` bytes of UTF-8. Bad input is told in ``problems``, never raised."""
    text = _quick_text(data, limit)
    if text is not None:
        value = _quick_value(text)
        if value is not UNKNOWN:
            return Document(text, value)
    return _read_exactly(data, limit)


def _quick_text(data: bytes | str, limit: int) -> str | None:
    """The text, when nothing is wrong with its size and encoding."""
    try:
        size = len(data if isinstance(data, bytes) else data.encode())
        return None if size > limit else data.decode() if isinstance(data, bytes) else data
    except UnicodeError:
        return None


class _Doubtful(Exception):
    """Something that the exact scanner must look at."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Doubtful
    return members


def _sure(parse: Any) -> Any:
    def number(text: str) -> int | float:
        value: int | float | None = parse(text)
        if value is None:
            raise _Doubtful
        return value

    return number


def _no_number(name: str) -> Any:
    raise _Doubtful


_DECODER: Final = JSONDecoder(
    object_pairs_hook=_members, parse_int=_sure(integer), parse_float=_sure(real), parse_constant=_no_number
)
_SPACE: Final = re.compile(r"[ \t\n\r]*+")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def _quick_value(text: str) -> Any:
    """The value by the C parser; ``UNKNOWN`` when anything is wrong or only the exact scanner can tell."""
    try:
        value, end = _DECODER.raw_decode(text, _after_space(text, 0))
    except (_Doubtful, ValueError, RecursionError):
        return UNKNOWN
    sure = _after_space(text, end) == len(text) and not _SURROGATE.search(text) and _shallow(text, value)
    return value if sure else UNKNOWN


def _after_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _shallow(text: str, value: Any) -> bool:
    """Whether at most ``DEPTH`` containers stand inside each other. With no more brackets, there is no need to look."""
    if text.count("{") + text.count("[") <= DEPTH:
        return True
    level = [value]
    for _ in range(DEPTH):
        level = [
            item for node in level for item in (node.values() if type(node) is dict else node) if type(item) in (dict, list)
        ]
        if not level:
            return True
    return False


def _scan(text: str) -> _Scanned:
    from nsplugin.json_text.lines import Lines
    from nsplugin.json_text.scan import scan

    lines = Lines(text)
    return lines, scan(text, lines)


def _read_exactly(data: bytes | str, limit: int) -> Document:
    from nsplugin.json_text import decoding

    size = len(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    if size > limit:
        return Document("", UNKNOWN, (_too_large(size, limit),))
    decoded = decoding.decode(data) if isinstance(data, bytes) else decoding.check(data)
    lines, found = _scan(decoded.text)
    problems = [_problem("", lines.span(at, at + 1), message, hint) for at, message, hint in decoded.faults]
    problems += [
        _problem(fault.pointer, lines.span(fault.start, fault.end), fault.message, fault.hint) for fault in found.faults
    ]
    if found.more:
        problems.append(_unlisted(lines.span(found.faults[-1].end, found.faults[-1].end)))
    return Document(decoding.shown(decoded.text), found.value, tuple(problems), (lines, found))


def _too_large(size: int, limit: int) -> Problem:
    message = f"the text has more than {limit:,} bytes, and no more are read"
    return _problem("", Span(1, 1, 1, 1), message, "move large data out of the manifest")


def _unlisted(span: Span) -> Problem:
    return _problem("", span, f"there are more than {FINDINGS} faults in this text", "put the listed ones right first")


def _problem(pointer: str, span: Span, message: str, hint: str | None) -> Problem:
    from nsplugin.rules import Found
    from nsplugin.rules.identity import problem  # here: rules import this module, and most texts are sound

    return problem("NSP601", Found(pointer=pointer, message=message, hint=hint, span=span))
