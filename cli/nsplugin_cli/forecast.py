"""What ``next`` answers: one expression as a report, or a stream of questions, one JSON object a line (spec/sdk.md Batch)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Final

from nsplugin import cron
from nsplugin.nearest import closest
from nsplugin.platforms import NAMES, Platform, load
from nsplugin.record import record
from nsplugin.spans import Position, Span, SpanMap
from nsplugin.wording import found, listed
from nsplugin_cli import project
from nsplugin_cli.diagnostic import Diagnostic, Report, WrongCall, ordered

EXPRESSION: Final = "expression"
"""What reports name instead of a file."""
MANIFEST_VERSION: Final = 1
SHOWN_OTHERWISE: Final = ("NSP210", "NSP211")
"""What clock changes do stands beside the fires themselves; and there is no job that could overlap."""
MAX_LINE: Final = 1 << 16
MAX_COUNT: Final = 10_000


@record
class Asked:
    """What the options ask for; lines of a batch may say otherwise. ``after`` is a minute since the epoch."""

    timezone: str | None
    platform: str
    count: int
    after: int


@record(kw_only=False)
class Refusal(Exception):
    """Why a line has no answer: its error object."""

    error: dict[str, Any]


def asked(folder: Path, *, timezone: str | None, platform: str | None, count: int, after: datetime | None) -> Asked:
    """The options, completed by the nearest project file where they leave zone or platform open."""
    own = project.find(str(folder)) if timezone is None or platform is None else None
    if own is not None and own.faults:
        raise WrongCall(f"{own.file}: {own.faults[0].message}")
    minute = cron.to_minute(after or datetime.now(UTC))
    own = own or project.Project(folder=str(folder))
    return Asked(
        timezone=timezone or own.get("timezone"),
        platform=platform or own.get("platform") or NAMES[0],
        count=count,
        after=minute,
    )


def report(expression: str, options: Asked) -> Report:
    """The expression as the one schedule of a manifest, checked. Raises :class:`WrongCall` for a wrong or missing zone."""
    expression = expression.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # bytes that are no text
    platform = load(options.platform)
    timezone = _checked_zone(options, platform)
    from nsplugin.preinstall import check_manifest

    pointer, raw = _MANIFESTS[platform.layout.schedules](expression, timezone)
    whole = {"manifestVersion": MANIFEST_VERSION, "platform": platform.name, "id": "next", "entry": "next:next", **raw}
    verdict = check_manifest(whole, timezone=_site(timezone), now=cron.to_datetime(options.after), count=options.count)
    places = [Position(1, column) for column in range(1, len(expression) + 2)]
    spans = SpanMap(values={pointer: Span(*places[0], *places[-1])}, texts={pointer: places})
    problems = [problem for problem in verdict.problems if problem.pointer == pointer and problem.code not in SHOWN_OTHERWISE]
    return Report(
        command="next",
        files=1,
        diagnostics=ordered(Diagnostic.of(problem.placed(spans), EXPRESSION) for problem in problems),
        schedules=verdict.schedules,
        sources={EXPRESSION: expression},
    )


def _site(timezone: str) -> str:
    """The zone as a site's, so that there is no other clock to show; a fixed offset is none, and UTC is shown anyway."""
    try:
        return cron.zone(timezone).name
    except cron.ZoneError:
        return "UTC"


def _checked_zone(options: Asked, platform: Platform) -> str:
    if options.timezone is None:
        raise WrongCall("--timezone is missing: say whose clock the schedule follows, such as --timezone Europe/Berlin")
    try:
        return cron.zone(options.timezone, offsets=platform.cron.fixed_offsets).name
    except cron.ZoneError as error:
        raise WrongCall(f"--timezone: {error}") from error


def _in_list(expression: str, timezone: str) -> tuple[str, dict[str, Any]]:
    return "/cron/0/schedule", {"jobs": {"next": {}}, "cron": [{"schedule": expression, "job": "next"}]}


def _in_job(expression: str, timezone: str) -> tuple[str, dict[str, Any]]:
    return "/jobs/0/schedule/cron", {"jobs": [{"key": "next", "schedule": {"cron": expression, "timezone": timezone}}]}


_MANIFESTS: Final = {"list": _in_list, "in-job": _in_job}


def answer_lines(lines: IO[bytes], options: Asked) -> int:
    """Answer each line as it comes; 1 when any of them is an error, else 0."""
    failed = False
    for line in _lines(lines):
        answer = _answer(line, options)
        failed = failed or "error" in answer
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()
    return int(failed)


def _lines(lines: IO[bytes]) -> Iterator[bytes]:
    """The lines, each cut to one byte more than is read; what a longer one holds beyond that is skipped."""
    while line := lines.readline(MAX_LINE + 1):
        yield line
        while line and not line.endswith(b"\n"):
            line = lines.readline(MAX_LINE)


def _answer(line: bytes, options: Asked) -> dict[str, Any]:
    try:
        question = _question(line)
        platform = load(question.get("platform", options.platform))
        calendar = _calendar(question["expression"], question.get("timezone", options.timezone), platform)
        after = _minute(question["after"]) if "after" in question else options.after
        fires = calendar.fires(after, question.get("count", options.count))
    except Refusal as refusal:
        return {"error": refusal.error}
    return {"fires": list(map(cron.isoformat, fires))}


def _question(line: bytes) -> dict[str, Any]:
    value = _object(line)
    for key, item in value.items():
        if key not in _KEYS:
            meant = closest(key, _KEYS)
            raise _refusal("NSP006", f"there is no key `{key}`", f"did you mean `{meant}`?" if meant else None)
        wanted = _KEYS[key](item)
        if wanted is not None:
            raise _refusal("NSP007", f"`{key}` must be {wanted}, not {found(item, 'json')}")
    if "expression" not in value:
        raise _refusal("NSP008", "`expression` is missing")
    return value


def _object(line: bytes) -> dict[str, Any]:
    from nsplugin.reading import read

    document = read(line, limit=MAX_LINE)
    if document.problems:
        problem = document.problems[0]
        raise _refusal(problem.code, problem.message)
    if not isinstance(document.value, dict):
        raise _refusal("NSP007", f"the line must be an object, not {found(document.value, 'json')}")
    return document.value


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else "a string"


def _platform(value: Any) -> str | None:
    return None if value in NAMES else listed(NAMES, "or")


def _count(value: Any) -> str | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_COUNT
    return None if fits else f"an integer from 1 to {MAX_COUNT}"


_KEYS: Final[Mapping[str, Callable[[Any], str | None]]] = {
    "expression": _text,
    "timezone": _text,
    "after": _text,
    "platform": _platform,
    "count": _count,
}


@lru_cache(maxsize=1024)
def _calendar(expression: str, timezone: str | None, platform: Platform) -> cron.Calendar:
    if timezone is None:
        raise _refusal("NSP008", "`timezone` is missing", "give it in the line or with --timezone")
    for fault in cron.faults(expression):
        raise _refusal(fault.code, fault.message, fault.hint, field=fault.field, column=fault.column)
    length = len(cron.normalise(expression))
    if length > platform.cron.max_length:
        raise _refusal("NSP205", f"the expression has {length} characters, at most {platform.cron.max_length} are allowed")
    try:
        zone = cron.zone(timezone, offsets=platform.cron.fixed_offsets)
    except cron.ZoneError as error:
        raise _refusal("NSP206", error.message, error.hint) from error
    return cron.Calendar(cron.parse(expression), zone, platform.cron.clock_change)


def _minute(text: str) -> int:
    try:
        return cron.to_minute(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        raise _refusal("NSP007", "`after` must be a time with its offset, such as 2026-03-08T07:00Z") from None


def _refusal(code: str, message: str, hint: str | None = None, **place: Any) -> Refusal:
    error = {"code": code, "message": message, **({"hint": hint} if hint else {}), **place}
    return Refusal({key: value for key, value in error.items() if value is not None})
