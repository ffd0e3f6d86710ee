"""What a project's ``tsconfig.json`` says of module names that are no relative paths: ``paths`` and ``baseUrl``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from nsplugin.record import field, record

_NAMES: Final = ("tsconfig.json", "jsconfig.json")
_EXTENDS: Final = 8
_BESIDE_JSON: Final = re.compile(
    r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*(?:.*?\*/|.*)|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL
)
"""Comments and trailing commas, which these files may have; the group keeps strings as they are."""


@record(kw_only=False)
class Aliases:
    """``paths``: patterns with at most one ``*``, and the places that each stands for; ``base``: where other names start."""

    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    base: str | None = None

    def places(self, written: str) -> Iterator[str]:
        """Where the module of that name may lie, as the compiler would look."""
        matches = [pattern for pattern in self.paths if _matched(pattern, written) is not None]
        if matches:
            pattern = max(matches, key=lambda each: (each == written, len(each.partition("*")[0])))
            inner = _matched(pattern, written) or ""
            yield from (place.replace("*", inner, 1) for place in self.paths[pattern])
        elif self.base is not None:
            yield os.path.join(self.base, written)  # the name may hold anything


def _matched(pattern: str, written: str) -> str | None:
    """What the ``*`` of a pattern stands for in a name that it fits, else ``None``."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if pattern == written else None
    fits = len(written) >= len(before) + len(after) and written.startswith(before) and written.endswith(after)
    return written[len(before) : len(written) - len(after)] if fits else None


class Projects:
    """The aliases that count in each folder: those of the nearest configuration, up to ``root``."""

    def __init__(self, root: Path, read: Callable[[Path], bytes | None]) -> None:
        self._root = root
        self._read = read
        self._found: dict[Path, Aliases] = {}

    def of(self, folder: Path) -> Aliases:
        """The aliases for files of a folder (an absolute path)."""
        if folder not in self._found:
            self._found[folder] = self._look(folder)
        return self._found[folder]

    def _look(self, folder: Path) -> Aliases:
        if not folder.is_relative_to(self._root):
            return Aliases()
        for name in _NAMES:
            if (folder / name).is_file():
                return self._aliases(folder / name, _EXTENDS)
        return self.of(folder.parent)

    def _aliases(self, path: Path, further: int) -> Aliases:
        config = self._config(path)
        inherited = [self._aliases(other, further - 1) for other in _extended(path, config)] if further else []
        options = config.get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        base = next((each.base for each in reversed(inherited) if each.base is not None), None)
        if isinstance(options.get("baseUrl"), str):
            base = os.path.normpath(path.parent / options["baseUrl"])
        if not isinstance(options.get("paths"), dict):
            return Aliases(next((each.paths for each in reversed(inherited) if each.paths), {}), base)
        start = path.parent if base is None else Path(base)
        return Aliases({str(name): _places(start, places) for name, places in options["paths"].items()}, base)

    def _config(self, path: Path) -> dict[str, Any]:
        data = self._read(path) if path.resolve().is_relative_to(self._root) else None
        try:
            text = (data or b"").decode("utf-8-sig")
            value = json.loads(_BESIDE_JSON.sub(lambda match: match[1] or "", text))
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def _extended(path: Path, config: dict[str, Any]) -> Iterator[Path]:
    """The configurations of the repository that one builds on; packages are not looked into."""
    extends = config.get("extends")
    for name in extends if isinstance(extends, list) else [extends]:
        if isinstance(name, str) and name.startswith("."):
            yield path.parent / (name if name.endswith(".json") else f"{name}.json")


def _places(start: Path, places: Any) -> tuple[str, ...]:
    listed = places if isinstance(places, list) else []
    return tuple(str(start / place) for place in listed if isinstance(place, str))
