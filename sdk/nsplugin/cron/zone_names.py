"""Fixed offsets such as ``UTC+7``, and what to say of a name that is no zone. Loaded only when a name is not an IANA id."""

from __future__ import annotations

import re
from typing import Final

from nsplugin.cron.moments import utc_offset
from nsplugin.cron.quotes import quoted
from nsplugin.lazy import pattern

_OFFSET: Final = pattern(r"UTC([+-])([0-9]{1,2}(?!:)|[0-9]{2}(?=:))(?::([0-9]{2}))?")
_NEARLY: Final = pattern(r"(?:UTC|GMT|Z)?\s*([+-])\s*(?:([0-9]{1,2})(?:[:.]([0-9]{1,2}))?|([0-9]{2})([0-9]{2}))", re.IGNORECASE)
_MINUS: Final = str.maketrans("\u2212\u2010\u2011\u2013\uff0d\uff0b\uff1a", "-----+:")
_MAX_HOURS: Final = 18
"""Largest fixed offset, spec/cron.md F4."""

_ABBREVIATION: Final = 5
"""Names up to this length (``CEST``) are not compared letter by letter: ``EST`` would be no help."""

Refusal = tuple[str, str | None]


def fixed_offset(name: str) -> int | None:
    """The minutes of ``UTC±h``, ``UTC±hh`` and ``UTC±hh:mm``, up to 18 hours; ``None`` for anything else."""
    match = _OFFSET.fullmatch(name)
    return _minutes(match[1], match[2], match[3] or "0") if match else None


def _minutes(sign: str, hours: str, minutes: str) -> int | None:
    total = 60 * int(hours) + int(minutes)
    if int(minutes) > 59 or total > 60 * _MAX_HOURS:
        return None
    return -total if sign == "-" else total


def refusal(name: str, known: frozenset[str], *, offsets: bool) -> Refusal:
    """Message and hint for a name that is neither an IANA id of the list nor, with ``offsets``, a fixed offset."""
    if not name.strip():
        return "the time zone is empty", _example(offsets)
    if len(name) > max(map(len, known)):
        return f"{quoted(name)} is not a time zone: no id is that long", _example(offsets)
    return _offset_refusal(name, offsets) or _name_refusal(name, known, offsets)


def _example(offsets: bool) -> str:
    if offsets:
        return "write an IANA id or a fixed offset, such as `Asia/Ho_Chi_Minh`, `UTC` or `UTC+07:00`"
    return "write an IANA id, such as `Asia/Ho_Chi_Minh` or `UTC`"


def _offset_refusal(name: str, offsets: bool) -> Refusal | None:
    match = _NEARLY.fullmatch(name.translate(_MINUS).strip())
    if match is None:
        return None
    sign, hours, late = match[1], match[2] or match[4], match[3] or match[5] or "0"
    minutes = _minutes(sign, hours, late)
    if not offsets:
        return f"{quoted(name)} is a fixed offset, which is not taken here", _place(minutes)
    if int(late) > 59:
        return f"{quoted(name)} is not a time zone: an hour has minutes 00–59", _example(offsets)
    if minutes is None:
        return f"{quoted(name)} is not a time zone: offsets end at UTC±{_MAX_HOURS}:00", _example(offsets)
    meant = [minutes]
    if len(late) == 1 and late in "12345":
        meant.append(_minutes(sign, hours, late + "0") or minutes)
    choices = " or ".join(f"`{utc_offset(one)}`" for one in meant)
    return f"{quoted(name)} is not how a fixed offset is written", f"write {choices}"


def _place(minutes: int | None) -> str:
    """What to write for an offset where only ids are taken. The signs of ``Etc/GMT-7`` are turned round (POSIX)."""
    if minutes == 0:
        return "write `UTC`"
    if minutes and minutes % 60 == 0 and -12 <= minutes // 60 <= 14:
        return f"write a place's id, such as `Asia/Ho_Chi_Minh`, or `Etc/GMT{-minutes // 60:+}`, which is {utc_offset(minutes)}"
    return _example(False)


def _name_refusal(name: str, known: frozenset[str], offsets: bool) -> Refusal:
    message = f"{quoted(name)} is not a time zone of the IANA list"
    close = _close(name, known)
    if close is not None:
        return message, f"did you mean `{close}`?"
    if name.isascii() and name.isalpha() and name.isupper() and len(name) <= _ABBREVIATION:
        return message, f"an abbreviation can mean several zones: {_example(offsets)}"
    return message, _example(offsets)


def _close(name: str, known: frozenset[str]) -> str | None:
    """The one id that the name most likely means: other case, spaces for underscores, the city alone, a slip of the hand."""
    from difflib import get_close_matches

    by_form = {_form(one): one for one in sorted(known)}
    form = _form(name)
    if form in by_form:
        return by_form[form]
    cities = [one for plain, one in by_form.items() if plain.rpartition("/")[2] == form and "/" in plain]
    if cities:
        return cities[0]
    close = get_close_matches(form, by_form, n=1, cutoff=0.8) if len(form) > _ABBREVIATION else []
    return by_form[close[0]] if close else None


def _form(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_")
