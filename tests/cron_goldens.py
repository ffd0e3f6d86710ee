"""What cron says to people, whole: diagnoses, refused zones, schedules in words, clock changes (``fixtures/cron/*.txt``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from nsplugin.cron import Calendar, Policy, ZoneError, describe, faults, isoformat, local, normalise, parse, to_minute, zone

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "fixtures" / "cron"

BAD = [
    "60 24 0 13 8",
    "MON 8-MON * fri-mon Sat-Mon/2",
    "0 0 * dec-feb fri-sun",
    "*/0 22-2 ? L 5#2",
    "0 0 * * fri#2",
    "0 0 * * 6L",
    "0 0 * foo *",
    "0 0 * * MON/2",
    "55/10 5/0 70/5 * *",
    "H(0-29)/10 * * * *",
    "1~5 ~ * * *",
    "1,,2,x,70 ,5 5, , *",
    "  0 0 * *   0x1  ",
    "@yearly",
    "@Weekly",
    " @monthly ",
    "@every 1h",
    "@every 6h",
    "@every 1d",
    "@every 24h",
    "@every 7m",
    "@every 30s",
    "@every 10 minutes",
    "@every 3600s",
    "@every 90 seconds",
    "@every 2 hours",
    "65-0 * * * *",
    "0 0 * * 8-0",
    "@fortnightly",
    "'0 0 * * *'",
    "“0 0 * * MON”",
    "TZ=UTC 0 0 * *",
    "cron_tz=UTC\t0 0 * * *",
    "*/10 * * * * *",
    "0 0 12 ? * MON-FRI",
    "0 15 10 * * ? 2005",
    "0 0 12 ? * 2-6",
    "0 0 1 * MON UTC",
    "5 4 x *",
    "1 - 5 * * * *",
    "9" * 6000 + " * * * *",
    "*/" + "0" * 6000 + " * * * *",
    "5-" + "9" * 6000 + "/" + "7" * 6000 + " * * * *",
    "0 0 * * " + "x" * 6000,
]
ZONES = [
    "",
    " ",
    "asia/ho_chi_minh",
    "Saigon",
    "Asia/Ho Chi Minh",
    "New_York",
    "Europe/Londn",
    "EST",
    "CEST",
    "Hanoi",
    "Factory",
    "localtime",
    "posixrules",
    "right/UTC",
    "posix/UTC",
    "../etc/passwd",
    "/etc/localtime",
    "Europe/../UTC",
    "C:\\zone",
    "UTC\0",
    "UTC\n",
    " UTC",
    "Europe/Paris ",
    "utc",
    "Z",
    "UTC+7",
    "UTC+07",
    "UTC+07:00",
    "UTC-3:30",
    "UTC+0",
    "UTC-0",
    "UTC+00:00",
    "UTC-00:00",
    "UTC+18",
    "UTC-18:00",
    "UTC+18:01",
    "UTC+19",
    "UTC+7:3",
    "UTC+7:60",
    "UTC+007",
    "UTC+0700",
    "UTC +7",
    "UTC7",
    "UTC+",
    "GMT+7",
    "gmt-5",
    "GMT0",
    "+07:00",
    "-5",
    "+0530",
    "UTC−5",
    "UTC+٧",
    "Etc/GMT-7",
    "\ud800",
    "A" * 64,
    "A" * 65,
    "A" * 6000,
]
WORDS = [
    "* * * * *",
    "0 3 * * *",
    "*/15 * * * *",
    "*/60 * * * *",
    "5 * * * *",
    "*/7 * * * *",
    "5-59/15 * * * *",
    "1,2,3,10 * * * *",
    "0 9,17 * * 1-5",
    "*/15 9-17 * * 1-5",
    "30 9-17 * * *",
    "0 */6 * * *",
    "0 */2 * * *",
    "15 1-23/3 * * *",
    "* 9 * * *",
    "* 9,11 * * *",
    "10-20 9 * * *",
    "0,30 8-18/2 * * *",
    "5-50/9 1-20/3 * * *",
    "0 0 1 * *",
    "0 0 1-7,15 * *",
    "0 0 */2 * *",
    "0 0 1-31 * *",
    "0 0 31 * *",
    "0 0 29 2 *",
    "0 0 1 * 1",
    "0 0 13 * 5,6",
    "0 0 1-7 3 1-5",
    "0 0 1-31 * 1",
    "0 0 1 * 0-7",
    "0 9 * * 0,6",
    "0 9 * * 5-7",
    "0 0 * * 6,0,1",
    "0 0 * * 7",
    "0 0 1 1,7 *",
    "0 0 * 6-8 *",
    "*/5 * * 1 *",
    "*/5 * * * 1",
    "0 9 * 1 1-5",
    "0 0 1 */2 *",
    "0 0 30 2 *",
    "0 0 30,31 2 *",
    "0 0 31 4,6 *",
]
CHANGES = [
    ("America/New_York", "2025-03-01", "2025-11-30", "30 2 * * *"),
    ("America/New_York", "2025-03-01", "2025-11-30", "*/20 2,3 * * *"),
    ("America/New_York", "2025-03-01", "2025-11-30", "30 1 * * *"),
    ("America/New_York", "2025-03-01", "2025-11-30", "*/5 * * * *"),
    ("America/New_York", "2025-03-01", "2025-11-30", "0 12 * * *"),
    ("Australia/Lord_Howe", "2025-03-01", "2025-11-30", "45 1,2 * * *"),
    ("America/Havana", "2025-03-01", "2025-11-30", "15 0 * * *"),
    ("Africa/Cairo", "2025-03-01", "2025-11-30", "30 23,0 * * *"),
    ("Europe/Dublin", "2025-03-01", "2025-11-30", "30 1 * * 0"),
    ("Africa/Casablanca", "2025-01-01", "2025-12-31", "30 2 * * *"),
    ("Pacific/Apia", "2011-12-01", "2012-02-01", "0 10 * * *"),
    ("UTC", "2025-03-01", "2025-11-30", "30 2 * * *"),
]
POLICIES: tuple[Policy, ...] = ("defer-once", "every-match")


def files() -> Iterator[tuple[Path, bytes]]:
    """Each golden file and what it should hold."""
    for name in TEXTS:
        yield FOLDER / name, rendered(name)


def rendered(name: str) -> bytes:
    """What one golden file should hold."""
    return ("\n".join(TEXTS[name]()) + "\n").encode()


def _shown(text: str) -> str:
    plain = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return f"[{plain}]" if len(plain) < 100 else f"[{plain[:40]}… {len(plain)} characters]"


def _diagnoses() -> Iterator[str]:
    vectors = (FOLDER / "cron_grammar.jsonl").read_text(encoding="utf-8").splitlines()
    for text in [vector["expression"] for vector in map(json.loads, vectors) if not vector["ok"]] + BAD:
        yield _shown(text)
        found = faults(text)
        for fault in found:
            yield f"  {fault.code} {fault.column}-{fault.end_column} {fault.field or 'whole'}: {fault.message}"
            yield f"      {fault.hint}"
        repaired = text
        for fault in reversed(found):
            repaired = repaired[: fault.column - 1] + (fault.fix or "") + repaired[fault.end_column - 1 :]
        if all(fault.fix is not None for fault in found):
            parse(repaired)
            yield f"      = {_shown(normalise(repaired))}"


def _zones() -> Iterator[str]:
    for name in ZONES:
        yield _shown(name)
        for offsets in (False, True):
            yield f"  {'Cogover' if offsets else 'site'}: {_zone(name, offsets)}"


def _zone(name: str, offsets: bool) -> str:
    try:
        return f"= {zone(name, offsets=offsets).name}"
    except ZoneError as error:
        return f"{error.message}\n      {error.hint}"


def _words() -> Iterator[str]:
    for text in WORDS:
        yield f"{text:24} {describe(parse(text))}"


def _changes() -> Iterator[str]:
    for name, first, last, text in CHANGES:
        start, end = (to_minute(datetime.fromisoformat(day + "T00:00Z")) for day in (first, last))
        for policy in POLICIES:
            calendar = Calendar(parse(text), zone(name), policy)
            yield f"{text} in {name}, {policy}"
            for effect in calendar.clock_effects(start, end):
                yield f"  {isoformat(effect.minute)} {effect.kind} {len(effect.wall)}: {effect.sentence}"
                for fire in calendar.marked(effect.minute - 70, 12):
                    if fire.note and fire.minute <= effect.minute + 61:
                        wall, label = local(fire.minute, calendar.zone)
                        yield f"    {isoformat(fire.minute)} = {wall:%H:%M} {label} {fire.kind}: {fire.note}"


TEXTS = {"diagnoses.txt": _diagnoses, "zones.txt": _zones, "words.txt": _words, "changes.txt": _changes}
