"""Time-zone data (RFC 9636): the bytes of one TZif file read into changes in whole minutes and the rule of its footer.

Seconds are rounded so that a walk over whole UTC minutes sees the same clock: a change counts from the first whole minute at or
after it, an offset is floored to minutes. (Only local mean times, gone since 1972, have seconds.)
"""

import struct
from collections.abc import Iterator
from typing import Final

from nsplugin.cron.years import MINUTES_A_DAY, STARTS, first_day, kind_of
from nsplugin.row import Row

_HEADER: Final = struct.Struct(">4sc15x6l")
_DAY: Final = 86_400


class TzifError(ValueError):
    """The bytes are not a TZif file that can be used; the message says why."""


class Change(Row):
    """From ``minute`` (UTC, since the epoch) on, the clock shows UTC plus ``offset`` minutes and is called ``label``."""

    minute: int
    offset: int
    label: str


class _Day(Row):
    """A date of a rule: (month, week, weekday) for ``M``, the day of the year otherwise, and seconds after its midnight."""

    form: str
    month: int
    week: int
    day: int
    seconds: int

    def second(self, kind: int) -> int:
        """Seconds since the local start of a year of that kind."""
        return self._day(kind >> 1, kind & 1) * _DAY + self.seconds

    def _day(self, weekday: int, leap: int) -> int:
        if self.form == "M":
            start, end = STARTS[leap][self.month - 1 : self.month + 1]
            first = start + (self.day - weekday - start) % 7
            return min(first + 7 * (self.week - 1), end - 1 - (end - 1 - first) % 7)
        if self.form == "J":
            return self.day - 1 + (leap and self.day > 59)
        return self.day


class Rule(Row):
    """What holds after the last listed change: one offset, or two that alternate every year."""

    offset: int
    label: str
    summer: tuple[int, str, _Day, _Day] | None = None
    """Seconds of offset and name of the other time, when it begins (in this one's clock) and ends (in its own)."""

    def changes(self, year: int) -> Iterator[Change]:
        """The two changes of a year, unordered; none for a rule with one offset."""
        if self.summer is None:
            return
        offset, label, begin, end = self.summer
        start = first_day(year)
        kind = kind_of(year, start)
        start *= MINUTES_A_DAY
        yield Change(start + -((self.offset - begin.second(kind)) // 60), offset // 60, label)
        yield Change(start + -((offset - end.second(kind)) // 60), self.offset // 60, self.label)


class Data(Row):
    """A file's content: what holds before the first change, the changes in order, and the footer's rule."""

    before: Change
    changes: tuple[Change, ...]
    rule: Rule


def read(data: bytes) -> Data:
    """Read a TZif file of version 1 to 4. Raises :class:`TzifError`."""
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError) as error:
        raise TzifError(str(error)) from error


def _read(data: bytes) -> Data:
    version, _, size = _block(data, 0, 4)
    if version == b"\0":
        return _content(data, 0, 4)[0]
    content, end = _content(data, size, 8)
    footer = data[end:].split(b"\n")
    if len(footer) < 3 or footer[0]:
        raise TzifError("the footer is missing")
    return content._replace(rule=_rule(footer[1].decode("ascii"))) if footer[1] else content


def _block(data: bytes, start: int, width: int) -> tuple[bytes, tuple[int, ...], int]:
    """Version, counts (changes, types, characters of names) and end of the block at ``start``."""
    magic, version, utc, standard, leaps, times, types, names = _HEADER.unpack_from(data, start)
    if magic != b"TZif":
        raise TzifError("it does not begin with TZif")
    if leaps:
        raise TzifError("it counts leap seconds")
    if min(utc, standard, times, types - 1, names) < 0:
        raise TzifError("its header is damaged")
    body = times * (width + 1) + types * 6 + names + standard + utc
    return version, (times, types, names), start + _HEADER.size + body


def _content(data: bytes, start: int, width: int) -> tuple[Data, int]:
    _, (times, types, names), end = _block(data, start, width)
    if end > len(data):
        raise TzifError("it is shorter than its header says")
    at = start + _HEADER.size
    seconds = struct.unpack_from(f">{times}{'q' if width == 8 else 'l'}", data, at)
    at += times * width
    kinds = data[at : at + times]
    at += times
    found = struct.unpack_from(">" + "lBB" * types, data, at)
    text = data[at + 6 * types : at + 6 * types + names]
    clocks = [
        (found[i] // 60, text[found[i + 2] : text.index(b"\0", found[i + 2])].decode("ascii")) for i in range(0, 3 * types, 3)
    ]
    changes = tuple(Change(-(-second // 60), *clocks[kind]) for second, kind in zip(seconds, kinds, strict=True))
    last = found[3 * kinds[-1]] if kinds else found[0]
    label = changes[-1].label if changes else clocks[0][1]
    return Data(Change(0, *clocks[0]), changes, Rule(last, label)), end


def _rule(text: str) -> Rule:
    """The rule of a POSIX TZ string, with RFC 9636's extension of hours to ±167."""
    reader = _Reader(text)
    label, offset = reader.name(), -reader.time()
    if reader.done:
        return Rule(offset, label)
    other = reader.name()
    ahead = offset + 3600 if reader.at(",") else -reader.time()
    rule = Rule(offset, label, (ahead, other, reader.date(), reader.date()))
    if not reader.done:
        raise TzifError(f"the footer {text!r} has more than a rule")
    return rule


class _Reader:
    """Reads a POSIX TZ string from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at == len(self._text)

    def at(self, sign: str) -> bool:
        return self._text.startswith(sign, self._at)

    def _take(self, sign: str) -> bool:
        found = self.at(sign)
        self._at += found
        return found

    def _while(self, accept: str) -> str:
        start = self._at
        while not self.done and self._text[self._at] in accept:
            self._at += 1
        return self._text[start : self._at]

    def name(self) -> str:
        if self._take("<"):
            end = self._text.index(">", self._at)
            name, self._at = self._text[self._at : end], end + 1
            return name
        return self._while("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

    def number(self) -> int:
        digits = self._while("0123456789")
        if not 1 <= len(digits) <= 3:
            raise TzifError(f"the footer {self._text!r} lacks a number")
        return int(digits)

    def time(self) -> int:
        """``[+-]h[h][h][:mm[:ss]]`` in seconds."""
        sign = -1 if self._take("-") else 1
        self._take("+")
        seconds = 3600 * self.number()
        for unit in (60, 1):
            if self._take(":"):
                seconds += unit * self.number()
        return sign * seconds

    def date(self) -> _Day:
        """``,Mm.w.d``, ``,Jn`` or ``,n``, each with an optional ``/time`` (02:00 otherwise)."""
        if not self._take(","):
            raise TzifError(f"the footer {self._text!r} is cut short")
        form = "M" if self._take("M") else "J" if self._take("J") else ""
        numbers = [self.number()]
        while form == "M" and self._take("."):
            numbers.append(self.number())
        month, week, day = numbers if form == "M" else (1, 1, numbers[0])
        if not (1 <= month <= 12 and 1 <= week <= 5 and 0 <= day <= (6 if form == "M" else 365)):
            raise TzifError(f"the footer {self._text!r} names no date")
        return _Day(form, month, week, day, self.time() if self._take("/") else 7200)
