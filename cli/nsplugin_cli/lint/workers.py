"""Judging many files at once, in processes: only when there is enough to judge that they pay.

The processes are forked, and each writes its verdicts to a pipe of its own. Nothing is shared that one could hold locked, so
Ctrl-C ends all of them at once, and those whose parent was killed end at their next write. ``concurrent.futures`` can promise
neither (docs/decisions/0009-lint.md), and takes as long to import as thirty files to judge.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any, Final

from nsplugin_cli.lint.examining import Task, UnreadFile, Verdict, examine, read

PAYS: Final = 40
"""So many files take as long as starting the processes."""
_LITTER: Final = 64
"""So many files may be done before the memory of their trees is given back."""
_CHUNK: Final = 16
"""So many verdicts are sent at once."""

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
    """One process that dies takes only its own files along: what nobody has answered at the end is judged here."""
    import signal

    left = dict(enumerate(tasks))
    children: dict[int, IO[bytes]] = {}
    try:
        for start in range(processes):
            number, answers = _child(tasks, range(start, len(tasks), processes), children.values())
            children[number] = answers
        for index, found in _answers(children.values()):
            yield left.pop(index), found
    finally:
        for number, answers in children.items():
            answers.close()
            os.kill(number, signal.SIGKILL)  # until it is waited for, the number is its own
            os.waitpid(number, 0)
    yield from map(result, left.values())


def _child(tasks: Sequence[Task], mine: Sequence[int], others: Iterable[IO[bytes]]) -> tuple[int, IO[bytes]]:
    """Start a process for these of the tasks; its number, and where its answers are read."""
    import signal

    reading, writing = os.pipe()
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # or Ctrl-C finds a process that is not ready to end at it
    number = os.fork()
    if number:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.close(writing)
        return number, os.fdopen(reading, "rb")
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.close(reading)
        for each in others:
            each.close()
        _work(tasks, mine, writing)
    finally:
        os._exit(0)  # what the parent has in hand, buffers and locks, is not this process's to finish
    raise AssertionError


def _work(tasks: Sequence[Task], mine: Sequence[int], writing: int) -> None:
    import pickle

    answers = zip(mine, _one_by_one([tasks[number] for number in mine]), strict=True)
    with os.fdopen(writing, "wb") as pipe:
        while some := list(islice(answers, _CHUNK)):
            pickle.dump([(number, found) for number, (_, found) in some], pipe, pickle.HIGHEST_PROTOCOL)
            pipe.flush()


def _answers(pipes: Iterable[IO[bytes]]) -> Iterator[tuple[int, Any]]:
    """What the processes say, as it comes, until each has said all or has died in the middle of it."""
    import pickle
    import selectors

    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                try:
                    yield from pickle.load(key.fileobj)  # type: ignore[arg-type]
                except (EOFError, OSError, pickle.UnpicklingError):
                    selector.unregister(key.fileobj)


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
