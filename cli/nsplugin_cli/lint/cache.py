"""Verdicts of earlier runs, by content: they count only while everything that they rest on is the same.

A pack holds the verdicts on the files of one folder, by one tool: its version, code, libraries and interpreter. A verdict's key
is made of the file's name, its bytes and the project file's settings; and it counts only if every import that was followed, or
led nowhere, still does so, to the same bytes. What cannot be read counts as absent. The text is JSON: a pack that somebody else
put there can at worst be wrong, and runs nothing. No link in the cache's place is followed: git stores links, so a change that
is sent for review may bring some.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from nsplugin.lazy import pattern
from nsplugin.record import names, values
from nsplugin.rules._family import Problem
from nsplugin.rules.subject import today
from nsplugin.spans import Span
from nsplugin_cli import __version__, regular_file
from nsplugin_cli.facts import Ignore
from nsplugin_cli.lint.examining import Asked, Task, Verdict, answer, digest, repository
from nsplugin_cli.lint.judging import Judged

FOLDER: Final = ".nsplugin_cache"
MAX_VERDICTS: Final = 5_000
"""So many verdicts a folder are kept, the last used ones."""
MAX_VERSIONS: Final = 3
"""So many versions of the tool keep their packs side by side."""
MAX_BYTES: Final = 16 << 20
"""A larger pack is neither written nor read: what it takes in memory is twenty times its size."""
_LIBRARIES: Final = ("tree_sitter", "tree_sitter_typescript", "tree_sitter_javascript", "tzdata", "jsonschema", "regex")
_MARKS: Final = {".gitignore": "*\n", "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"}
_LEAST_FIELDS: Final = ("code", "name", "severity", "pointer", "message")
_VERSION: Final = pattern(r"lint-[0-9a-f]{32}")
_LAST: Final = 1 << 21
"""No line or column of a file that is read is higher."""


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
        return bool(self._pack((task.root, os.path.dirname(task.path))))

    def look_up(self, task: Task, data: bytes) -> Verdict | None:
        """The verdict on these bytes, if there is one and all that it rests on is as it was."""
        place = task.root, os.path.dirname(task.path)
        key = self._key(task, digest(data))
        entry = self._pack(place).get(key)
        if entry is None:
            return None
        try:
            verdict = _verdict(entry, task.root)
            if verdict.judged.day not in (None, today()) or not all(self._holds(task, asked) for asked in verdict.asked):
                return None
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, OSError):
            return None
        self._used.setdefault(place, {})[key] = entry
        return verdict

    def store(self, task: Task, verdict: Verdict) -> None:
        """Note a verdict, but for one that an extra could change."""
        if verdict.judged.lacking:
            return
        place = task.root, os.path.dirname(task.path)
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
        text = json.dumps(kept, separators=(",", ":"))
        if len(text) > MAX_BYTES:
            return
        path = _file(*place)
        _make(os.path.dirname(path))
        regular_file.put(path, text.encode())

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
        place = task.root, os.path.dirname(asked.importer), asked.module
        if place not in self._answers:
            self._answers[place] = answer(repository(asked.importer, task.root), asked.importer, asked.module)
        return self._answers[place] == (asked.path, asked.digest)


def _file(root: str, folder: str) -> str:
    name = digest(os.path.relpath(folder, root).encode("utf-8", "surrogateescape"))
    return os.path.join(root, FOLDER, f"lint-{fingerprint()}", f"{name}.json")


def _is_folder(path: str) -> bool:
    """Whether a folder itself lies there, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _make(folder: str) -> None:
    """Make the folder of this tool's packs; of those that other versions left, the newest stay."""
    around = os.path.dirname(folder)
    if _is_folder(around) and _is_folder(folder):
        return
    for each in (around, folder):
        with contextlib.suppress(FileExistsError):
            os.mkdir(each)
        if not _is_folder(each):
            raise NotADirectoryError(each)
    for name, text in _MARKS.items():
        _mark(os.path.join(around, name), text)
    beside = [os.path.join(around, name) for name in os.listdir(around)]
    versions = sorted(filter(_holds_packs, beside), key=lambda each: os.lstat(each).st_mtime_ns)
    for old in versions[:-MAX_VERSIONS]:
        _remove(old)


def _mark(path: str, text: str) -> None:
    """Write a file that is not there yet. ``x`` writes through no link, not even to where nothing is."""
    with contextlib.suppress(FileExistsError), open(path, "x", encoding="utf-8") as file:
        file.write(text)


def _holds_packs(folder: str) -> bool:
    """Whether a version of this tool made the folder, so that nothing is lost with it."""
    if not _VERSION.fullmatch(os.path.basename(folder)) or not _is_folder(folder):
        return False
    with os.scandir(folder) as entries:
        return all(
            entry.is_file(follow_symlinks=False) and entry.name.endswith((".json", regular_file.NEW)) for entry in entries
        )


def _remove(folder: str) -> None:
    with contextlib.suppress(OSError):  # another run may use it, or remove it too
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
        os.rmdir(folder)


def _read(path: str) -> dict[str, Any]:
    folder = os.path.dirname(path)
    if not _is_folder(os.path.dirname(folder)) or not _is_folder(folder):
        return {}
    try:
        data = regular_file.read(path, MAX_BYTES + 1, follow=False)
        value = json.loads(data) if len(data) <= MAX_BYTES else None
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
        [[_below(root, path), list(span)] for path, span in judged.named],
    ]


def _verdict(entry: list[Any], root: str) -> Verdict:
    own, definitions, problems, ignores, asked, day, named = entry
    if not isinstance(definitions, int) or not isinstance(day, int | None):
        raise TypeError
    judged = Judged(
        problems=tuple(_problem(each, root) for each in problems),
        ignores=tuple(_ignore(*each) for each in ignores),
        definitions=definitions,
        day=day,
        named=tuple((_at(root, path) or "", _span(span)) for path, span in named),
    )
    return Verdict(own, judged, tuple(_asked(root, each) for each in asked))


def _asked(root: str, fields: list[Any]) -> Asked:
    importer, module, path, sha = fields
    return Asked(_at(root, importer) or "", _text(module), _at(root, path), sha)


def _problem_as_json(problem: Problem, root: str) -> dict[str, Any]:
    fields = {name: getattr(problem, name) for name in names(Problem)}
    fields["path"] = _below(root, problem.path)
    return {name: value for name, value in fields.items() if value is not None or name in _LEAST_FIELDS}


@cache
def _rules() -> dict[str, tuple[str, str]]:
    """Name and severity of each rule, by code."""
    from nsplugin_cli.catalogue import rules  # what it is made of is loaded anyway, to judge

    return {rule.code: (rule.name, rule.severity) for rule in rules()}


def _problem(fields: dict[str, Any], root: str) -> Problem:
    if _rules()[fields["code"]] != (fields["name"], fields["severity"]):
        raise ValueError
    read: dict[str, Any] = {name: _READERS[name](value) if name in _READERS else _text(value) for name, value in fields.items()}
    read["path"] = _at(root, fields.get("path"))
    return Problem(**read)


def _ignore(span: list[int], codes: list[Any], fault: str | None) -> Ignore:
    found = tuple((_text(code), _span(place)) for code, place in codes)
    return Ignore(codes=found, span=_span(span), fault=None if fault is None else _text(fault))


def _span(numbers: list[int]) -> Span:
    span = Span(*(_number(each, 1) for each in numbers))
    if span[2:] < span[:2]:
        raise ValueError
    return span


def _number(value: Any, least: int = 0) -> int:
    if not isinstance(value, int) or not least <= value <= _LAST:
        raise ValueError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


_READERS: Final[dict[str, Callable[[Any], Any]]] = {"span": _span, "start": _number, "end": _number}


def _below(root: str, path: str | None) -> str | None:
    return None if path is None else os.path.relpath(path, root)


def _at(root: str, path: str | None) -> str | None:
    """The path below the root. Raises :class:`ValueError` for one that leaves it."""
    if path is None:
        return None
    inside = os.path.normpath(path)
    if inside.split("/")[0] in ("", ".."):
        raise ValueError
    return os.path.join(root, inside)
