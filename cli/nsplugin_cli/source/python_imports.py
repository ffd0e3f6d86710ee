"""Finds the modules of a repository that its Python files import, by name alone: nothing is imported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Final

from nsplugin_cli.source.python_text import MAX_BYTES

_SOURCES: Final = (".", "src")
"""Where, below a folder, top-level packages lie."""
MAX_UPWARDS: Final = 30


def read_file(path: str | os.PathLike[str]) -> bytes | None:
    """The bytes of a file of at most 1 MiB, else ``None``."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    return data if len(data) <= MAX_BYTES else None


class Repository:
    """A :data:`~nsplugin_cli.source.definition.Resolve` over the files below ``root``.

    A relative import starts at the importing file's package. An absolute one is looked for in that file's folder and in each
    above it up to the root, and in ``src`` below these. What lies outside the root, also by a link, is not found.
    """

    def __init__(self, root: str | os.PathLike[str], read: Callable[[str], bytes | None] = read_file) -> None:
        self.root = os.path.realpath(root)
        self._read = read
        self._found: dict[tuple[str, str], tuple[str, bytes] | None] = {}

    def __call__(self, importer: str, dotted: str) -> tuple[str, bytes] | None:
        """Path and bytes of the module that ``dotted`` names in the file ``importer``."""
        key = (os.path.dirname(importer), dotted)
        if key not in self._found:
            self._found[key] = self._find(*key)
        return self._found[key]

    def _find(self, folder: str, dotted: str) -> tuple[str, bytes] | None:
        name = dotted.lstrip(".")
        level = len(dotted) - len(name)
        bases = [_above(folder, level - 1)] if level else self._upwards(folder)
        found = (self._module(base, [part for part in name.split(".") if part]) for base in bases)
        return next((each for each in found if each is not None), None)

    def _upwards(self, folder: str) -> Iterator[str]:
        for level in range(MAX_UPWARDS):
            current = _above(folder, level)
            if not self._is_inside(current):
                return
            yield from (os.path.join(current, below) for below in _SOURCES)

    def _module(self, base: str, parts: list[str]) -> tuple[str, bytes] | None:
        path = os.path.normpath(os.path.join(base, *parts))
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


def _above(folder: str, levels: int) -> str:
    """The folder so many levels up, in the style of the path that was given: relative stays relative where it can."""
    return os.path.normpath(os.path.join(folder, *[os.pardir] * levels))
