"""Finds the modules of a repository that its Python files import, by name alone: nothing is imported."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Final

from nsplugin_cli.source.python_text import MAX_BYTES

_SOURCES: Final = ("", "src")
"""Where, below a folder, top-level packages lie."""


def read_file(path: str) -> bytes | None:
    """The bytes of a regular file of at most 1 MiB, else ``None``."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    return data if len(data) <= MAX_BYTES else None


class Repository:
    """A :data:`~nsplugin_cli.source.definition.Resolve` over the files below ``root``.

    A relative import starts at the importing file's package. An absolute one is looked for in the importing file's folder and in
    each folder above it up to the root, and in ``src`` below these. Files outside the root, also by a link, are not the repository's.
    """

    def __init__(self, root: str, read: Callable[[str], bytes | None] = read_file) -> None:
        self.root = os.path.realpath(root)
        self._read = read
        self._found: dict[tuple[str, str], tuple[str, bytes] | None] = {}

    def __call__(self, importer: str, dotted: str) -> tuple[str, bytes] | None:
        """Path and bytes of the module that ``dotted`` names in the file ``importer``."""
        folder = os.path.dirname(importer)
        key = (folder, dotted)
        if key not in self._found:
            self._found[key] = self._find(folder, dotted)
        return self._found[key]

    def _find(self, folder: str, dotted: str) -> tuple[str, bytes] | None:
        name = dotted.lstrip(".")
        level = len(dotted) - len(name)
        parts = [part for part in name.split(".") if part]
        if level:
            base = os.path.normpath(os.path.join(folder, *([os.pardir] * (level - 1))))
            return self._in(base, parts)
        for base in self._upwards(folder):
            found = self._in(base, parts)
            if found is not None:
                return found
        return None

    def _upwards(self, folder: str) -> list[str]:
        bases: list[str] = []
        current = PurePosixPath(folder or ".")
        while True:
            bases += [os.path.normpath(current / below) for below in _SOURCES]
            at_root = os.path.realpath(current) == self.root
            if at_root or current == current.parent or not self._is_inside(str(current)):
                return bases
            current = current.parent

    def _in(self, base: str, parts: list[str]) -> tuple[str, bytes] | None:
        path = os.path.join(base, *parts)
        candidates = [os.path.join(path, "__init__.py"), *([path + ".py"] if parts else [])]
        for candidate in candidates:
            if os.path.isfile(candidate) and self._is_inside(candidate):
                data = self._read(candidate)
                if data is not None:
                    return candidate, data
        return None

    def _is_inside(self, path: str) -> bool:
        real = os.path.realpath(path)
        return real == self.root or real.startswith(self.root.rstrip(os.sep) + os.sep)
