"""One faulty item: what is wrong with it, and what to write instead. A table of forms first, then the lines that read it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from nsplugin.cron.characters import ascii_form, named
from nsplugin.cron.grammar import FIELDS, Code, CronFault, field_set, number
from nsplugin.cron.names import DAYS, MONTHS
from nsplugin.cron.quotes import quoted, shortened, write

_NAMES: Final = {3: MONTHS, 4: DAYS}
_KINDS: Final = {3: "month", 4: "weekday"}
_WEEKDAY: Final = 4
_PICKS: Final = ("17", "3", "1", "1", "1")
"""A number for examples, by field."""
_REPAIRED: Final = 200
"""Longer items are judged as numbers only."""
_WORDS: Final = re.compile(r"(?=.*[A-Za-z])([A-Za-z]{3,}|[0-9]+)(?:-([A-Za-z]{3,}|[0-9]+))?(/[0-9]+)?")
_NUMBERS: Final = re.compile(r"(?:\*|([0-9]+)(?:-([0-9]+))?)(?:/([0-9]+))?")


class _Form(NamedTuple):
    """An item that others' cron takes, or a slip: its pattern, what to say, and either a repair or what to do.

    ``repair`` is a template for :meth:`re.Match.expand` in which ``{low}`` and ``{high}`` are the field's ends; in ``said``
    and ``advice``, ``{0}`` and ``{1}`` are the item and its first group, ``{day}`` is the weekday whose number that group is.
    """

    pattern: re.Pattern[str]
    said: str
    repair: str | None = None
    advice: str | None = None
    places: tuple[int, ...] = (0, 1, 2, 3, 4)


def _form(pattern: str, said: str, repair: str | None = None, advice: str | None = None, *places: int) -> _Form:
    return _Form(re.compile(pattern, re.IGNORECASE), said, repair, advice, places or (0, 1, 2, 3, 4))


_PICKED: Final = "{0} (a number picked by the server) is not supported"
_RANDOM: Final = "{0} (a random number) is not supported"
_PICK: Final = "pick a number yourself, such as `{pick}`"
_CHECK: Final = "let the handler check the date"
_EVERY_DAY: Final = f"run every {{day}}, `{{1}}`, and {_CHECK}"
_EXAMPLE: Final = "write a step such as `*/5`"
_STEPPED: Final = r"(\*|[0-9]+-[0-9]+)"

_FORMS: Final = (
    _form(r"\?(/[0-9]+)?", "{0} is not supported", r"*\1"),
    _form(r"h", _PICKED, None, _PICK),
    _form(r"h(/[0-9]+)", _PICKED, r"*\1"),
    _form(r"h\(([0-9]+-[0-9]+)\)(/[0-9]+)?", _PICKED, r"\1\2"),
    _form(r"r|[0-9]*~[0-9]*", _RANDOM, None, _PICK),
    _form(r"l", "{0} (the last day of the month) is not supported", None, f"run on days `28-31` and {_CHECK}", 2),
    _form(r"l-[0-9]+", "{0} (days before the last) is not supported", None, f"run on days `1-31` and {_CHECK}", 2),
    _form(r"lw|wl", "{0} (the last working day) is not supported", None, f"run on days `26-31` and {_CHECK}", 2),
    _form(r"w", "{0} (working days) is not supported", None, "write `*` here and `1-5` as the day of week", 2),
    _form(r"([0-9]+)w", "{0} (the working day nearest to day {1}) is not supported", r"\1", f"or more days and {_CHECK}", 2),
    _form(r"l", "{0} (the last day of the week) is not supported", "6", None, 4),
    _form(r"([0-7])l", "{0} (the last {day} of the month) is not supported", None, _EVERY_DAY, 4),
    _form(r"([0-7])#([0-9]+)", "{0} ({day} number {2} of the month) is not supported", None, _EVERY_DAY, 4),
    _form(r"([0-9]+)/([0-9]+)", "{0} is not supported: a step follows `*` or a range", r"\1-{high}/\2", _EXAMPLE),
    _form(r"(/[0-9]+)", "{0} lacks what the step divides", r"*\1"),
    _form(r"(.*)/", "{0} lacks the number of the step", r"\1", "or a step, such as `*/5`"),
    _form(_STEPPED + r"/[+-]([0-9]+)", "{0} has a step with a sign", r"\1/\2"),
    _form(_STEPPED + r"/([0-9]+)\.[0-9]+", "{0} has a step that is not a whole number", r"\1/\2", "or fixed numbers"),
    _form(_STEPPED + r"//+([0-9]+)", "{0} has more than one slash", r"\1/\2"),
    _form(r".*/.*/.*", "{0} has more than one step", None, "write one step, such as `*/5`"),
    _form(r"([0-9]+)-", "{0} lacks the end of the range", r"\1-{high}", "or another end"),
    _form(r"-([0-9]+)", "{0} lacks the beginning of the range", r"\1", "or a range with two ends, such as `{low}-{1}`"),
    _form(r"([0-9]+)-\*(/[0-9]+)?", "{0} is not supported: a range has two numbers", r"\1-{high}\2"),
    _form(r"\*-([0-9]+(?:/[0-9]+)?)", "{0} is not supported: a range has two numbers", r"{low}-\1"),
    _form(r"[0-9]+-[0-9]+-.*", "{0} has more than one dash", None, "write a range with two numbers, such as `{low}-{pick}`"),
    _form(r"([0-9]+)(?:-{2,}|\.{2,})([0-9]+)", "{0} is not a range", r"\1-\2"),
    _form(r"([0-9]+)[;|&]([0-9]+)", "{0} is not a list", r"\1,\2"),
    _form(r"\+([0-9]+)", "{0} has a sign", r"\1"),
    _form(r"([0-9]+)\.0*", "{0} is not a whole number", r"\1"),
    _form(r"[\"'`(\[]([0-9*/-]+)[\"'`)\]]", "{0} has marks around it", r"\1"),
    _form(r"([0-9*/-]+)[;.]", "{0} has a mark at its end", r"\1"),
    _form(r".*/.*", "{0} has a step that is not a number", None, "write a step such as `*/5`"),
    _form(r"\*{2,}", "{0} has more than one star", r"*"),
    _form(r"\*([0-9]+)", "{0} lacks the slash of a step", r"*/\1"),
)


def fault(place: int, item: str, at: int) -> CronFault:
    """The one fault of an item of a field (0 to 4) that is not in the grammar; ``at`` is where it begins in the text."""
    for judge in (_numbers, _foreign, _named, _other_cron) if len(item) <= _REPAIRED else (_numbers,):
        found = judge(place, item)
        if found is not None:
            break
    else:
        found = _Found("NSP202", f"{quoted(item)} is not a number, a range or a step", _plainly(place))
    return in_field(place, found.code, found.message, found.hint, (at, at + len(item)), found.fix)


def in_field(
    place: int, code: Code, message: str, hint: str | None, span: tuple[int, int], fix: str | None = None
) -> CronFault:
    """A fault inside a field; ``span`` counts from 0, its end exclusive."""
    return CronFault(code, message, hint, FIELDS[place].name, span[0] + 1, span[1] + 1, fix)


class _Found(NamedTuple):
    code: Code
    message: str
    hint: str | None
    fix: str | None = None


def _fixed(message: str, fix: str | None, advice: str | None = None) -> _Found:
    """A fault of syntax. With advice beside it, the fix is one choice of several and not to be made by itself."""
    if fix is None:
        return _Found("NSP202", message, advice)
    hint = write(fix) if advice is None else f"{write(fix)}, {advice}"
    return _Found("NSP202", message, hint, fix if advice is None else None)


def _numbers(place: int, item: str) -> _Found | None:
    """Faults of numbers: out of range, a range that runs backwards, a step of nothing."""
    match = _NUMBERS.fullmatch(item)
    if match is None or (match[3] is not None and match[1] is not None and match[2] is None):
        return None
    name, low, high = FIELDS[place]
    for digits in filter(None, match.group(1, 2)):
        if not low <= number(digits) <= high:
            return _Found("NSP203", f"{name} {shortened(digits)} is out of range: {low}–{high}", _instead(place, match))
    if match[3] is not None and not number(match[3]):
        hint = f"{write(item.partition('/')[0])} for every {name}, or a larger step"
        return _Found("NSP203", f"step {shortened(match[3])} is out of range: 1 or more", hint)
    message = f"{quoted(item)} runs backwards: a range goes from its smaller to its larger number"
    return _fixed(message, _around(place, number(match[1]), number(match[2]), match[3]))


def _instead(place: int, match: re.Match[str]) -> str | None:
    """What to write for a number out of range, where that can be told."""
    name, low, high = FIELDS[place]
    first, last = number(match[1]), number(match[2] or match[1])
    if low <= first <= high < last:
        step = f"/{match[3]}" if match[3] else ""
        return write(f"{first}-{high}{step}")
    if low and 0 in (first, last):
        return f"the first {'day' if place == 2 else name} is `{low}`"
    if place < 2 and first == last == high + 1:
        return "the full hour is minute `0`" if place == 0 else "midnight is hour `0`"
    return "0 and 7 are Sunday" if place == _WEEKDAY else None


def _around(place: int, start: int, end: int, step: str | None) -> str:
    """A backward range as a list that goes past the field's end: `22-2` is `22-23,0-2`."""
    _, low, high = FIELDS[place]
    if place == _WEEKDAY:
        start, end, high = start % 7, end or 7, 6
        if start <= end and step is None:
            return _range(start, 0 if start == 0 and end == 7 else end)
    if step is None:
        return f"{_range(start, high)},{_range(low, end)}"
    numbers = [*range(start, high + 1), *range(low, end % 7 + 1 if place == _WEEKDAY else end + 1)]
    return ",".join(map(str, sorted(set(numbers[:: number(step)]))))


def _range(start: int, end: int) -> str:
    return f"{start}-{end}" if start < end else str(start)


def _foreign(place: int, item: str) -> _Found | None:
    """Digits and signs of other scripts."""
    if item.isascii():
        return None
    sign = next(sign for sign in item if not sign.isascii())
    form = ascii_form(item)
    message = f"{quoted(item)} holds {named(sign)}, which is not ASCII"
    if field_set(place, form):
        return _fixed(message, form)
    return _fixed(message, None, "fields are written with the digits 0 to 9 and the signs * , - /")


def _named(place: int, item: str) -> _Found | None:
    """Names of months and weekdays, where they belong and where they do not."""
    match = _WORDS.fullmatch(item)
    if match is None:
        return None
    for word in re.findall(r"[A-Za-z]+", item):
        if number_of(place, word) is None:
            other = next((kind for kind in _NAMES if number_of(kind, word) is not None), None)
            if other is None:
                return None
            message = f"{quoted(item)} is a {_KINDS[other]}, and this is the {FIELDS[place].name} field"
            return _fixed(message, None, f"the {FIELDS[other].name} is field {other + 1}: write its number there")
    return _fixed(f"{quoted(item)} is not supported: fields hold numbers, not names", _with_numbers(place, match))


def _with_numbers(place: int, match: re.Match[str]) -> str | None:
    """A name or a range of names in numbers, if the field takes them."""
    first, last, step = match.groups()
    start, end = number_of(place, first), number_of(place, last or first)
    if start is None or end is None:
        return None
    high = 6 if place == _WEEKDAY else FIELDS[place].high
    if last is None:
        text = f"{start}-{high}{step}" if step else str(start)
    else:
        text = f"{_range(start, end)}{step or ''}" if start <= end else _around(place, start, end, step and step[1:])
    return text if field_set(place, text) else None


def number_of(place: int, word: str) -> int | None:
    """The number of a name, of three letters or more, in a field that others' cron takes names in; digits are themselves."""
    if word.isdigit():
        return number(word) if FIELDS[place].low <= number(word) <= FIELDS[place].high else None
    for index, name in enumerate(_NAMES.get(place, ())):
        if len(word) > 2 and name.lower().startswith(word.lower()):
            return index + FIELDS[place].low
    return None


def _in_number(place: int, word: str) -> str:
    value = number_of(place, word)
    return word if value is None else str(value)


def _other_cron(place: int, item: str) -> _Found | None:
    """Forms of other schedulers and slips of the hand."""
    in_numbers = re.sub(r"[A-Za-z]{3,}", lambda word: _in_number(place, word[0]), item)
    for form in _FORMS:
        match = form.pattern.fullmatch(in_numbers) if place in form.places else None
        if match is not None:
            return _of_form(place, item, form, match)
    return None


def _of_form(place: int, item: str, form: _Form, match: re.Match[str]) -> _Found:
    ends = {"low": str(FIELDS[place].low), "high": str(6 if place == _WEEKDAY else FIELDS[place].high), "pick": _PICKS[place]}
    groups = [shortened(group or "") for group in match.groups()]
    day = DAYS[number(groups[0]) % 7] if groups and groups[0].isdigit() else ""
    message = form.said.format(quoted(item), *groups, day=day)
    advice = form.advice and form.advice.format(quoted(item), *groups, day=day, **ends)
    fix = form.repair and match.expand(form.repair.format(**ends))
    if fix and field_set(place, fix):
        return _fixed(message, fix, advice if form.advice != _EXAMPLE else None)
    return _fixed(message, None, advice if advice and not advice.startswith("or ") else _plainly(place))


def _plainly(place: int) -> str:
    _, low, high = FIELDS[place]
    return f"write numbers from {low} to {high}, such as `{_PICKS[place]}`, or `*`"
