"""What ``install`` and ``upgrade`` are given: a plugin's folder, which is built first, or a manifest beside its code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nsplugin.record import record, replace
from nsplugin_cli.diagnostic import Diagnostic, Report, WrongCall, ordered

if TYPE_CHECKING:
    from nsplugin_cli.source.discover import Target

LEVELS_UP: Final = 3
"""How far above a manifest its code is looked for: ``dist/plugin.manifest.json`` lies one folder below it."""


@record
class Candidate:
    """A manifest to install. ``report`` is what building it found; ``folder`` holds the code, where that is known.

    ``timezone`` is that of the project file, if it names one.
    """

    name: str
    manifest: bytes
    folder: Path | None
    report: Report
    timezone: str | None = None


def candidate(path: str, code: Path | None, command: str, seconds: float) -> Candidate | Report:
    """What lies at a path; the report alone when it cannot be built. Raises :class:`WrongCall`."""
    if code is not None and not os.path.isdir(code):
        raise WrongCall(f"--code: {code} is no folder")
    if path == "-" or path.endswith(".json"):
        return _given(path, code, command)
    if not os.path.exists(path):
        raise WrongCall(f"{path} does not exist: name a plugin's folder or a manifest")
    return _built(Path(path), code, command, seconds)


def _given(path: str, code: Path | None, command: str) -> Candidate:
    from nsplugin_cli.pipeline import read_manifest

    data = read_manifest(path)
    beside = None if path == "-" else Path(path).absolute().parent
    folder = code or (None if beside is None else _code_near(beside, data))
    name = "<stdin>" if path == "-" else path
    return Candidate(name=name, manifest=data, folder=folder, report=Report(command=command, files=1))


def _code_near(folder: Path, data: bytes) -> Path | None:
    """The nearest folder, at or above the manifest's, that holds the module of its entry."""
    from nsplugin.reading import read
    from nsplugin_cli.project_keys import entry_parts
    from nsplugin_cli.source.discover import module_file

    raw = read(data).value
    entry = raw.get("entry") if isinstance(raw, dict) else None
    parts = entry_parts(entry) if isinstance(entry, str) else None
    if parts is None:
        return None
    above = (folder, *list(folder.parents)[:LEVELS_UP])
    return next((each for each in above if module_file(each, parts[0]) is not None), None)


def _built(path: Path, code: Path | None, command: str, seconds: float) -> Candidate | Report:
    from nsplugin_cli import pipeline
    from nsplugin_cli.source.discover import discover
    from nsplugin_cli.sources import shown

    targets = discover([path])
    if len(targets) > 1:
        names = ", ".join(shown(target.place) for target in targets)
        raise WrongCall(f"there are {len(targets)} plugins at {path}, and one can be installed at a time: {names}")
    report = replace(pipeline.build([path], mode="stdout", out=None, seconds=seconds), command=command)
    if report.errors or not report.plugins:
        return report
    (target,) = targets
    manifest = (report.plugins[0].content or "").encode()
    folder, timezone = code or Path(target.project.folder), target.project.get("timezone")
    return Candidate(name=_manifest_name(target), manifest=manifest, folder=folder, report=report, timezone=timezone)


def _manifest_name(target: Target) -> str:
    from nsplugin_cli.destinations import destinations
    from nsplugin_cli.sources import shown

    return shown(destinations([target], None, "write")[0])


def judged(found: Candidate, timezone: str) -> Report:
    """What ``check`` says of it for a site's time zone, beside what building it said."""
    from nsplugin_cli.pipeline import judge

    checked = judge(found.manifest, found.name, timezone=timezone, command=found.report.command)
    known = {(each.code, each.pointer) for each in found.report.diagnostics}
    new = [each for each in checked.diagnostics if not _said(each, known)]
    return replace(
        checked,
        diagnostics=ordered([*found.report.diagnostics, *new]),
        sources={**checked.sources, **found.report.sources},
    )


def _said(diagnostic: Diagnostic, known: set[tuple[str, str | None]]) -> bool:
    return (diagnostic.code, diagnostic.pointer) in known
