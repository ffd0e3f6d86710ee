"""Zones against ``zoneinfo`` on the same data, and which names are taken (spec/cron.md F4, F5)."""

from __future__ import annotations

import os
import pickle
import struct
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cron_oracle import EPOCH, MINUTE, zone_info
from nsplugin.cron import Calendar, Zone, ZoneError, parse, zone, zone_names
from nsplugin.cron.tzif import TzifError, read
from nsplugin.cron.years import FIRST_MINUTE, LAST_MINUTE

NAMES = sorted(zone_names())
DAY = timedelta(days=1)
# Every 40 days through the years in which clocks were changed, and a few far ones.
INSTANTS = [datetime(1840, 1, 1, 5, 17) + number * 40 * DAY for number in range(2600)] + [
    datetime(1, 1, 2),
    datetime(2999, 7, 1),
    datetime(4444, 1, 1),
    datetime(9999, 1, 1),
    datetime(9999, 12, 30),
]


def offset(name: str, minute: int) -> int:
    """The wall clock's distance from UTC in minutes, as a walk over whole minutes sees it."""
    found = (EPOCH + minute * MINUTE).astimezone(zone_info(name)).utcoffset()
    assert found is not None
    return found // MINUTE


@pytest.mark.parametrize("letter", sorted({name[0] for name in NAMES}))
def test_every_zone_shows_the_time_that_zoneinfo_shows(letter: str) -> None:
    """At both sides of every change that we know, and on days spread evenly, so that no change is missed."""
    for name in (name for name in NAMES if name.startswith(letter)):
        place = zone(name)
        for when in INSTANTS:
            minute = (when.replace(tzinfo=EPOCH.tzinfo) - EPOCH) // MINUTE
            assert place.segment(minute).offset == offset(name, minute), (name, when)
        minute = FIRST_MINUTE + 3000
        while minute < 60_000_000:
            segment = place.segment(minute)
            for edge in (segment.start, segment.end - 1):
                if FIRST_MINUTE + 3000 < edge < LAST_MINUTE - 3000:
                    assert segment.offset == offset(name, edge), (name, edge)
            assert segment.start <= minute < segment.end
            minute = segment.end


@settings(deadline=None)
@given(st.sampled_from(NAMES), st.integers(FIRST_MINUTE + 3000, LAST_MINUTE - 3000))
def test_any_instant_of_any_zone_is_as_zoneinfo_says(name: str, minute: int) -> None:
    segment = zone(name).segment(minute)
    assert segment.offset == offset(name, minute)
    assert segment.label == (EPOCH + minute * MINUTE).astimezone(zone_info(name)).tzname()
    assert zone(name).segment(segment.start) == segment == zone(name).segment(segment.end - 1)


def test_only_places_of_the_packages_list_are_zones() -> None:
    """F4: current ids and links, nothing that names no place."""
    assert {"UTC", "Asia/Ho_Chi_Minh", "Asia/Saigon", "EST5EDT", "Etc/GMT+7"} <= zone_names()
    assert not {"Factory", "localtime", "posixrules", "right/UTC", "posix/UTC", "zone.tab"} & zone_names()
    assert zone("Asia/Saigon").name == "Asia/Saigon"


@settings(deadline=None)
@given(st.text() | st.sampled_from(["/", "..", ".", "~", "C:\\", "\0", "Europe/", "/Europe/Paris", "europe/paris"]))
def test_anything_else_is_refused_and_never_opened(name: str) -> None:
    if name not in zone_names():
        with pytest.raises(ZoneError) as raised:
            zone(name, offsets=False)
        assert raised.value.message.isprintable() and raised.value.hint
        assert len(str(raised.value)) < 300


@settings(deadline=None)
@given(st.integers(-18 * 60, 18 * 60))
def test_fixed_offsets_are_stored_normalised(minutes: int) -> None:
    """F4: up to 18 hours, `UTC+7` and `UTC+07:00` are one zone, no distance is `UTC`."""
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    stored = f"UTC{sign}{hours:02}:{rest:02}" if minutes else "UTC"
    spellings = [f"UTC{sign}{hours:02}:{rest:02}", *([f"UTC{sign}{hours}", f"UTC{sign}{hours:02}"] if not rest else [])]
    for spelling in spellings:
        place = zone(spelling, offsets=True)
        assert place.name == stored and place is zone(stored, offsets=True)
        assert place.segment(0).offset == minutes
        with pytest.raises(ZoneError):
            zone(spelling)


def test_zones_and_their_errors_travel() -> None:
    for name in ("Europe/Paris", "UTC+05:45", "UTC"):
        place = pickle.loads(pickle.dumps(zone(name, offsets=True)))
        assert isinstance(place, Zone) and place is zone(name, offsets=True)
    error = pickle.loads(pickle.dumps(ZoneError("no", "write")))
    assert (error.message, error.hint, str(error)) == ("no", "write", "no; write")


def tzif(changes: list[tuple[int, int]], offsets: list[int], footer: str, version: bytes = b"2") -> bytes:
    """A TZif file: changes as (second, index of offset), offsets in seconds, all named ``XX``."""

    def block(form: str) -> bytes:
        head = struct.pack(">4sc15x6l", b"TZif", version, 0, 0, 0, len(changes), len(offsets), 3)
        seconds = struct.pack(f">{len(changes)}{form}", *(second for second, _ in changes))
        kinds = bytes(kind for _, kind in changes)
        return head + seconds + kinds + b"".join(struct.pack(">lBB", offset, 0, 0) for offset in offsets) + b"XX\0"

    return block("l") + (block("q") + f"\n{footer}\n".encode() if version != b"\0" else b"")


def test_pythontzpath_overrides_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F4: on purpose, for listed ids only; a place that the folder lacks comes from the package."""
    (tmp_path / "Europe").mkdir()
    (tmp_path / "Europe" / "Paris").write_bytes(tzif([], [5 * 3600], "XX-5"))
    (tmp_path / "Mars").write_bytes(tzif([], [60], "XX-5"))
    monkeypatch.setenv("PYTHONTZPATH", os.pathsep.join(["relative", str(tmp_path / "missing"), str(tmp_path)]))
    assert zone("Europe/Paris").segment(29_000_000).offset == 300
    assert zone("Europe/Berlin").segment(29_000_000).offset == 60
    with pytest.raises(ZoneError):
        zone("Mars")
    monkeypatch.setenv("PYTHONTZPATH", "")
    assert zone("Europe/Paris").segment(29_000_000).offset == 60


def _changed(at: int, value: int) -> bytes:
    good = tzif([(-(10**9), 1), (10**9, 0)], [0, 3600], "XX0XY,M3.2.0,M11.1.0/3")
    return good[: at % len(good)] + bytes([value]) + good[at % len(good) + 1 :]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "requires a buffer"),
        (b"PK\3\4" + bytes(60), "does not begin with TZif"),
        (tzif([], [0], "XX0")[:-3], "footer"),
        (tzif([], [0], "XX0XY"), "footer"),
        (tzif([], [0], "XX0XY,M3.2.0"), "footer"),
        (tzif([], [0], "XX0XY,M13.2.0,M1.1.1"), "footer"),
        (tzif([(5, 7)], [0], "XX0"), "range"),
        *((_changed(byte, 0x7F), "shorter than its header says") for byte in (101, 105, 109)),  # its counts
    ],
)
def test_damaged_data_say_what_and_where(content: bytes, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "EST").write_bytes(content)
    monkeypatch.setenv("PYTHONTZPATH", str(tmp_path))
    with pytest.raises(ZoneError) as raised:
        zone("EST")
    assert f"the time-zone data of EST cannot be used (the file {tmp_path / 'EST'})" in raised.value.message
    assert reason in raised.value.message and raised.value.hint == "check PYTHONTZPATH"


@settings(deadline=None)
@given(st.binary(max_size=300) | st.tuples(st.integers(0, 200), st.integers(0, 255)).map(lambda one: _changed(*one)))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        read(content)
    except TzifError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("footer", "offsets"),
    [
        # Offsets in minutes on 1 January 00:00, 1 March 12:00, 15 July and 31 December 12:00 UTC of 2044 (a leap year).
        ("XX0", [0, 0, 0, 0]),
        ("XX5XY", None),
        ("XX0XY,J60/12,J365", [0, 60, 60, 0]),
        ("XX0XY,59,300", [0, 60, 60, 0]),
        ("XX0XY,J59,J60/11", [0, 0, 0, 0]),
        ("XX0XY-2:00,M3.1.0/-167,M12.5.0/167", [120, 120, 120, 120]),
        ("EST5EDT4,0/0,J365/25", [-240, -240, -240, -240]),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", [0, 0, 60, 0]),
    ],
)
def test_footers_of_every_form(footer: str, offsets: list[int] | None) -> None:
    """RFC 9636: julian days with and without 29 February, hours to ±167, time all year round, negative daylight saving."""
    content = tzif([(0, 0)], [0], footer)
    if offsets is None:
        with pytest.raises(TzifError):
            read(content)
        return
    place = Zone("test", read(content))
    days = [datetime(2044, 1, 1), datetime(2044, 3, 1, 12), datetime(2044, 7, 15), datetime(2044, 12, 31, 12)]
    minutes = [(day.replace(tzinfo=EPOCH.tzinfo) - EPOCH) // MINUTE for day in days]
    assert [place.segment(minute).offset for minute in minutes] == offsets
    fires = Calendar(parse("0 9 29 2 *"), place, "every-match").fires(minutes[0], 3)
    assert [(EPOCH + minute * MINUTE).year for minute in fires] == [2044, 2048, 2052]


def test_a_file_of_version_one_ends_with_its_last_offset() -> None:
    place = Zone("test", read(tzif([(0, 1)], [0, 3600], "", b"\0")))
    assert [place.segment(minute).offset for minute in (-1, 0, LAST_MINUTE)] == [0, 60, 60]
