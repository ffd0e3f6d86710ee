"""THE path: source → raw manifest and spans → problems → diagnostics → report. Commands call it and show what comes out."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from nsplugin.record import field, record
from nsplugin_cli.diagnostic import Diagnostic, PluginReport, Report, WrongCall, ordered
from nsplugin_cli.progress import track

if TYPE_CHECKING:
    from nsplugin.preinstall import Report as Verdict
    from nsplugin.rules._family import Problem
    from nsplugin_cli.destinations import Mode
    from nsplugin_cli.source.discover import Target
    from nsplugin_cli.source.load import Outcome

MAX_BYTES = 1 << 20
STDIN = "-"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class ChildError(Exception):
    """Our own code failed in the child process."""


@record(kw_only=False, frozen=False)
class Run:
    """A report in the making: findings as they come, and the text of the files that they stand in."""

    command: str
    files: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)
    plugins: list[PluginReport] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, problem: Problem, path: str) -> None:
        """Note a finding in the file of that (shown) path."""
        self.diagnostics.append(Diagnostic.of(problem, path))

    def report(self) -> Report:
        """What was found, sorted."""
        return Report(
            command=self.command,
            files=self.files,
            diagnostics=ordered(self.diagnostics),
            plugins=tuple(self.plugins),
            sources=self.texts,
        )


def check(
    names: Sequence[str], *, timezone: str, now: datetime | None = None, count: int = 3, digest: str | None = None
) -> Report:
    """Judge manifests (``-`` is standard input) for a site's time zone. Raises :class:`WrongCall` for a call that is wrong."""
    _check_call(names, timezone, digest)
    from nsplugin.preinstall import check_manifest

    run = Run("check", files=len(names))
    for name in track(names, "checking"):
        data = read_manifest(name)
        verdict = check_manifest(data, timezone=timezone, now=now, count=count, digest=digest)
        _take(run, verdict, "<stdin>" if name == STDIN else name, data)
    return run.report()


def judge(data: bytes, name: str, *, timezone: str, command: str) -> Report:
    """What ``check`` says of a manifest's bytes; ``name`` is how findings call it. Raises :class:`WrongCall`."""
    _check_call([name], timezone, None)
    from nsplugin.preinstall import check_manifest

    run = Run(command, files=1)
    _take(run, check_manifest(data, timezone=timezone), name, data)
    return run.report()


def _check_call(names: Sequence[str], timezone: str, digest: str | None) -> None:
    from nsplugin.cron import ZoneError, zone

    try:
        zone(timezone)
    except ZoneError as error:
        raise WrongCall(f"--timezone: {error}") from error
    if digest is not None and not _DIGEST.fullmatch(digest):
        raise WrongCall(f"--digest: {digest!r} is not sha256: and 64 hexadecimal digits, as build prints it")
    if digest is not None and len(names) > 1:
        raise WrongCall(f"--digest belongs to one manifest, and {len(names)} were given")
    if names.count(STDIN) > 1:
        raise WrongCall("- is standard input, which can be read once: name it once")


def read_manifest(name: str) -> bytes:
    """At most one byte more than a manifest may have; ``-`` is standard input. Raises :class:`WrongCall` for no such file."""
    if name == STDIN:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    try:
        with Path(name).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except IsADirectoryError as error:
        raise WrongCall(f"{name} is a folder: name the manifests in it, such as {name.rstrip('/')}/*.json") from error
    except (OSError, ValueError) as error:
        raise WrongCall(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from error


def _take(run: Run, verdict: Verdict, path: str, data: bytes) -> None:
    for problem in verdict.problems:
        run.add(problem, path)
    if verdict.problems:
        run.texts[path] = data.decode("utf-8", "replace")
    if any(problem.severity == "error" for problem in verdict.problems):
        return
    from nsplugin.platforms import load

    run.plugins.append(
        PluginReport(
            id=verdict.id,
            platform=load(str(verdict.platform)),
            manifest=path,
            digest=verdict.digest,
            schedules=verdict.schedules,
        )
    )


def build(paths: Sequence[Path], *, mode: Mode, out: Path | None, seconds: float) -> Report:
    """Run and judge the plugins at the paths; write their manifests. Raises :class:`WrongCall` for a call that is wrong."""
    from nsplugin_cli.destinations import destinations
    from nsplugin_cli.source.discover import discover

    targets = discover(paths)
    places = destinations(targets, out, mode)
    run = Run("build", files=len(targets))
    for target, place in track(list(zip(targets, places, strict=True)), "building"):
        _build(run, target, place, mode, seconds)
    return run.report()


def _build(run: Run, target: Target, place: Path, mode: Mode, seconds: float) -> None:
    if _refused(run, target):
        return
    from nsplugin_cli.source.load import Request, load

    project = target.project
    outcome = load(
        Request(
            folder=project.folder,
            module=target.module,
            file=target.file,
            attribute=target.attribute,
            platform=project.get("platform"),
            project=project.identity,
            seconds=seconds,
        )
    )
    if outcome.kind == "failed":
        raise ChildError(outcome.detail["error"])
    _show_output(target, outcome)
    fit = outcome.kind == "defined"
    if not fit or outcome.detail["problems"] or outcome.detail["others"]:
        fit = not _add_problems(run, outcome, target, seconds)
    if fit and not _doubted(run, outcome, target):
        _deliver(run, outcome, place, mode)


def _refused(run: Run, target: Target) -> bool:
    """Whether the project file or the missing entry already ends it; notes why."""
    project = target.project
    if not project.faults and target.missing is None:
        return False
    from nsplugin.rules.identity import problem
    from nsplugin_cli.sources import shown

    path = shown(project.file or project.folder)
    for fault in project.faults:
        run.add(problem("NSP001", fault), path)
    if not project.faults and target.missing_entry is not None:
        run.add(problem("NSP002", target.missing_entry), path)
    run.texts[path] = project.text
    return True


def _add_problems(run: Run, outcome: Outcome, target: Target, seconds: float) -> bool:
    """Note what was found; whether any of it is an error."""
    from nsplugin_cli import definition_problems, entry_problems, sources
    from nsplugin_cli.unwanted import without_unwanted

    found = [*without_unwanted(definition_problems.problems(outcome.detail, target), target.project)]
    why = entry_problems.problem(outcome, target, seconds)
    if why is not None:
        found.insert(0, why)
    for path, problem in found:
        name = sources.shown(path)
        run.add(problem, name)
        run.texts.setdefault(name, sources.text(path).source)
    return any(problem.severity == "error" for _, problem in found)


def _show_output(target: Target, outcome: Outcome) -> None:
    for name, stream in (("standard output", outcome.stdout), ("standard error", outcome.stderr)):
        if stream.total:
            from nsplugin_cli import sources, terminal
            from nsplugin_cli.report.text import printed

            terminal.say(printed(sources.shown(target.place), name, stream.text, stream.total - len(stream.kept)))


def _doubted(run: Run, outcome: Outcome, target: Target) -> bool:
    """Whether jsonschema, the second engine, refuses a payload schema that ours takes; notes it."""
    if '"payloadSchema"' not in outcome.detail["manifest"]:
        return False
    import json

    from nsplugin.platforms import load
    from nsplugin.rules._family import Found
    from nsplugin.rules.identity import problem
    from nsplugin.rules.subject import ABSENT, Subject
    from nsplugin.second_opinion import schema_objection
    from nsplugin_cli.sources import shown

    doubted = False
    for job in Subject(raw=json.loads(outcome.detail["manifest"]), platform=load(outcome.detail["platform"])).jobs:
        schema = job.get("payloadSchema")
        against = None if schema is ABSENT else schema_objection(schema)
        if against is not None:
            message = f"nsplugin takes this payload schema, but jsonschema, a second engine, does not: {against}"
            run.add(problem("NSP604", Found(pointer=job.pointer + "/payloadSchema", message=message)), shown(target.place))
            doubted = True
    return doubted


def _deliver(run: Run, outcome: Outcome, place: Path, mode: Mode) -> None:
    from nsplugin.platforms import load
    from nsplugin_cli import destinations
    from nsplugin_cli.sources import shown

    detail = outcome.detail
    content: bytes = detail["manifest"].encode()
    path = shown(place)
    if mode == "check" and (stale := destinations.stale(place, content)) is not None:
        run.add(stale, path)
        return
    note = "written" if mode == "write" and destinations.write(place, content) else "unchanged"
    run.plugins.append(
        PluginReport(
            id=detail["id"],
            platform=load(detail["platform"]),
            version=detail["version"],
            manifest=None if mode == "stdout" else path,
            digest=detail["digest"],
            content=detail["manifest"],
            note=None if mode == "stdout" else note,
        )
    )
