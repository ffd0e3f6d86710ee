"""Judging many files at once, in processes: only when there is enough to judge that they pay."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from nsplugin_cli.lint.examining import Task, UnreadFile, Verdict, examine, read

if TYPE_CHECKING:
    from concurrent.futures import Future

PAYS: Final = 40
"""So many files take as long as starting the processes."""
_CHUNK: Final = 24
_LITTER: Final = 64
"""So many files may be done before the memory of their trees is given back."""

Result = tuple[Task, "Verdict | str"]
"""What came of a file: its verdict, or why it could not be read."""


def results(tasks: Sequence[Task]) -> Iterator[Result]:
    """Judge the files, in any order."""
    processes = min(_cores(), len(tasks) // (PAYS // 2))
    if processes < 2 or not _may_fork():
        yield from _one_by_one(tasks)
        return
    yield result(tasks[0])  # which loads what all of them need, before it is shared
    yield from _at_once(tasks[1:], processes)


def _may_fork() -> bool:
    """A fork copies the locks that other threads hold, and not these threads."""
    import threading

    return hasattr(os, "fork") and threading.active_count() == 1


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def result(task: Task) -> Result:
    """Read and judge one file, here and now."""
    try:
        return task, examine(task, read(task.path))
    except UnreadFile as error:
        return task, str(error)


def _at_once(tasks: Sequence[Task], processes: int) -> Iterator[Result]:
    """Forked processes have all modules already. One that dies takes only its own files along: these are judged here."""
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    chunks = [tasks[start : start + _CHUNK] for start in range(0, len(tasks), _CHUNK)]
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        pending: dict[Future[list[Result]], Sequence[Task]] = {pool.submit(_several, chunk): chunk for chunk in chunks}
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                chunk = pending.pop(future)
                try:
                    yield from future.result()
                except BrokenProcessPool:
                    yield from map(result, chunk)


def _several(tasks: Sequence[Task]) -> list[Result]:
    return list(_one_by_one(tasks))


def _one_by_one(tasks: Iterable[Task]) -> Iterator[Result]:
    """Trees are large and short-lived: to look for garbage while one is made costs more than to make it."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        for number, task in enumerate(tasks):
            yield result(task)
            if number % _LITTER == _LITTER - 1:
                gc.collect()
                gc.freeze()
    finally:
        gc.unfreeze()
        if collecting:
            gc.enable()
