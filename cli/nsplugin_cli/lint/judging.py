"""Judges source files without running them: reading, rules over manifest and facts. One file in, plain findings out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from nsplugin.platforms import Platform, load
from nsplugin.pointers import UNKNOWN
from nsplugin.record import record, replace
from nsplugin.rules import check, ordered
from nsplugin.rules._family import Problem
from nsplugin.rules.identity import problem as identified
from nsplugin.rules.subject import today
from nsplugin.spans import Span
from nsplugin_cli.facts import Ignore
from nsplugin_cli.rules import family
from nsplugin_cli.rules.subject import SourceSubject
from nsplugin_cli.source.definition import Resolve, SourceDefinition, SourceFile
from nsplugin_cli.source.discover import TYPESCRIPT

MANIFEST_VERSION: Final = 1
SUFFIXES: Final = (".py", *TYPESCRIPT)
_PLAIN: Final = ("definePlugin", "defineJob")

_NOTHING: Final[Mapping[str, Any]] = {}


@record(kw_only=False)
class Setting:
    """What the project file says that the rules need: ``id``, ``version``, the site's time zone.

    ``path``, ``spans``: the file, and where in it the values stand. ``entry``: the entry's file, if there is one; ``module``,
    ``wanted``: its module's name, and the attributes that may hold the definition; ``sure``: whether it must hold one.
    """

    identity: Mapping[str, Any] = _NOTHING
    timezone: str | None = None
    path: str | None = None
    spans: Mapping[str, Span] = _NOTHING
    entry: str | None = None
    module: str = ""
    wanted: tuple[str, ...] = ()
    sure: bool = False


@record(kw_only=False)
class Judged:
    """The findings of one file, each placed, before any selection; its ignores; how many definitions it holds.

    ``lacking``: it is TypeScript, and the extra that reads it is not installed. ``day``: the only day on which the verdict is
    good (:func:`~nsplugin.rules.subject.today`), where schedules were judged by the clock changes ahead. ``named``: where in
    other files those names of jobs stand that were held against all that this file declares (NSP304).
    """

    problems: tuple[Problem, ...] = ()
    ignores: tuple[Ignore, ...] = ()
    definitions: int = 0
    lacking: bool = False
    day: int | None = None
    named: tuple[tuple[str, Span], ...] = ()


def judge(data: bytes, path: str, setting: Setting, resolve: Resolve | None) -> Judged:
    """Read and judge one file. Never raises on bad input, never runs or imports what it reads."""
    try:
        file = read_source(data, path, resolve, setting.wanted if path == setting.entry else ())
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("tree_sitter"):
            raise
        return Judged(lacking=mentions_definer(data))
    if file.unreadable is not None:
        return Judged(problems=(identified("NSP003", file.unreadable),), ignores=file.ignores)
    definitions = [each for each in file.definitions if file.instead is None or each.attribute not in setting.wanted]
    subjects = [(definition, _subject(definition, setting)) for definition in definitions]
    found = [problem for definition, subject in subjects for problem in _judged(definition, subject, setting)]
    if file.lacks and (setting.sure or file.definitions):
        found.append(_not_defined(file, setting))
    if file.instead is not None:
        found.append(_holds_other(*file.instead))
    dated = any(_has_clock(definition, setting) for definition in file.definitions)
    named = [place for _, subject in subjects if subject.facts.enqueues for place in _named_elsewhere(subject, file.path)]
    return Judged(tuple(found), file.ignores, len(file.definitions), day=today() if dated else None, named=tuple(named))


def _has_clock(definition: SourceDefinition, setting: Setting) -> bool:
    """Whether the rules know the time zone of a schedule, so that they look at its clock changes."""
    layout = load(definition.platform).layout
    return layout.schedules == "in-job" or (setting.timezone is not None and "cron" in definition.raw)


def _not_defined(file: SourceFile, setting: Setting) -> Problem:
    from nsplugin_cli.missing_definition import FIRST_LINE, not_defined

    others = [definition for definition in file.definitions if definition.attribute is not None]
    other = min(others, key=lambda definition: definition.call, default=None)
    if other is None:
        return not_defined(setting.module, setting.wanted, None, FIRST_LINE)
    return not_defined(setting.module, setting.wanted, other.attribute, other.call)


def _holds_other(platform: str, held: str, span: Span) -> Problem:
    from nsplugin_cli.missing_definition import holds_other

    return holds_other(load(platform), held, span)


def read_source(data: bytes, path: str, resolve: Resolve | None, wanted: tuple[str, ...] = ()) -> SourceFile:
    """The file as its language's reader sees it. ``wanted``: the attributes that an entry is to have."""
    if not path.lower().endswith(TYPESCRIPT):
        from nsplugin_cli.source.python import read_python

        return read_python(data, path, resolve, wanted)
    if not mentions_definer(data) and not _may_list_jobs(data):
        return _other_source(data, path)
    from nsplugin_cli.source.typescript import read_typescript

    return read_typescript(data, path, resolve)


def _other_source(data: bytes, path: str) -> SourceFile:
    """A file that defines nothing, unless its encoding hides it."""
    from nsplugin_cli.source.typescript_bytes import Unreadable, decode, is_utf_16

    try:
        if is_utf_16(data):
            decode(data)
    except Unreadable as unreadable:
        return SourceFile(path=path, unreadable=unreadable.fault)
    return SourceFile(path=path)


def _may_list_jobs(data: bytes) -> bool:
    from nsplugin_cli.source.typescript_lists import may_list_jobs  # here: its expressions take time to compile

    return may_list_jobs(data)


def mentions_definer(data: bytes) -> bool:
    """Whether a TypeScript file can define anything; of the others only lists of jobs are looked at."""
    return any(name.encode() in data for name in _PLAIN)


def _subject(definition: SourceDefinition, setting: Setting) -> SourceSubject:
    platform = load(definition.platform)
    return SourceSubject(
        raw=_whole(definition, platform, setting),
        platform=platform,
        origin="json" if definition.path.lower().endswith(TYPESCRIPT) else "python",
        timezone=setting.timezone,
        now=today(),
        handlers=definition.handlers,
        facts=definition.facts,
    )


def _named_elsewhere(subject: SourceSubject, path: str) -> Iterator[tuple[str, Span]]:
    for call in subject.facts.enqueues if subject.job_names is not None else ():
        if call.path != path and call.job is not None:
            yield call.path, call.job.span


def _judged(definition: SourceDefinition, subject: SourceSubject, setting: Setting) -> Iterator[Problem]:
    twice = _contradictions(definition, setting) if definition.path == setting.entry and setting.identity else ()
    calls = _enqueued(subject) if definition.facts.enqueues else ()
    for problem in ordered([*definition.problems, *check(subject), *family.check(subject), *calls, *twice]):
        key = problem.pointer[1:]
        given = None if isinstance(definition.raw, Mapping) and key in definition.raw else setting.spans.get(key)
        yield problem.placed(definition.spans) if given is None else replace(problem, span=given, path=setting.path)


def _enqueued(subject: SourceSubject) -> Iterable[Problem]:
    from nsplugin_cli.rules.enqueue_arguments import problems

    return problems(subject)


def _contradictions(definition: SourceDefinition, setting: Setting) -> Iterable[Problem]:
    if definition.attribute not in setting.wanted or setting.identity.keys().isdisjoint(definition.raw):
        return ()
    from nsplugin.definition.identity import contradictions

    return contradictions(definition.raw, setting.identity)


def _whole(definition: SourceDefinition, platform: Platform, setting: Setting) -> dict[Any, Any]:
    """The raw manifest, completed by what the project file gives and by what only a build can tell."""
    given = {"manifestVersion": MANIFEST_VERSION, "platform": platform.name, "entry": UNKNOWN}
    loose = definition.attribute is None or definition.path.lower().endswith(TYPESCRIPT)
    identity = {**({"id": UNKNOWN} if loose else {}), **setting.identity}
    raw: Mapping[Any, Any] = definition.raw if isinstance(definition.raw, Mapping) else {UNKNOWN: UNKNOWN}
    jobs = raw.get("jobs")
    if isinstance(jobs, list) and setting.entry not in (None, definition.path):
        raw = {**raw, "jobs": [*jobs, UNKNOWN]}  # a part, perhaps, of the list that the entry holds
    return {**given, **identity, **raw}
