"""A progress bar for long runs: on standard error, on a terminal only, and only when there is something to wait for."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

ItemT = TypeVar("ItemT")
PATIENCE = 1.0
"""Seconds before a bar appears: a run that is over by then shows none."""


def track(items: Sequence[ItemT], label: str) -> Iterator[ItemT]:
    """The items, one after another, with a bar below which nothing is left when they are done."""
    yield from _shown(items, label) if len(items) > 1 and sys.stderr.isatty() else items


def _shown(items: Sequence[ItemT], label: str) -> Iterator[ItemT]:
    start = time.monotonic()
    bar: Progress | None = None
    try:
        for done, item in enumerate(items):
            if bar is None and time.monotonic() - start > PATIENCE:
                bar = _bar(label, len(items))
            if bar is not None:
                bar.update(bar.task_ids[0], completed=done)
            yield item
    finally:
        if bar is not None:
            bar.stop()


def _bar(label: str, total: int) -> Progress:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task(label, total=total)
    bar.start()
    return bar
