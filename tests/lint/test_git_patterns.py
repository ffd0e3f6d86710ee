"""Patterns of ``.gitignore`` and of ``per-file-ignores``: what pathspec finds, in bounded time."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from nsplugin_cli import git_patterns

PIECES = ("a", "b", "*", "?", "/", "**", "**/", "/**/", "[ab]", r"\*", ".")
PATTERNS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join)
PATHS = st.lists(st.text("ab.*", min_size=1, max_size=6), min_size=1, max_size=5).map("/".join)
SLOW = (
    ("*a" * 12 + "*b", "a" * 250),
    ("**/a/" * 20 + "b", "a/" * 200 + "c"),
    ("?" + "[!b]*" * 20 + "Z", "a" * 250),
    ("**/*a*a*a*/" * 8 + "b", "/".join(["a" * 30] * 60)),
    ("*a" * 100_000, "a" * 250),
)


@settings(max_examples=400)
@given(PATTERNS, PATHS)
@example("a*b*a", "aabba")
@example("**/a/**/b/**/a", "a/b/b/a")
@example("a/**/b*a", "a/a/ba/b")
def test_they_find_what_pathspec_finds(pattern: str, path: str) -> None:
    try:
        theirs = GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        assert not git_patterns.is_pattern(pattern)
        return
    assert git_patterns.spec([pattern]).check_file(path).include == theirs.check_file(path).include


@pytest.mark.parametrize(("pattern", "path"), SLOW)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    start = time.perf_counter()
    assert not git_patterns.spec([pattern]).match_file(path)
    assert time.perf_counter() - start < 5


def test_many_lines_are_read_in_time() -> None:
    start = time.perf_counter()
    git_patterns.spec(["x*y"] * 200_000)
    assert time.perf_counter() - start < 10


def test_a_set_matches_no_slash_as_in_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("/x[!b]y\n")
    said = subprocess.run(["git", "check-ignore", "x/y", "xay"], cwd=tmp_path, capture_output=True, text=True).stdout
    spec = git_patterns.spec(["/x[!b]y"])
    assert [path for path in ("x/y", "xay") if spec.match_file(path)] == said.split() == ["xay"]
