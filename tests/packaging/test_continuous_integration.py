"""``.ci/run`` around a pytest that ends in every way: what is run again, what the exit code is, and what is said at the end."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import source_tree

FIRST = "FAILED tests/test_a.py::test_flaky - assert 1 == 2"
PYTEST = """#!/bin/sh
printf '%s\\n' "$*" >> calls
n=$(wc -l < calls)
[ ! -e .pytest_cache/v/cache/lastfailed ] || [ "$n" != 1 ] || echo stale >> calls
{ [ "$n" = 1 ] && cat first; } || cat second
exit $(sed -n "${n}p" codes)
"""
QUIET = ("make", "git", "pg_isready", "chromium")
"""Programs that the script calls and that have nothing to do here: they succeed."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with the script, an old note of what failed, and programs that stand in for the real ones."""
    programs = {f"bin/{name}": "#!/bin/sh\n" for name in QUIET} | {".venv/bin/pytest": PYTEST}
    notes = {
        ".pytest_cache/v/cache/lastfailed": "{}",
        "first": f"{FIRST}\n1 failed, 9 passed in 2.00s\n",
        "second": "1 passed in 1.00s\n",
    }
    for name, text in {**programs, **notes}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    (tmp_path / ".ci").mkdir()
    shutil.copy(source_tree.ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    return tmp_path


def run(tree: Path, *codes: int) -> tuple[int, list[str], list[str]]:
    """The script, while pytest ends with these codes in turn: its exit code, its last lines, how pytest was called."""
    (tree / "codes").write_text("".join(f"{code}\n" for code in codes), encoding="utf-8")
    environment = {**os.environ, "PATH": f"{tree / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", ".ci/run"], cwd=tree, capture_output=True, text=True, timeout=60, env=environment)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines(), (tree / "calls").read_text(encoding="utf-8").splitlines()


ALL = "-n auto --dist loadfile"
AGAIN = "--last-failed --last-failed-no-failures none -n 0"


def test_a_good_run_is_made_once(tree: Path) -> None:
    code, said, calls = run(tree, 0)
    assert (code, said[-1], calls) == (0, "1 failed, 9 passed in 2.00s", [ALL])


def test_failed_tests_run_once_more_and_are_listed_at_the_end(tree: Path) -> None:
    code, said, calls = run(tree, 1, 0)
    assert (code, calls) == (0, [ALL, AGAIN])
    assert said[-3:] == ["Ran twice, as they failed at first:", FIRST, "1 passed in 1.00s"]


def test_what_fails_twice_fails(tree: Path) -> None:
    code, said, calls = run(tree, 1, 1)
    assert (code, calls) == (1, [ALL, AGAIN])
    assert said[-3:-1] == ["Ran twice, as they failed at first:", FIRST]


@pytest.mark.parametrize("code", [2, 3, 4, 5, 139])
def test_a_run_that_broke_off_is_not_mended_by_a_few_tests(tree: Path, code: int) -> None:
    """Interrupted, an internal error, a wrong call, nothing collected, a crash: most tests may never have run."""
    assert run(tree, code, 0)[::2] == (1, [ALL])
