"""What is wrong with an expression that the grammar refuses: every fault once, and what to write instead.

Loaded only for bad expressions. A fault of the whole text (a foreign character, quotation marks, a macro, a wrong number of
fields) is reported alone, since nothing after it can be trusted; else every faulty item is one fault (spec/cron.md G1–G3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from nsplugin.cron import repairs
from nsplugin.cron.characters import SOFT_HYPHEN, named
from nsplugin.cron.grammar import FIELDS, Code, CronFault, field_set, fields, item_set, normalise, parses
from nsplugin.cron.names import DAYS, MONTHS
from nsplugin.cron.quotes import quoted, write
from nsplugin.cron.repairs import in_field

_MOST: Final = 1000
"""More faults than any expression of legal length can have; a longer one is reported for its length anyway."""
_WORD: Final = re.compile(r"[^ \t]+")
_NAMES: Final = ", ".join(field.name for field in FIELDS)
_MARKS: Final = ('""', "''", "``", "“”", "‘’", "„“", "«»")
_MACROS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
    "@every_minute": "* * * * *",
}
_EVERY: Final = re.compile(
    r"@every[ \t]+([0-9]{1,6})[ \t]*(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)", re.IGNORECASE
)
_FIELD_LIKE: Final = re.compile(
    r"[0-9*?,/-]+|{0}(?:[,-]{0})*".format("(?:" + "|".join(name[:3] for name in DAYS + MONTHS) + ")"), re.IGNORECASE
)
"""What other schedulers would take for a field."""
_ZONE: Final = re.compile(r"(?:CRON_)?TZ=[^ \t]*", re.IGNORECASE)


def diagnose(text: str) -> tuple[CronFault, ...]:
    """Every fault of a text that is not in the grammar, in column order."""
    for check in _WHOLE:
        fault = check(text)
        if fault is not None:
            return (fault,)
    return tuple(islice(_items(text), _MOST))


def _foreign(text: str) -> CronFault | None:
    """White space other than spaces and tabs, control and invisible characters: all of a text are one fault."""
    places = [at for at, sign in enumerate(text) if not sign.isprintable() and sign != "\t"]
    if not places:
        return None
    start, end = places[0], places[-1] + 1
    more = f" and {len(places) - 1:,} more that cannot be seen" if len(places) > 1 else ""
    message = f"the expression holds {named(text[start])}{more}; only spaces and tabs separate fields"
    for fix in _visible(text[start:end]):
        whole = text[:start] + fix + text[end:]
        if parses(whole):
            return _whole(message, write(normalise(whole)), start, end, fix)
    return _whole(message, "write five fields, in ASCII, with spaces between them", start, end)


def _visible(text: str) -> Iterator[str]:
    """A text without characters that cannot be seen: spaces in their place, or if none of them is white space, nothing."""
    unseen = {sign for sign in text if not sign.isprintable() and sign != "\t"}
    yield text.translate({ord(sign): "-" if sign == SOFT_HYPHEN else " " for sign in unseen})
    if not any(sign.isspace() for sign in unseen):
        yield text.translate({ord(sign): None for sign in unseen})


def _quotation(text: str) -> CronFault | None:
    start, end = _extent(text)
    if end - start < 2 or text[start] + text[end - 1] not in _MARKS:
        return None
    inner = text[start + 1 : end - 1]
    hint = write(normalise(inner)) if parses(inner) else "leave them out"
    return _whole("the expression has quotation marks of its own", hint, start, end, inner if parses(inner) else None)


def _time_zone(text: str) -> CronFault | None:
    start = _extent(text)[0]
    match = _ZONE.match(text, start)
    if match is None:
        return None
    rest = text[match.end() :]
    hint = write(normalise(rest)) if parses(rest) else f"leave {quoted(match[0])} out"
    message = f"{quoted(match[0])}: an expression cannot name its time zone"
    return _whole(message, f"{hint}; the zone is set outside the expression", start, match.end(), "" if parses(rest) else None)


def _macro(text: str) -> CronFault | None:
    start, end = _extent(text)
    name = text[start:end].lower()
    if not name.startswith("@"):
        return None
    every = _EVERY.fullmatch(name)
    meant = _period(int(every[1]), every[2][0]) if every else _MACROS.get(name)
    hint = f"write `{meant}`" if meant else _no_macro(name, every)
    return _whole(f"{quoted(text[start:end])} is not supported: an expression has five fields", hint, start, end, meant)


def _period(number: int, unit: str) -> str | None:
    """The five fields of a period that divides an hour or a day evenly."""
    minutes, odd = divmod(number * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[unit], 60)
    if odd:
        return None
    if minutes and 60 % minutes == 0:
        return f"*/{minutes} * * * *" if minutes < 60 else "0 * * * *"
    if minutes and 1440 % minutes == 0 and minutes % 60 == 0:
        return f"0 */{minutes // 60} * * *" if minutes < 1440 else "0 0 * * *"
    return None


def _no_macro(name: str, every: re.Match[str] | None) -> str:
    if name == "@reboot":
        return "nothing stands for it: a schedule runs by the clock, not when something starts"
    if every and every[2][0] == "s" and int(every[1]) < 60:
        return "the shortest period is one minute: write `* * * * *`"
    if name.startswith("@every"):
        return "write a period that divides an hour or a day, such as `*/5 * * * *` or `0 */6 * * *`"
    return "write the five fields, such as `0 0 * * *` for midnight every day"


def _count(text: str) -> CronFault | None:
    parts = fields(text)
    if len(parts) == len(FIELDS):
        return None
    start, end = _extent(text)
    found = (
        f"found {len(parts):,} field{'s'[: len(parts) != 1]} instead of five" if parts else "found no fields instead of five"
    )
    message = f"{found} ({_NAMES})"
    fix, hint = _five(parts)
    return _whole(message, hint, start, end, fix, "NSP201")


def _five(parts: list[str]) -> tuple[str | None, str]:
    """The five fields that were meant, if that is plain, and a hint."""
    closed = re.sub(r" ?([,/-]) ?", r"\1", " ".join(parts))
    if parses(closed):
        return closed, f"a field has no spaces in it: {write(closed)}"
    if len(parts) > 5:
        return _fewer(parts)
    if parts == ["*****"]:
        return "* * * * *", "write `* * * * *`"
    if len(parts) == 4 and parses(" ".join(parts) + " *"):
        return None, f"if the day of week is what is missing, {write(' '.join(parts) + ' *')}"
    return None, "write all five, such as `0 3 * * *` for 03:00 every day"


def _fewer(parts: list[str]) -> tuple[str | None, str]:
    rest, head = _repaired(parts[1:6]), " ".join(parts[:5])
    if len(parts) <= 7 and rest is not None and all(map(_FIELD_LIKE.fullmatch, parts)):
        said = "there are no seconds: drop the first field"
        if len(parts) == 7:
            said = "there are no seconds and no years: drop the first and the last field"
        # Where `?` is known, Sunday is 1: its numbers of weekdays are not ours.
        shifted = "?" in parts and parts[5][:1].isdigit()
        same = not parts[0].strip("0") and parts[6:] in ([], ["*"]) and not shifted
        return rest if same else None, f"{said} and {write(rest)}" + (", if Sunday was meant as 0" if shifted else "")
    if parses(head) and not _FIELD_LIKE.fullmatch(parts[5]):
        return head, f"what follows the fifth field does not belong here: {write(head)}"
    return None, "write five, such as `0 3 * * *` for 03:00 every day"


def _repaired(parts: list[str]) -> str | None:
    """Five fields with every fault in them repaired, if each fault tells how."""
    text = " ".join(parts)
    for fault in reversed(list(islice(_items(text), _MOST))):
        if fault.fix is None:
            return None
        text = text[: fault.column - 1] + fault.fix + text[fault.end_column - 1 :]
    return text if parses(text) else None


_WHOLE: Final[tuple[Callable[[str], CronFault | None], ...]] = (_foreign, _quotation, _time_zone, _macro, _count)


def _items(text: str) -> Iterator[CronFault]:
    for place, word in enumerate(_WORD.finditer(text)):
        if not field_set(place, word[0]):
            yield from _field(place, word[0], word.start())


def _field(place: int, part: str, at: int) -> Iterator[CronFault]:
    """The faults of one field, which begins at ``at`` of the text."""
    if not part.strip(","):
        message = f"{FIELDS[place].name} {quoted(part)} has no number"
        yield in_field(place, "NSP202", message, "write a number or `*`", (at, at + len(part)))
        return
    for match in re.finditer(r",+|[^,]+", part):
        start, end = match.span()
        if part[start] != ",":
            if not item_set(place, match[0]):
                yield repairs.fault(place, match[0], at + start)
            continue
        needed = start > 0 and end < len(part)
        if not needed or end > start + 1:
            message = f"{FIELDS[place].name} {quoted(part)} has a comma too many"
            yield in_field(place, "NSP202", message, "leave it out", (at + start + needed, at + end), "")


def _extent(text: str) -> tuple[int, int]:
    """Where a text begins and ends without the spaces and tabs around it."""
    inner = text.strip(" \t")
    start = text.find(inner) if inner else 0
    return start, start + len(inner)


def _whole(message: str, hint: str, start: int, end: int, fix: str | None = None, code: Code = "NSP202") -> CronFault:
    return CronFault(code, message, hint, None, start + 1, end + 1, fix)
