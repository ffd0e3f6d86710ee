"""Time zones: IANA ids from the ``tzdata`` package and fixed offsets, as stretches of constant offset in whole minutes."""

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from nsplugin.cron import tzif
from nsplugin.cron.moments import utc_offset
from nsplugin.cron.years import FIRST_MINUTE, LAST_MINUTE, MINUTES_A_DAY, first_day, year_of
from nsplugin.row import Row

if TYPE_CHECKING:
    from pathlib import Path

_REMEMBERED_YEARS: Final = 512
_EXPANDED_TO: Final = 2038
"""Rules are written out as far as the end of this year; later years are computed when asked for."""
_NO_PLACES: Final = frozenset({"Factory", "localtime", "posixrules"})
_NO_FOLDERS: Final = ("right/", "posix/")
_BEYOND: Final = 3 * MINUTES_A_DAY
_MAX_FILE: Final = 1 << 20


class ZoneError(ValueError):
    """A zone name that is not taken: ``message`` says why, ``hint`` what to write instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}; {self.hint}"


class Segment(Row):
    """A stretch of UTC minutes, ``end`` exclusive, in which the wall clock is ``offset`` minutes ahead.

    ``high`` is the first wall minute that the clock had not yet reached or passed when the stretch began: above ``start +
    offset`` after a backward change (those minutes come again), below it after a forward one (those are skipped).
    """

    start: int
    end: int
    offset: int
    high: int
    label: str


class Zone:
    """A time zone. ``name`` is its stored form: the IANA id, ``UTC`` or ``UTC+07:00``.

    ``bounds`` are the first and last minute whose UTC and local dates both lie in the years 1 to 9999.
    """

    __slots__ = ("_horizon", "_rule", "_segments", "_starts", "_years", "bounds", "name")

    def __init__(self, name: str, data: tzif.Data) -> None:
        self.name = name
        self._rule = data.rule
        self._years: dict[int, tuple[Segment, ...]] = {}
        changes, year = list(data.changes), None
        if data.rule.summer is not None:
            last = changes[-1].minute if changes else FIRST_MINUTE - 1
            first = year_of(last // MINUTES_A_DAY)
            year = max(first + 2, _EXPANDED_TO)
            changes += (change for change in _yearly(data.rule, range(first, year + 1)) if change.minute > last)
        self._segments = tuple(_segments(data.before, changes))
        self._starts = [segment.start for segment in self._segments]
        self._horizon = LAST_MINUTE + _BEYOND if year is None else first_day(year) * MINUTES_A_DAY
        first, last = self.segment(FIRST_MINUTE).offset, self.segment(LAST_MINUTE).offset
        self.bounds = (FIRST_MINUTE - min(first, 0), LAST_MINUTE - max(last, 0))

    def __repr__(self) -> str:
        return f"zone({self.name!r})"

    def __reduce__(self) -> tuple[object, tuple[str, bool]]:
        return _restored, (self.name, True)

    def segment(self, minute: int) -> Segment:
        """The stretch that holds a UTC minute of the years 1 to 9999 (or up to a day outside them)."""
        if minute < self._horizon:
            return self._segments[bisect_right(self._starts, minute) - 1]
        year = year_of(minute // MINUTES_A_DAY)
        found = self._years.get(year) or self._remember(year)
        return next(segment for segment in found if minute < segment.end)

    def _remember(self, year: int) -> tuple[Segment, ...]:
        """The stretches that end in or after a year beyond the horizon, as far as its last minute."""
        if len(self._years) >= _REMEMBERED_YEARS:
            self._years.clear()
        changes = _yearly(self._rule, range(year - 2, year + 2))
        start = first_day(year) * MINUTES_A_DAY
        self._years[year] = found = tuple(one for one in _segments(changes[0], changes[1:]) if one.end > start)
        return found


def _yearly(rule: tzif.Rule, years: Iterable[int]) -> list[tzif.Change]:
    return sorted(change for year in years for change in rule.changes(year))


def _segments(before: tzif.Change, changes: list[tzif.Change]) -> Iterator[Segment]:
    """Stretches from the changes, in order; of several changes in one minute only the last counts."""
    start, offset, label = FIRST_MINUTE - _BEYOND, before.offset, before.label
    high = start + offset
    for minute, ahead, name in changes:
        if minute > start:
            yield Segment(start, minute, offset, high, label)
            high = max(high, minute + offset)
            start = minute
        offset, label = ahead, name
    yield Segment(start, LAST_MINUTE + _BEYOND, offset, high, label)


def zone(name: str, *, offsets: bool = False) -> Zone:
    """The zone of an IANA id of the ``tzdata`` package's list, and with ``offsets`` of ``UTC±h``, ``UTC±hh`` or ``UTC±hh:mm``.

    The data come from the folders of ``PYTHONTZPATH`` if that is set, else from the package, never from the machine's own
    files (spec/cron.md F4). Raises :class:`ZoneError`; a name that is not on the list is never opened.
    """
    if name in zone_names():
        return _load(name, os.environ.get("PYTHONTZPATH", ""))
    from nsplugin.cron.zone_names import fixed_offset, refusal

    minutes = fixed_offset(name) if offsets else None
    if minutes is None:
        raise ZoneError(*refusal(name, zone_names(), offsets=offsets))
    return _fixed(minutes, utc_offset(minutes)) if minutes else zone("UTC")


def _restored(name: str, offsets: bool) -> Zone:
    return zone(name, offsets=offsets)


@lru_cache(maxsize=128)
def _fixed(minutes: int, name: str) -> Zone:
    return Zone(name, tzif.Data(tzif.Change(0, minutes, name), (), tzif.Rule(60 * minutes, name)))


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """The ids of the ``tzdata`` package's list, links among them, without those that name no place (``Factory``)."""
    names = _packaged("zones").decode("ascii").split()
    return frozenset(name for name in names if name not in _NO_PLACES and not name.startswith(_NO_FOLDERS))


def _packaged(*path: str) -> bytes:
    """A file of the ``tzdata`` package, also from inside a zip; ``importlib.resources`` would cost 10 ms of start-up."""
    from importlib import import_module
    from pathlib import Path

    package: Any = import_module("tzdata")
    content: bytes = package.__spec__.loader.get_data(str(Path(package.__file__).parent.joinpath(*path)))
    return content


@lru_cache(maxsize=1024)
def _load(name: str, search: str) -> Zone:
    from pathlib import Path

    parts = name.split("/")
    for folder in map(Path, filter(None, search.split(os.pathsep))):
        file = folder.joinpath(*parts)
        if folder.is_absolute() and file.is_file():
            return _read(name, f"the file {file}", _bounded(file))
    return _read(name, "the tzdata package", _packaged("zoneinfo", *parts))


def _bounded(file: "Path") -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_FILE)
    except OSError as error:
        raise ZoneError(f"{file} cannot be read: {error.strerror}", "check PYTHONTZPATH") from error


def _read(name: str, origin: str, data: bytes) -> Zone:
    try:
        return Zone(name, tzif.read(data))
    except tzif.TzifError as error:
        raise ZoneError(f"the time-zone data of {name} cannot be used ({origin}): {error}", "check PYTHONTZPATH") from error
