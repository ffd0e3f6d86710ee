"""Several processes judge many files: whatever happens to one of them, every file is judged and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from lint_world import plugin
from nsplugin_cli.lint import workers
from nsplugin_cli.lint.examining import Task, Verdict
from nsplugin_cli.lint.judging import Setting

FILES = 600


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for number in range(FILES):
        (tmp_path / f"plugin_{number}.py").write_text(plugin() * 5)
    return tmp_path


def children(parent: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def started(repository: Path) -> tuple[subprocess.Popen[bytes], list[int]]:
    """A run whose processes are at work."""
    command = [sys.executable, "-m", "nsplugin_cli", "lint", "--no-cache"]
    run = subprocess.Popen(command, cwd=repository, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    end = time.monotonic() + 30
    while time.monotonic() < end and run.poll() is None:
        found = children(run.pid)
        if len(found) >= 2:
            return run, found
        time.sleep(0.005)
    raise AssertionError("no processes were started")


def gone(numbers: list[int], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while any(Path(f"/proc/{number}").exists() for number in numbers):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


needs_two_cores = pytest.mark.skipif(
    not Path("/proc/self/task").exists() or len(os.sched_getaffinity(0)) < 2, reason="needs /proc and two cores"
)


@needs_two_cores
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_nobody_outlives_a_parent_that_is_killed(repository: Path, sign: signal.Signals) -> None:
    run, numbers = started(repository)
    os.kill(run.pid, sign)
    run.communicate(timeout=20)
    assert gone(numbers)


@needs_two_cores
@pytest.mark.parametrize("wait", [0.0, 0.05, 0.1, 0.2])
def test_interrupted_it_ends_at_once(repository: Path, wait: float) -> None:
    run, numbers = started(repository)
    time.sleep(wait)
    os.killpg(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=20)
    assert run.returncode in (0, 130) and err == b"" and gone(numbers)


def tasks(repository: Path) -> list[Task]:
    return [Task(str(path), str(repository), Setting()) for path in sorted(repository.iterdir())]


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_the_files_of_a_process_that_dies_are_judged_all_the_same(
    repository: Path, monkeypatch: pytest.MonkeyPatch, deaths: int
) -> None:
    parent, examine = os.getpid(), workers.examine
    fatal = [str(repository / f"plugin_{number}.py") for number in (100, 101)][:deaths]

    def deadly(task: Task, data: bytes) -> Verdict:
        if task.path in fatal and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return examine(task, data)

    monkeypatch.setattr(workers, "examine", deadly)
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    wanted = tasks(repository)
    found = list(workers.results(wanted))
    assert sorted(task.path for task, _ in found) == [task.path for task in wanted]
    assert all(isinstance(answer, Verdict) and answer.judged.definitions for _, answer in found)


def test_a_run_that_is_left_early_leaves_nobody_behind(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    before = children(os.getpid())
    with closing(cast("Generator[object]", workers.results(tasks(repository)))) as running:
        for _ in range(3):
            next(running)
    assert children(os.getpid()) == before
