"""The check before an installation, which hosts import as a hook: a manifest's problems, and when its schedules will fire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nsplugin.canonical import digest as digest_of
from nsplugin.canonical import json_size
from nsplugin.cron import (
    Calendar,
    Expression,
    Fire,
    Policy,
    Zone,
    ZoneError,
    describe,
    isoformat,
    never_fires,
    to_minute,
    zone,
)
from nsplugin.cron import local as wall_clock
from nsplugin.detach import MAX_VALUES, TooLarge, Unreadable, detach, entries, scalar
from nsplugin.errors import plain
from nsplugin.findings import problem
from nsplugin.handler_objects import describe as describe_value
from nsplugin.json_limits import TEXT_BYTES
from nsplugin.payload import not_json
from nsplugin.platforms import CronPolicy
from nsplugin.reading import Document, read
from nsplugin.rules import check, judge
from nsplugin.rules.identity import problem as identified
from nsplugin.rules.subject import ABSENT, ScheduleView, Subject
from nsplugin.second_opinion import objection
from nsplugin.structure import platform_of

if TYPE_CHECKING:
    from nsplugin.rules import Problem

MAX_COUNT: Final = 1000
"""The most next fires that are listed for one schedule."""

_LOOK_AHEAD: Final = 366 * 24 * 60
"""How far ahead clock changes are looked at, in minutes."""

_LOOKED_AT: Final = 1_000
"""For how many different schedules of one manifest the next fires are told, for the same reason."""

_SECOND_OPINIONS: Final = 200
"""For how many schedules of one manifest the second engine is asked, so that no manifest takes long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FireReport:
    """One fire, as an instant and on two clocks.

    ``utc``: ``"2026-12-01T19:00:00Z"``. ``local``: the clock that the schedule follows, ``"2026-12-02 02:00 UTC+07:00"``.
    ``site``: the site's clock, ``"2026-12-01 14:00 EST"``; the same one unless schedules have time zones of their own.
    ``note``: what a clock change does to this fire, ``None`` when nothing.
    """

    utc: str
    local: str
    site: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleReport:
    """One schedule of the manifest: where it stands, what it says, and its next fires.

    ``pointer``: RFC 6901, into the manifest. ``expression``: normalised. ``timezone``: whose clock it follows. ``words``: the
    schedule as a person says it. ``changes``: what clock changes within a year defer, drop or repeat, a sentence each. Of one
    manifest, ``fires`` and ``changes`` are told of 1,000 different schedules; those of further ones are empty.
    """

    pointer: str
    expression: str
    timezone: str
    words: str
    fires: tuple[FireReport, ...]
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a check found: plain frozen data.

    ``problems``: every finding, with line and column for a manifest that was given as text. ``platform``, ``id``, ``digest``
    (``"sha256:…"``): the manifest's, ``None`` where they could not be read. ``schedules``: those that could be understood.
    """

    problems: tuple[Problem, ...] = ()
    platform: str | None = None
    id: str | None = None
    digest: str | None = None
    schedules: tuple[ScheduleReport, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the manifest may be installed: no finding is an error."""
        return all(problem.severity != "error" for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON data."""
        return {
            "ok": self.ok,
            "platform": self.platform,
            "id": self.id,
            "digest": self.digest,
            "problems": [_plain_problem(problem) for problem in self.problems],
            "schedules": [_plain_schedule(schedule) for schedule in self.schedules],
        }


def check_manifest(
    source: bytes | bytearray | memoryview | str | Mapping[str, Any],
    *,
    timezone: str,
    now: datetime | None = None,
    count: int = 3,
    digest: str | None = None,
) -> Report:
    """Check a manifest before it is installed, and say when its schedules will fire.

    ``source``: the manifest's bytes, text, or its JSON data; at most 1 MiB. ``timezone``: the site's, an IANA id. ``now``: from
    when on, an aware datetime (a naive one is taken as UTC), default the present. ``count``: how many next fires to list for
    each schedule, 0–1000. ``digest``: what the manifest's digest must be.

    Never raises on bad input: what is wrong with any argument is a problem in the report, at the pointer "" where it is not in
    the manifest. Nothing that a manifest names is imported, run, opened or fetched.
    """
    given, asked = _given(source), _asked(timezone, now, count)
    if given.problems:
        return Report(problems=(*asked.problems, *given.problems, *_meant(given, asked)))
    report = _judged(given.value, asked)
    found = [*asked.problems, *_compared(report.digest, digest), *report.problems]
    return replace(report, problems=tuple(given.placed(problem) for problem in found))


def _meant(given: _Given, asked: _Asked) -> Iterator[Problem]:
    """What the rules find in the sure parts of a faulty text of a known platform, so that all is told in one run."""
    if given.document is None:
        return
    platform, found = judge(given.value, timezone=None if asked.site is None else asked.site.name, now=asked.after)
    yield from map(given.placed, found) if platform is not None else ()


@dataclass(frozen=True, slots=True)
class _Given:
    """A source as JSON data, or why it is none; ``document`` knows the places when it was text."""

    value: Any = None
    problems: tuple[Problem, ...] = ()
    document: Document | None = None

    def placed(self, problem: Problem) -> Problem:
        return problem if self.document is None else problem.placed(self.document.spans)


def _given(source: Any) -> _Given:
    if isinstance(source, (bytearray, memoryview)):
        try:
            source = bytes(source)
        except ValueError:
            return _refused("the buffer cannot be read: it was released")
    if isinstance(source, (bytes, str)):
        document = read(source)
        return _Given(document.value, document.problems, document)
    found = entries(source)
    if found is None:
        return _refused(f"bytes, text or a mapping hold a manifest, not {describe_value(source).described}")
    if isinstance(found, Unreadable):
        return _refused(f"the mapping cannot be read: {found.reason}")
    try:
        value = detach({scalar(key): item for key, item in found})
    except TooLarge:
        return _refused(f"the manifest holds more than {MAX_VALUES:,} values")
    return _Given(value, tuple(_no_manifest(value)))


def _refused(message: str) -> _Given:
    return _Given(problems=(problem("NSP601", "", message),))


def _no_manifest(value: dict[str, Any]) -> Iterator[Problem]:
    """What keeps Python data from being a manifest's JSON (spec/manifest.md M6)."""
    faults = [identified("NSP601", found) for found in not_json(value, "")]
    yield from faults
    if not faults and json_size(value) > TEXT_BYTES:
        yield problem("NSP601", "", f"the manifest has more than {TEXT_BYTES:,} bytes")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the call asks for. ``site`` and ``after`` are ``None`` where the call is wrong: then there is no outlook."""

    site: Zone | None
    after: int | None
    count: int
    problems: tuple[Problem, ...]


def _asked(timezone: Any, now: Any, count: Any) -> _Asked:
    problems: list[Problem] = []
    after = _minute(now)
    if after is None:
        shown = "one whose time zone fails" if isinstance(now, datetime) else describe_value(now).described
        problems.append(problem("NSP007", "", f"now must be a datetime, not {shown}"))
    number = count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MAX_COUNT else None
    if number is None:
        message = f"count must be an integer from 0 to {MAX_COUNT:,}, not {describe_value(count).described}"
        problems.append(problem("NSP007", "", message))
    try:
        site = _site(timezone)
    except ZoneError as error:
        site = None
        problems.append(problem("NSP206", "", f"the site's time zone: {error.message}", error.hint))
    return _Asked(site, after, number or 0, tuple(problems))


def _site(timezone: Any) -> Zone:
    if isinstance(timezone, str):
        return zone(timezone)
    raise ZoneError(f"it must be an IANA id, not {describe_value(timezone).described}", 'for example timezone="UTC"')


def _minute(now: Any) -> int | None:
    if now is None:
        return to_minute(datetime.now(UTC))
    if not isinstance(now, datetime):
        return None
    try:
        return to_minute(now if now.utcoffset() is not None else now.replace(tzinfo=UTC))
    except Exception:  # the time zone is the caller's own class
        return None


def _compared(actual: str | None, wanted: Any) -> Iterator[Problem]:
    if wanted is not None and not isinstance(wanted, str):
        yield problem("NSP007", "", f"digest must be text, not {describe_value(wanted).described}", 'for example "sha256:…"')
        return
    if wanted is None or actual is None or str.__eq__(wanted, actual):
        return
    digest = len(wanted) == len(actual) and wanted.isprintable()
    shown = wanted if digest else describe_value(wanted).described
    message = f"the manifest's digest is {actual}, not {shown}"
    yield problem("NSP603", "", message, "the manifest was changed after it was built, or the digest is that of another build")


def _judged(raw: Any, asked: _Asked) -> Report:
    platform, problems = platform_of(raw)
    name = raw.get("id") if isinstance(raw, dict) else None
    report = Report(id=name if isinstance(name, str) else None, digest=digest_of(raw))
    if platform is None:
        return replace(report, problems=tuple(problems))
    site, after = asked.site, asked.after
    subject = Subject(raw=raw, platform=platform, timezone=None if site is None else site.name, now=after)
    report = replace(report, platform=platform.name, problems=tuple(check(subject)))
    if site is None or after is None:
        return report
    outlook = _Outlook(platform.cron, site, after, asked.count)
    schedules = tuple(filter(None, map(outlook.of, subject.schedules)))
    return replace(report, problems=(*report.problems, *outlook.problems), schedules=schedules)


@dataclass(slots=True)
class _Outlook:
    """The next fires of one manifest's schedules, and what speaks against them that the rules do not know."""

    policy: CronPolicy
    site: Zone
    after: int
    count: int
    problems: list[Problem] = field(default_factory=list)
    asked: int = 0
    met: set[tuple[Expression, Zone]] = field(default_factory=set)

    def of(self, view: ScheduleView) -> ScheduleReport | None:
        """The report on one schedule; ``None`` for one that the rules refuse."""
        expression, own = view.parsed, self._zone(view)
        if expression is None or never_fires(expression) or own is None:
            return None
        self.met.add((expression, own))
        if len(self.met) > _LOOKED_AT:
            return ScheduleReport(
                pointer=view.pointer, expression=expression.text, timezone=own.name, words=describe(expression), fires=()
            )
        ahead = _ahead(expression, own, self.site, self.policy.clock_change, self.after, max(self.count, 1))
        self._doubt(view, expression, bool(ahead.fires))
        return ScheduleReport(
            pointer=view.pointer,
            expression=expression.text,
            timezone=own.name,
            words=ahead.words,
            fires=ahead.fires[: self.count],
            changes=ahead.changes,
        )

    def _zone(self, view: ScheduleView) -> Zone | None:
        if self.policy.time_zone == "site":
            return self.site
        name = self.policy.time_zone_default if view.timezone is ABSENT else view.timezone
        try:
            return zone(name, offsets=self.policy.fixed_offsets) if isinstance(name, str) else None
        except ZoneError:
            return None

    def _doubt(self, view: ScheduleView, expression: Expression, fires: bool) -> None:
        if not fires:
            message = f'"{expression.text}" has no fire after {isoformat(self.after)}'
            self.problems.append(problem("NSP207", view.expression_pointer, message))
            return
        self.asked += 1
        allowed = len(expression.text) <= self.policy.max_length  # what is longer is refused anyway
        against = objection(expression.text) if allowed and self.asked <= _SECOND_OPINIONS else None
        if against is not None:
            message = f'nsplugin finds a next fire of "{expression.text}", but croniter, a second engine, does not: {against}'
            hint = "write the schedule in another way, and please report this as a bug of nsplugin"
            self.problems.append(problem("NSP604", view.expression_pointer, message, hint))


class _Ahead(NamedTuple):
    words: str
    fires: tuple[FireReport, ...]
    changes: tuple[str, ...]


@lru_cache(maxsize=1024)
def _ahead(expression: Expression, own: Zone, site: Zone, policy: Policy, after: int, count: int) -> _Ahead:
    """What comes of a schedule; remembered, since manifests that are checked together often share schedules."""
    calendar = Calendar(expression, own, policy)
    effects = calendar.clock_effects(after, after + _LOOK_AHEAD)
    return _Ahead(
        describe(expression),
        tuple(_fire(fire, own, site) for fire in calendar.marked(after, count)),
        tuple(effect.sentence for effect in effects),
    )


def _fire(fire: Fire, own: Zone, site: Zone) -> FireReport:
    local = _clock(fire.minute, own)
    return FireReport(
        utc=isoformat(fire.minute).replace("Z", ":00Z"),
        local=local,
        site=local if own is site else _clock(fire.minute, site),
        note=fire.note,
    )


def _clock(minute: int, zone: Zone) -> str:
    try:
        wall, name = wall_clock(minute, zone)
    except OverflowError:
        return isoformat(minute)  # that clock shows a day before the year 1 or after 9999
    return f"{wall.isoformat(' ', 'minutes')} {name}"


def _plain_schedule(schedule: ScheduleReport) -> dict[str, Any]:
    fires = [asdict(fire) for fire in schedule.fires]
    return {
        "pointer": schedule.pointer,
        "expression": schedule.expression,
        "timezone": schedule.timezone,
        "words": schedule.words,
        "nextFires": [fire["utc"] for fire in fires],
        "fires": fires,
        "clockChanges": list(schedule.changes),
    }


def _plain_problem(problem: Problem) -> dict[str, Any]:
    span = problem.span
    place = dict(zip(("line", "column", "endLine", "endColumn"), span or (None,) * 4, strict=True))
    return {**plain(problem), **place}
