"""Waiting without guessing how long: for a condition, and for the end of processes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 30.0
"""Seconds after which a test that waits gives up; nothing takes so long but a fault."""


def until(condition: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """Wait until a condition is true, and return what it gives."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.005)


def ended(*pids: int) -> bool:
    """Whether these processes have all ended, also when nobody has reaped them yet."""
    return all(_stat(pid)[:1] in ([], ["Z"], ["X"]) for pid in pids)


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    parents = {int(path.name): _stat(int(path.name))[1:2] for path in Path("/proc").glob("[0-9]*")}
    found = [pid]
    for known in found:
        found.extend(child for child, parent in parents.items() if parent == [str(known)])
    return found[1:]


def _stat(pid: int) -> list[str]:
    """What the kernel says of a process from its state on; nothing where there is none."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return []
