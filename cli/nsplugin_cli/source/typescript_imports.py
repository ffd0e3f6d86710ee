"""Finds the modules of a repository that its TypeScript files import: nothing is imported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from nsplugin_cli.source.python_imports import read_file
from nsplugin_cli.source.typescript_aliases import Projects

_ENDINGS: Final = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_COMPILED: Final = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}
"""An import names the file that will be there after compiling; its source has another ending."""


class TypeScriptRepository:
    """Resolves imports of files below ``root``; what a link leads out of it is not found. See ``Resolve``.

    Relative paths, and the names that the nearest ``tsconfig.json`` gives to files.
    """

    def __init__(self, root: Path, read: Callable[[Path], bytes | None] = read_file) -> None:
        self.root = root.resolve()
        self._read = read
        self._projects = Projects(self.root, read)
        self._found: dict[tuple[str, str], tuple[str, bytes] | None] = {}

    def __call__(self, importer: str, written: str) -> tuple[str, bytes] | None:
        """Path and bytes of the module that a specifier names in the file ``importer``."""
        key = (os.path.dirname(importer), written)  # keeps the style of the path that was given
        if key not in self._found:
            self._found[key] = self._find(*key)
        return self._found[key]

    def _find(self, folder: str, written: str) -> tuple[str, bytes] | None:
        for candidate in self._candidates(folder, written):
            if os.path.isfile(candidate) and candidate.resolve().is_relative_to(self.root):
                data = self._read(candidate)
                if data is not None:
                    return str(candidate), data
        return None

    def _candidates(self, folder: str, written: str) -> Iterator[Path]:
        if written.startswith("."):
            yield from _candidates(Path(os.path.normpath(os.path.join(folder, written))))
        elif not written.startswith("node:") and "\0" not in written:
            for place in self._projects.of(Path(folder).resolve()).places(written):
                yield from _candidates(Path(os.path.normpath(place)))


def _candidates(path: Path) -> Iterator[Path]:
    """In the order in which the compiler looks: the source of a compiled file, the file as written, endings, an index."""
    if path.suffix in _COMPILED:
        yield from (path.with_suffix(ending) for ending in _COMPILED[path.suffix])
    if path.suffix in _ENDINGS:
        yield path
    yield from (path.with_name(path.name + ending) for ending in _ENDINGS)
    yield from (path / f"index{ending}" for ending in _ENDINGS)
