"""Waits for files to change."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from nsplugin_cli.lint.cache import FOLDER
from nsplugin_cli.lint.judging import SUFFIXES
from nsplugin_cli.project import FILE_NAMES
from nsplugin_cli.source.discover import SKIPPED


def changes(paths: Iterable[Path]) -> Iterator[None]:
    """One item each time that something changed which a run would read, until Ctrl-C."""
    from watchfiles import watch

    folders = {path if os.path.isdir(path) else path.parent for path in paths}
    for _ in watch(*sorted(folders), watch_filter=lambda change, path: counts(path), step=50, debounce=400):
        yield


def counts(path: str) -> bool:
    """Whether a change of that file can change what a run finds."""
    *folders, name = Path(path).parts
    inside = not any(folder in SKIPPED or folder == FOLDER or folder == ".git" for folder in folders)
    return inside and (name.lower().endswith(SUFFIXES) or name in (*FILE_NAMES, ".gitignore"))
