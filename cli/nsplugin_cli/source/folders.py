"""Walks folders as ``os.walk`` does, but as deep as they are (it recurses in Python 3.11), and says what was left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator


def walk(folder: str, most: int, skipped: Callable[[str, str], None]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder with the names of its folders, which may be changed to lead the walk, and of its files.

    Links to folders are left out. ``skipped`` is told of a folder that is not looked at, and why; after ``most`` of them the
    walk ends.
    """
    left, count = [folder], 0
    while left:
        name = left.pop()
        count += 1
        if count > most:
            skipped(name, f"it and what follows it come after {most:,} folders, the most that are looked at")
            return
        try:
            inner, files = _listed(name)
        except OSError as error:
            skipped(name, error.strerror or str(error))
            continue
        yield name, inner, files
        left.extend(os.path.join(name, each) for each in reversed(inner))


def _listed(folder: str) -> tuple[list[str], list[str]]:
    inner: list[str] = []
    files: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not _is_folder(entry):
                files.append(entry.name)
            elif not entry.is_symlink():
                inner.append(entry.name)
    return inner, files


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads round
        return False
