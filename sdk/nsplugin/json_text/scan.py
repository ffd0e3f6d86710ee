"""The scanner: JSON text in; value, places and every fault out. One pass, no recursion, and it goes on after a fault.

Where a fault leaves the meaning sure (a trailing comma, single quotes) the value is what was meant. A faulty scalar is
``UNKNOWN``, and when brackets no longer match, the whole value is: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from nsplugin.json_limits import DEPTH, FINDINGS
from nsplugin.json_text import complaints
from nsplugin.json_text.complaints import Complaint
from nsplugin.json_text.lines import Lines
from nsplugin.json_text.places import Node
from nsplugin.json_text.tokens import Token, Tokens
from nsplugin.json_text.words import explained
from nsplugin.pointers import UNKNOWN, join
from nsplugin.record import record

_LONGEST_POINTER: Final = 1_000
"""A fault deeper than this many characters of pointer is put to an ancestor: keys are foreign input."""

_WANT_ITEM: Final = frozenset({"document", "item?", "item", "value"})
_WANT_KEY: Final = frozenset({"key?", "key"})
_CERTAIN: Final = frozenset({"string", "scalar", "{", "["})
_SPACE: Final = re.compile(r"[ \t]*+")
_REST: Final = re.compile(r"\s*+\Z")
_INSIDE: Final = frozenset({"colon", "value", "item?", "item"})
_INSTEAD: Final = {"colon": ("=", "=>"), "after": (";",)}
_COLON: Final = re.compile(r"[ \t\n\r]*+[:=]")


class Fault(NamedTuple):
    """A fault at ``text[start:end]``, in the value that ``pointer`` names."""

    start: int
    end: int
    pointer: str
    message: str
    hint: str | None


@record
class Scan:
    """What a text holds: its value; the faults in their order, at most ``FINDINGS``, and whether there are more; the places."""

    value: Any
    faults: tuple[Fault, ...]
    more: bool
    root: Node | None
    whole: tuple[int, int]


class _Frame:
    """An open container, or the document itself. ``state`` says what may come next.

    document: "document", then "done". An array: "item?" (or its end), "after", "item". An object: "key?" (or its end), "colon",
    "value", "after", "key". Both: "skip", after something unexpected, until the next comma or the end.
    """

    __slots__ = ("comma", "key", "key_place", "keyed", "node", "seen", "state", "value")

    def __init__(self, start: int, state: str) -> None:
        self.state = state
        self.keyed = state in _WANT_KEY
        self.node = Node(start, keyed=self.keyed)
        self.value: Any = {} if self.keyed else []
        self.comma = start
        self.key: Any = None
        self.key_place = (start, start)
        self.seen: dict[str, int] = {}

    @property
    def marks(self) -> str:
        return "{}" if self.keyed else "[]"


def _misplaced_end(nodes: list[Node], text: str, lines: Lines) -> str | None:
    """Where a bracket closes one that its indentation does not suggest: there another one is probably missing."""
    for node in nodes:
        nodes.extend(node.children.values())
    closed = sorted((node for node in nodes if node.end > node.start), key=lambda node: node.end)
    for node in closed:
        last = node.end - 1
        begin, final = lines.begin(node.start), lines.begin(last)
        if begin != final and not text[final:last].strip(" \t") and _indent(text, begin) != text[final:last]:
            return complaints.suspicious(text[last], lines.describe(node.start), lines.position(last).line)
    return None


def _indent(text: str, begin: int) -> str:
    line = _SPACE.match(text, begin)
    return line[0] if line is not None else ""


def scan(text: str, lines: Lines) -> Scan:
    """Read a whole text; ``lines`` are its lines."""
    scanner = _Scanner(text, lines)
    return scanner.run()


class _Scanner:
    __slots__ = ("_faults", "_lines", "_lost", "_more", "_stack", "_stopped", "_text", "_tokens")

    def __init__(self, text: str, lines: Lines) -> None:
        self._text = text
        self._lines = lines
        self._tokens = Tokens(text, self._report)
        self._stack = [_Frame(0, "document")]
        self._faults: list[Fault] = []
        self._more = False
        self._lost = False
        self._stopped = False

    def run(self) -> Scan:
        while not self._stopped:
            token = self._tokens.next()
            _STEPS[token.kind](self, self._stack[-1], token)
        document = self._stack[0]
        sound = not self._lost and document.value
        return Scan(
            value=document.value[0] if sound else UNKNOWN,
            faults=tuple(sorted(self._faults, key=lambda fault: fault.start)),
            more=self._more,
            root=document.node.children.get(0) if sound else None,
            whole=document.node.offsets(0, "value") if sound else (0, len(self._text)),
        )

    # Faults

    def _report(self, start: int, end: int, message: str, hint: str | None = None, *, cascade: bool = False) -> None:
        if cascade and (self._lost or self._stack[-1].state == "skip"):
            return
        if len(self._faults) < FINDINGS:
            self._faults.append(Fault(start, end, self._pointer(), message, hint))
        else:
            self._more = self._lost = self._stopped = True

    def _complain(self, start: int, end: int, complaint: Complaint) -> None:
        self._report(start, end, complaint.message, complaint.hint)

    def _pointer(self) -> str:
        pointer = ""
        for frame in self._stack[1:] if not self._lost else ():
            if frame.key is UNKNOWN or frame.state not in _INSIDE:
                break
            token = frame.key if frame.keyed else len(frame.value)
            if len(pointer) + len(str(token)) > _LONGEST_POINTER:
                break
            pointer = join(pointer, token)
        return pointer

    def _unexpected(self, frame: _Frame, token: Token) -> None:
        source, after_quote = self._text[token.start : token.end], self._text[token.start - 1] == '"'
        self._complain(token.start, token.end, complaints.unexpected(source, frame.marks, after_quote=after_quote))
        frame.state = "skip"

    def _give_up(self, token: Token, complaint: Complaint) -> None:
        """After this nothing that follows has a sure meaning."""
        self._complain(token.start, token.end, complaint)
        self._lost = self._stopped = True

    # What may come

    def _value(self, frame: _Frame, token: Token) -> None:
        if token.kind == "unclosed" and (frame.state == "skip" or _REST.match(self._text, token.end)):
            self._lost = self._stopped = True  # from here on, nobody knows what is inside a string and what outside
        elif self._text[token.start : token.end] in _INSTEAD.get(frame.state, ()):
            self._instead(frame, token)
        elif frame.state in _WANT_ITEM:
            self._take(frame, token)
        elif frame.state in _WANT_KEY:
            self._take_key(frame, token)
        elif frame.state == "colon":
            self._complain(token.start, token.end, complaints.colon_missing(frame.key))
            frame.state = "value"
            self._take(frame, token)
        elif frame.state == "after":
            self._after_value(frame, token)
        elif frame.state == "done":
            self._give_up(token, complaints.trailing())
        elif token.kind in "{[":
            self._open(token)

    def _instead(self, frame: _Frame, token: Token) -> None:
        """A mark of another language that surely stands for one of JSON."""
        mark = ":" if frame.state == "colon" else ","
        self._complain(token.start, token.end, complaints.mark_instead(self._text[token.start : token.end], mark))
        _STEPS[mark](self, frame, token)

    def _after_value(self, frame: _Frame, token: Token) -> None:
        """Two values with nothing between them: a comma is missing when the second could stand there by itself."""
        fits = self._is_key(token) if frame.keyed else token.kind in _CERTAIN
        if not fits:
            self._unexpected(frame, token)
            if token.kind in "{[":
                self._open(token)
            return
        self._complain(token.start, token.end, complaints.comma_missing())
        frame.state = "key" if frame.keyed else "item"
        self._value(frame, token)

    def _is_key(self, token: Token) -> bool:
        return token.kind == "string" and _COLON.match(self._text, token.end) is not None

    def _take(self, frame: _Frame, token: Token) -> None:
        if token.kind in "{[":
            self._open(token)
        elif token.kind in ("word", "junk") and frame.state == "document":
            self._give_up(token, complaints.not_json(self._text[token.start : token.end]))
        else:
            self._place(frame, self._meaning(token), token.start, token.end)

    def _meaning(self, token: Token) -> Any:
        if token.kind == "word":
            said = explained(token.value)
            self._report(token.start, token.end, said.message, said.hint)
            return said.value
        if token.kind == "junk":
            self._complain(token.start, token.end, complaints.no_value(self._text[token.start : token.end]))
            return UNKNOWN
        return token.value

    def _place(self, frame: _Frame, value: Any, start: int, end: int, node: Node | None = None) -> None:
        """Put a finished value into its container, unless what it belongs to is unclear."""
        if frame.state == "skip":
            return
        if frame.keyed:
            frame.value[frame.key] = value
        else:
            frame.value.append(value)
        frame.node.add(frame.key, (*(frame.key_place if frame.keyed else (start, end)), start, end), node)
        frame.state = "done" if frame.state == "document" else "after"

    def _take_key(self, frame: _Frame, token: Token) -> None:
        source = self._text[token.start : token.end]
        if token.kind == "string" or (token.kind in ("scalar", "word") and _COLON.match(self._text, token.end)):
            frame.key = token.value if token.kind == "string" else source
            frame.key_place = (token.start, token.end)
            frame.state = "colon"
            if token.kind != "string":
                self._complain(token.start, token.end, complaints.bare_key(source))
            self._note_key(frame)
        elif token.kind == "unclosed":
            frame.state = "skip"
        else:
            self._complain(token.start, token.end, complaints.key_expected(source))
            frame.state = "skip"
            self._value(frame, token)

    def _note_key(self, frame: _Frame) -> None:
        if frame.key is UNKNOWN:
            return
        first = frame.seen.setdefault(frame.key, frame.key_place[0])
        if first != frame.key_place[0]:
            self._complain(*frame.key_place, complaints.duplicate(frame.key, self._lines.describe(first)))

    def _open(self, token: Token) -> None:
        if len(self._stack) > DEPTH:
            self._too_deep(token)
        else:
            self._stack.append(_Frame(token.start, "key?" if token.kind == "{" else "item?"))

    def _too_deep(self, opening: Token) -> None:
        """Pass over what is nested too deeply, looking only at its tokens and counting its brackets."""
        self._complain(opening.start, opening.end, complaints.too_deep())
        depth, token = 1, opening
        while depth and token.kind != "end" and not self._stopped:
            token = self._tokens.next()
            depth += (token.kind in ("{", "[")) - (token.kind in ("}", "]"))
        if depth:
            self._lost = self._stopped = True
        self._place(self._stack[-1], UNKNOWN, opening.start, token.end)

    def _comma(self, frame: _Frame, token: Token) -> None:
        if frame.state in ("document", "done"):
            self._give_up(token, complaints.not_json(",") if frame.state == "document" else complaints.trailing())
        elif frame.state in ("colon", "value"):
            self._without_value(frame)
        elif frame.state not in ("after", "skip"):
            self._complain(token.start, token.end, complaints.extra_comma(first=frame.state.endswith("?")))
            return
        frame.comma = token.start
        frame.state = "key" if frame.keyed else "item"

    def _without_value(self, frame: _Frame) -> None:
        """A key that stands alone."""
        self._complain(*frame.key_place, complaints.value_missing(frame.key))
        end = frame.key_place[1]
        self._place(frame, UNKNOWN, end, end)

    def _colon(self, frame: _Frame, token: Token) -> None:
        if frame.state == "colon":
            frame.state = "value"
        elif frame.state in ("document", "done"):
            self._give_up(token, complaints.not_json(":") if frame.state == "document" else complaints.trailing())
        elif frame.state == "after" and not frame.keyed:
            self._complain(token.start, token.end, complaints.key_in_array())
            frame.state = "skip"
        elif frame.state in _WANT_KEY:
            self._complain(token.start, token.end, complaints.key_missing())
            frame.state = "skip"
        elif frame.state != "skip":
            self._unexpected(frame, token)

    def _close(self, frame: _Frame, token: Token) -> None:
        if frame.state in ("document", "done"):
            closes = token.kind
            self._give_up(
                token, complaints.not_json(closes) if frame.state == "document" else complaints.closes_nothing(closes)
            )
        elif token.kind != frame.marks[1]:
            self._mismatch(frame, token)
        else:
            self._finish(frame, token)

    def _finish(self, frame: _Frame, token: Token) -> None:
        if frame.state in ("item", "key"):
            frame.state = "after"
            self._complain(frame.comma, frame.comma + 1, complaints.trailing_comma())
        elif frame.state in ("colon", "value"):
            self._without_value(frame)
        self._stack.pop()
        frame.node.end = token.end
        self._place(self._stack[-1], frame.value, frame.node.start, token.end, frame.node)

    def _mismatch(self, frame: _Frame, token: Token) -> None:
        opened = self._lines.describe(frame.node.start)
        self._complain(token.start, token.end, complaints.mismatch(token.kind, frame.marks, opened))
        self._lost = True
        while token.kind != "end" and not self._stopped:  # inside tokens, what is wrong is still told
            token = self._tokens.next()
        self._stopped = True

    def _end(self, frame: _Frame, token: Token) -> None:
        self._stopped = True
        if frame.state == "document":
            if not self._faults and not self._text.strip():  # else what stands there, or its bytes, was told already
                self._complain(0, 0, complaints.empty(self._text))
            self._lost = True
        elif frame.state != "done":
            self._unclosed(frame)

    def _unclosed(self, frame: _Frame) -> None:
        frame.state = "after"
        start = frame.node.start
        missing = "".join(each.marks[1] for each in reversed(self._stack[1:]))
        where = self._lines.describe(start)
        suspect = _misplaced_end([each.node for each in self._stack], self._text, self._lines)
        self._complain(start, start + 1, complaints.unclosed(frame.marks[0], missing, where, suspect))
        self._lost = True


_STEPS: Final[dict[str, Callable[[_Scanner, _Frame, Token], None]]] = {
    **dict.fromkeys(("string", "unclosed", "scalar", "word", "junk", "{", "["), _Scanner._value),
    ",": _Scanner._comma,
    ":": _Scanner._colon,
    "}": _Scanner._close,
    "]": _Scanner._close,
    "end": _Scanner._end,
}
