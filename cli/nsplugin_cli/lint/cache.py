"""Verdicts of earlier runs, by content: they count only while everything that they rest on is the same.

A pack holds the verdicts on the files of one folder, by one tool: its version, code, libraries and interpreter. A verdict's key
is made of the file's name, its bytes and the project file's settings; and it counts only if every import that was followed, or
led nowhere, still does so, to the same bytes. What cannot be read counts as absent. The text is JSON: a pack that somebody else
put there can at worst be wrong, and runs nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from nsplugin.record import names, values
from nsplugin.rules._family import Problem
from nsplugin.rules.subject import today
from nsplugin.spans import Span
from nsplugin_cli import __version__
from nsplugin_cli.facts import Ignore
from nsplugin_cli.lint.examining import Asked, Task, Verdict, answer, digest, repository
from nsplugin_cli.lint.judging import Judged

FOLDER: Final = ".nsplugin_cache"
MAX_VERDICTS: Final = 5_000
"""So many verdicts a folder are kept, the last used ones."""
MAX_VERSIONS: Final = 3
"""So many versions of the tool keep their packs side by side."""
_LIBRARIES: Final = ("tree_sitter", "tree_sitter_typescript", "tree_sitter_javascript", "tzdata", "jsonschema", "regex")
_MARKS: Final = {".gitignore": "*\n", "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"}
_LEAST_FIELDS: Final = ("code", "name", "severity", "pointer", "message")


@cache
def fingerprint() -> str:
    """The tool itself: its version and code, the libraries that it judges by, the interpreter."""
    parts = [__version__, sys.version]
    for name in ("nsplugin", "nsplugin_cli", "nsplugin_schemas", *_LIBRARIES):
        spec = find_spec(name)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            parts.extend(stamps(folder, deep=name.startswith("nsplugin")))
    return digest("\0".join(parts).encode("utf-8", "surrogatepass"))


def stamps(folder: str, *, deep: bool) -> Iterator[str]:
    """Path, size and time of each file."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_file() and not entry.name.endswith(".pyc"):
                stat = entry.stat()
                yield f"{entry.path}\0{stat.st_size}\0{stat.st_mtime_ns}"
            elif deep and entry.is_dir() and entry.name not in ("__pycache__", "templates"):
                yield from stamps(entry.path, deep=True)


class Cache:
    """The verdicts of one run. Nothing here fails: what cannot be read is absent, what cannot be written is lost."""

    def __init__(self) -> None:
        self._packs: dict[tuple[str, str], dict[str, Any]] = {}
        self._used: dict[tuple[str, str], dict[str, Any]] = {}
        self._changed: set[tuple[str, str]] = set()
        self._settings: dict[str, str] = {}
        self._answers: dict[tuple[str, str, str], tuple[str | None, str | None]] = {}

    def may_know(self, task: Task) -> bool:
        """Whether there is any verdict on a file of that folder, so that it is worth reading this one."""
        return bool(self._pack((task.root, os.path.dirname(task.path))))  # noqa: PTH120

    def look_up(self, task: Task, data: bytes) -> Verdict | None:
        """The verdict on these bytes, if there is one and all that it rests on is as it was."""
        place = task.root, os.path.dirname(task.path)  # noqa: PTH120
        key = self._key(task, digest(data))
        entry = self._pack(place).get(key)
        if entry is None:
            return None
        try:
            verdict = _verdict(entry, task.root)
            if verdict.judged.day not in (None, today()) or not all(self._holds(task, asked) for asked in verdict.asked):
                return None
        except (TypeError, ValueError, KeyError, AttributeError, IndexError):
            return None
        self._used.setdefault(place, {})[key] = entry
        return verdict

    def store(self, task: Task, verdict: Verdict) -> None:
        """Note a verdict, but for one that an extra could change."""
        if verdict.judged.lacking:
            return
        place = task.root, os.path.dirname(task.path)  # noqa: PTH120
        self._used.setdefault(place, {})[self._key(task, verdict.digest)] = _entry(verdict, task.root)
        self._changed.add(place)

    def save(self) -> None:
        """Write the packs that have changed, each whole and at once, so that nobody ever reads half of one."""
        for place in self._changed:
            with contextlib.suppress(OSError):
                self._write(place)

    def _write(self, place: tuple[str, str]) -> None:
        used = self._used[place]
        earlier = {key: entry for key, entry in _read(_file(*place)).items() if key not in used}
        kept = dict(list({**earlier, **used}.items())[-MAX_VERDICTS:])
        path = _file(*place)
        _make(path.parent)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".new")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(kept, file, separators=(",", ":"))
            os.replace(temporary, path)  # noqa: PTH105
        except BaseException:
            os.unlink(temporary)  # noqa: PTH108
            raise

    def _pack(self, place: tuple[str, str]) -> dict[str, Any]:
        if place not in self._packs:
            self._packs[place] = _read(_file(*place))
        return self._packs[place]

    def _key(self, task: Task, sha: str) -> str:
        folder, name = os.path.split(task.path)
        if folder not in self._settings:
            parts = [part.removeprefix(task.root) if isinstance(part, str) else part for part in values(task.setting)]
            self._settings[folder] = digest(json.dumps(parts, default=repr).encode("utf-8", "surrogatepass"))
        return f"{name}\0{sha}\0{self._settings[folder]}"

    def _holds(self, task: Task, asked: Asked) -> bool:
        """Whether an import leads where it led. One answer serves all files of a folder: it depends on no more than that."""
        place = task.root, os.path.dirname(asked.importer), asked.module  # noqa: PTH120
        if place not in self._answers:
            self._answers[place] = answer(repository(asked.importer, task.root), asked.importer, asked.module)
        return self._answers[place] == (asked.path, asked.digest)


def _file(root: str, folder: str) -> Path:
    name = digest(os.path.relpath(folder, root).encode("utf-8", "surrogateescape"))
    return Path(root, FOLDER, f"lint-{fingerprint()}", f"{name}.json")


def _make(folder: Path) -> None:
    """Make the folder of this tool's packs; of those that other versions left, the newest stay."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in _MARKS.items():
        (folder.parent / name).write_text(text, encoding="utf-8")
    versions = sorted(folder.parent.glob("lint-*"), key=lambda each: each.stat().st_mtime_ns)
    for old in versions[:-MAX_VERSIONS]:
        shutil.rmtree(old, ignore_errors=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _entry(verdict: Verdict, root: str) -> list[Any]:
    judged = verdict.judged
    return [
        verdict.digest,
        judged.definitions,
        [_problem_as_json(problem, root) for problem in judged.problems],
        [[list(ignore.span), [[code, list(span)] for code, span in ignore.codes], ignore.fault] for ignore in judged.ignores],
        [[_below(root, asked.importer), asked.module, _below(root, asked.path), asked.digest] for asked in verdict.asked],
        judged.day,
    ]


def _verdict(entry: list[Any], root: str) -> Verdict:
    own, definitions, problems, ignores, asked, day = entry
    judged = Judged(
        problems=tuple(_problem(each, root) for each in problems),
        ignores=tuple(_ignore(*each) for each in ignores),
        definitions=definitions,
        day=day,
    )
    return Verdict(own, judged, tuple(Asked(_at(root, by) or "", name, _at(root, path), sha) for by, name, path, sha in asked))


def _problem_as_json(problem: Problem, root: str) -> dict[str, Any]:
    fields = {name: getattr(problem, name) for name in names(Problem)}
    fields["path"] = _below(root, problem.path)
    return {name: value for name, value in fields.items() if value is not None or name in _LEAST_FIELDS}


def _problem(fields: dict[str, Any], root: str) -> Problem:
    span = fields.get("span")
    return Problem(**{**fields, "span": None if span is None else Span(*span), "path": _at(root, fields.get("path"))})


def _ignore(span: list[int], codes: list[Any], fault: str | None) -> Ignore:
    return Ignore(codes=tuple((code, Span(*place)) for code, place in codes), span=Span(*span), fault=fault)


def _below(root: str, path: str | None) -> str | None:
    return None if path is None else os.path.relpath(path, root)


def _at(root: str, path: str | None) -> str | None:
    return None if path is None else os.path.normpath(os.path.join(root, path))  # noqa: PTH118
