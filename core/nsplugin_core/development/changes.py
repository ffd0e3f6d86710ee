"""Waits for a plugin's files to change."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from watchfiles import watch

LOOK_MS: Final = 500
_SUFFIXES: Final = (".py", ".toml")
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "dist", "build", "venv", "site-packages"})


def changes(folders: Sequence[Path], stop: threading.Event) -> Iterator[bool]:
    """Forever until ``stop``: whether something changed in the last moment. What changes meanwhile comes next."""
    looks = watch(
        *folders,
        watch_filter=lambda change, path: counts(Path(path), folders),
        step=50,
        debounce=300,
        rust_timeout=LOOK_MS,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=False,
    )
    return (bool(found) for found in looks)


def counts(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a change of that file can change a plugin: its code or a project file, in no folder that tools fill."""
    if path.suffix not in _SUFFIXES:
        return False
    inside = next((path.relative_to(folder).parts[:-1] for folder in folders if path.is_relative_to(folder)), ())
    return not any(part in _SKIPPED or part.startswith(".") for part in inside)
