"""JSON text cut into tokens. What is no token is named, reported and, where its meaning is sure, taken for what it means."""

from __future__ import annotations

import re
from json import loads
from typing import Any, Final, NamedTuple, Protocol

from nsplugin.json_text import numbers
from nsplugin.json_text.strings import decode
from nsplugin.json_text.words import character_name, too_large
from nsplugin.pointers import UNKNOWN
from nsplugin.wording import quoted


class Token(NamedTuple):
    """A token at ``text[start:end]``; ``value`` is what a string or scalar means, ``UNKNOWN`` when it is faulty.

    ``kind`` is one of the six marks ``{}[]:,`` or "string", "unclosed" (a string without its end), "scalar", "word" (bare),
    "junk", "end".
    """

    kind: str
    start: int
    end: int
    value: Any = None


class Report(Protocol):
    """Takes a fault at ``text[start:end]``. ``cascade`` marks one that may only follow from an earlier one."""

    def __call__(self, start: int, end: int, message: str, hint: str | None = None, *, cascade: bool = False) -> None: ...


_TOKEN: Final = re.compile(
    r"""[ \t\n\r]*+(?:
        (?P<string>"(?:[^"\\\x00-\x1f\ud800-\udfff]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
      | (?P<mark>[{}\[\],:])
      | (?P<number>-?(?:0|[1-9][0-9]*+)(?P<real>(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)(?![\w$.+-]))
      | (?P<literal>(?:true|false|null)(?![\w$]))
      | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_LITERALS: Final = {"true": True, "false": False, "null": None}
_QUOTES: Final = {"'": "'", "`": "`", "“": '”"', "”": '”"', "„": '“”"', "«": "»", "‘": "’'", "’": "’'", "「": "」", "＂": '＂"'}
_WIDE_MARKS: Final = {"｛": "{", "｝": "}", "［": "[", "］": "]", "：": ":", "，": ",", "、": ","}

_SPACE: Final = re.compile(r"[ \t\n\r]*+")
_UNDECODED: Final = re.compile(r"[\ud800-\udfff]+")
_ODD_SPACE: Final = re.compile(r"(?:[^\S \t\n\r]|[\x00-\x08\x0e-\x1b\x7f\ufeff\u200b-\u200f\u2060])+")
_COMMENT: Final = re.compile(r"(?:#|//)[^\n\r]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?")
_WORD: Final = re.compile(r"[\w$+\-.](?:[\w$+\-.]|'(?=\w))*+(?:[ \t]++[A-Za-z_$](?:[\w$+\-.]|'(?=\w))*+)*+(?:\([^()\n\r]*+\))?")
_PREFIX: Final = re.compile(r"[bfru]{1,2}(?=[\"'])", re.IGNORECASE)
_JUNK: Final = re.compile(r"=>?|;|\([^()\n\r]*+\)|[^\s\w\"'{}\[\],:=;]+[\w$+\-.]*+")
_BODY: Final = re.compile(r'(?:[^"\\\n\r]++|\\[^\n\r])*+')
_BREAK: Final = re.compile(r"\\?(?:\r\n?|\n)?")
_AFTER_STRING: Final = re.compile(r'\s*+(?:["}\],]|\Z)')
_SKIPPED: Final = (
    (_COMMENT, "JSON has no comments", "remove the comment"),
    (_PREFIX, "a JSON string has no prefix", "remove it"),
)


class Tokens:
    """The tokens of a text, one at a time; :meth:`next` gives "end" tokens for ever once the text is through."""

    __slots__ = ("_at", "_report", "_text")

    def __init__(self, text: str, report: Report) -> None:
        self._text = text
        self._report = report
        self._at = 0

    def next(self) -> Token:
        """The next token. Faults inside it and before it are reported on the way."""
        token = None
        while token is None:
            match = _TOKEN.match(self._text, self._at)
            token = self._regular(match) if match is not None else self._irregular()
        self._at = token.end
        return token

    def _regular(self, match: re.Match[str]) -> Token:
        kind = match.lastgroup or "end"
        start, end = match.span(kind)
        if kind == "mark":
            return Token(match[kind], start, end)
        if kind == "string":
            return self._string(start, end)
        if kind == "number":
            return self._number(start, end, real=bool(match["real"]))
        return Token(kind, start, end) if kind == "end" else Token("scalar", start, end, _LITERALS[match[kind]])

    def _string(self, start: int, end: int) -> Token:
        if self._text.find("\\", start, end) < 0:
            return Token("string", start, end, self._text[start + 1 : end - 1])
        value = loads(self._text[start:end])
        if value.isascii() or not _UNDECODED.search(value):
            return Token("string", start, end, value)
        return self._faulty_string(start, end)

    def _faulty_string(self, start: int, end: int) -> Token:
        decoded = decode(self._text, start + 1, end - 1)
        for fault, count in decoded.faults:
            more = f" ({count - 1:,} more in this string)" if count > 1 else ""
            self._report(fault.start, fault.end, fault.message + more, fault.hint)
        return Token("string", start, end, decoded.text if decoded.sound else UNKNOWN)

    def _number(self, start: int, end: int, *, real: bool) -> Token:
        source = self._text[start:end]
        value = numbers.real(source) if real else numbers.integer(source)
        if value is not None:
            return Token("scalar", start, end, value)
        explained = too_large(source)
        self._report(start, end, explained.message, explained.hint)
        return Token("scalar", start, end, UNKNOWN)

    def _irregular(self) -> Token | None:
        """A token that JSON does not have; ``None`` after skipping what may stand between tokens."""
        start = _end(_SPACE, self._text, self._at)
        character = self._text[start]
        if character == '"':
            return self._broken_string(start)
        if character in _QUOTES:
            return self._foreign_string(start)
        if character in _WIDE_MARKS:
            return self._wide_mark(start)
        self._at = self._skip(start)
        return self._bare(start) if self._at == start else None

    def _skip(self, start: int) -> int:
        """The end of what stands between tokens in other languages and not in JSON."""
        end = _end(_UNDECODED, self._text, start)
        if end > start:
            return end  # reported where the bytes were decoded
        end = _end(_ODD_SPACE, self._text, start)
        if end > start:
            name = character_name(self._text[start])
            self._report(start, end, f"{name} is not white space in JSON", "use spaces, tabs and line breaks only")
            return end
        for pattern, message, hint in _SKIPPED:
            end = _end(pattern, self._text, start)
            if end > start:
                self._report(start, end, message, hint)
                return end
        return start

    def _bare(self, start: int) -> Token:
        word = _end(_WORD, self._text, start)
        if word > start:
            return Token("word", start, word, self._text[start:word])
        return Token("junk", start, _end(_JUNK, self._text, start))

    def _wide_mark(self, start: int) -> Token:
        found, meant = self._text[start], _WIDE_MARKS[self._text[start]]
        self._report(start, start + 1, f'"{found}" ({character_name(found)}) is not a mark of JSON', f'write "{meant}"')
        return Token(meant, start, start + 1)

    def _broken_string(self, start: int) -> Token:
        """A string in double quotes with a fault inside, or without its end."""
        end = self._body_end(start + 1)
        if self._text.startswith('"', end):
            return self._faulty_string(start, end + 1)
        return self._unclosed(start, end)

    def _body_end(self, start: int) -> int:
        """Where the inside of a string ends: at its quote, or at the end of the line on which the quote is missing."""
        at = start
        while True:
            end = _end(_BODY, self._text, at)
            at = _end(_BREAK, self._text, end)
            if at == end or at == len(self._text):
                return end
            if _AFTER_STRING.match(self._text, at):
                return self._without_comma(start, end)

    def _without_comma(self, start: int, end: int) -> int:
        """A comma at the end of an unclosed string is taken for the one that follows the string."""
        shorter = len(self._text[start:end].rstrip())
        comma = start + shorter - 1
        return comma if shorter and self._text[comma] == "," else end

    def _foreign_string(self, start: int) -> Token:
        """A string in quotes that JSON does not have. Its inside is read leniently: one fault is enough."""
        closers = _QUOTES[self._text[start]]
        end = _end(re.compile(rf"(?:[^\\\n\r{closers}]++|\\[^\n\r])*+"), self._text, start + 1)
        if self._text[end : end + 1] not in tuple(closers):
            return self._unclosed(start, end)
        inside = self._text[start + 1 : end].replace("\\'", "'")
        decoded = decode(inside, 0, len(inside))
        shown = f"{self._text[start]}…{self._text[end]}"
        self._report(start, end + 1, f"a JSON string stands in double quotes, not in {shown}", f"write {quoted(decoded.text)}")
        return Token("string", start, end + 1, decoded.text if decoded.sound else UNKNOWN)

    def _unclosed(self, start: int, end: int) -> Token:
        where = "in the whole text" if end == len(self._text) else "on its line"
        hint = 'write " at its end; a line break inside it as \\n'
        self._report(start, end, f"this string is not closed {where}", hint, cascade=True)
        return Token("unclosed", start, end, UNKNOWN)


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return start if match is None else match.end()
