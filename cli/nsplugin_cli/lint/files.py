"""Which files ``lint`` reads: those named, and below folders the sources that git does not ignore."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from nsplugin.record import record
from nsplugin_cli import regular_file
from nsplugin_cli.lint.judging import SUFFIXES
from nsplugin_cli.project import FILE_NAMES
from nsplugin_cli.source.discover import SKIPPED
from nsplugin_cli.source.folders import walk

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_FOLDERS: Final = 200_000
MAX_BYTES: Final = 1 << 20
"""So much of a ``.gitignore`` is read."""
_DECLARATIONS: Final = (".d.ts", ".d.mts", ".d.cts")


@record(kw_only=False)
class _Ignored:
    """The patterns of one ``.gitignore`` and the folder that they are relative to."""

    folder: str
    spec: GitIgnoreSpec

    def says(self, path: str, *, folder: bool) -> bool | None:
        """Whether the patterns ignore or keep a path; ``None`` when they do not speak of it."""
        relative = os.path.relpath(path, self.folder).replace(os.sep, "/") + ("/" if folder else "")
        return self.spec.check_file(relative).include


def sources(paths: Iterable[str], skipped: Callable[[str, str], None]) -> Iterator[str]:
    """The files to read, each once: those named, whatever they are but project files, and the sources below the folders.

    ``skipped`` is told of a folder that is not looked at, and why.
    """
    seen: set[str] = set()
    for path in paths:
        named = () if os.path.basename(path) in FILE_NAMES else (path,)
        for file in _below(path, skipped) if os.path.isdir(path) else named:
            if file not in seen:
                seen.add(file)
                yield file


def _below(folder: str, skipped: Callable[[str, str], None]) -> Iterator[str]:
    """Walks without following links, so that a loop of links is no loop here."""
    rules = {folder: _above(folder)}
    for name, inner, files in walk(folder, MAX_FOLDERS, skipped):
        own = [*rules.pop(name, ()), *_read(name, files)]
        inner[:] = sorted(each for each in inner if not _skipped(each) and not _ignored(own, f"{name}/{each}", folder=True))
        rules.update((os.path.join(name, each), tuple(own)) for each in inner)
        for file in sorted(files):
            if _is_source(file) and not _ignored(own, f"{name}/{file}", folder=False):
                yield os.path.join(name, file)


def _skipped(name: str) -> bool:
    return name in SKIPPED or name.startswith(".")


def _is_source(name: str) -> bool:
    lower = name.lower()
    return lower.endswith(SUFFIXES) and not lower.endswith(_DECLARATIONS)


def _above(folder: str) -> tuple[_Ignored, ...]:
    """The ``.gitignore`` files between a folder and the root of its repository, outermost first."""
    found: list[_Ignored] = []
    child, parent = "", os.path.abspath(folder)  # realpath() would follow links
    while not os.path.exists(os.path.join(parent, ".git")):
        child, parent = parent, os.path.dirname(parent)
        if parent == child:
            return ()
        found[:0] = _read(parent, (".gitignore",))
    return tuple(found)


def _read(folder: str, files: Iterable[str]) -> Iterator[_Ignored]:
    if ".gitignore" not in files:
        return
    try:
        data = regular_file.read(os.path.join(folder, ".gitignore"), MAX_BYTES)
    except OSError:
        return
    from nsplugin_cli import git_patterns

    yield _Ignored(folder, git_patterns.spec(data.decode("utf-8", "replace").splitlines()))


def _ignored(rules: Iterable[_Ignored], path: str, *, folder: bool) -> bool:
    """The innermost file that speaks of a path decides, as in git."""
    verdicts = (rule.says(path, folder=folder) for rule in reversed(tuple(rules)))
    return next((verdict for verdict in verdicts if verdict is not None), False)
