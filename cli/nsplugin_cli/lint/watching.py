"""Waits for files to change."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from nsplugin_cli.lint.cache import FOLDER
from nsplugin_cli.lint.judging import SUFFIXES
from nsplugin_cli.project import FILE_NAMES
from nsplugin_cli.source.discover import SKIPPED


def changes(paths: Iterable[str]) -> Iterator[None]:
    """One item each time that something changed which a run would read, until Ctrl-C."""
    from watchfiles import watch

    folders = sorted({Path(os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path))) for path in paths})
    for _ in watch(*folders, watch_filter=lambda change, path: counts(Path(path), folders), step=50, debounce=400):
        yield


def counts(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a change of that file can change what a run finds that was asked for these folders."""
    if not path.name.lower().endswith(SUFFIXES) and path.name not in (*FILE_NAMES, ".gitignore"):
        return False
    below = [path.relative_to(folder).parts[:-1] for folder in folders if path.is_relative_to(folder)]
    return any(_SKIPPED.isdisjoint(parts) for parts in below or [()])


_SKIPPED: Final = SKIPPED | {FOLDER, ".git"}
