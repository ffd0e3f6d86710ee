"""One ``dev`` a folder: a lock on a file of its state, which ends with the process whatever becomes of it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

NAME: Final = "dev.lock"
IGNORED: Final = "# made by nsplugin: a local core's data\n*\n"
_MOST_BYTES: Final = 32


class FolderTaken(Exception):
    """Another ``dev`` runs on this state."""

    def __init__(self, state: Path, pid: str) -> None:
        who = f"process {pid}" if pid else "another process"
        super().__init__(f"{who} runs `nsplugin dev` here already (its state is {state}); stop it first")


@contextmanager
def locked(state: Path) -> Iterator[None]:
    """Hold the folder's lock; it is made when it is not there. Raises :class:`FolderTaken` and ``OSError``."""
    state.mkdir(parents=True, exist_ok=True)
    ignore = state / ".gitignore"
    if not ignore.exists():
        ignore.write_text(IGNORED, encoding="utf-8")
    descriptor = os.open(state / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderTaken(state, os.read(descriptor, _MOST_BYTES).decode("ascii", "replace").strip()) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)
