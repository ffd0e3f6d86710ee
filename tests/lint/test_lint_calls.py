"""A plain ``nsplugin lint`` is read without click, to the same call that click would read (docs/decisions/0014)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_world import plugin
from nsplugin_cli.commands import lint, linting

WORDS = (
    "plugin.py",
    "src",
    "-",
    "--",
    "",
    "--no-cache",
    "--cache",
    "--strict",
    "--fix",
    "--diff",
    "--watch",
    "--no-cach",
    "a b",
    "é.py",
)


@given(st.lists(st.sampled_from(WORDS)))
def test_click_reads_a_plain_call_alike(words: list[str]) -> None:
    plain = linting.plain(words)
    if plain is not None:
        asked = lint.command.make_context("lint", list(words)).params
        assert plain == linting.Call(**asked)


@pytest.mark.parametrize("words", [[], ["a.py"], ["--no-cache", "a.py", "b"], ["a.py", "--strict", "--fix"]])
def test_what_hooks_and_saves_ask_is_plain(words: list[str]) -> None:
    assert linting.plain(words) is not None


@pytest.mark.parametrize("words", [["-"], ["--"], ["--debug"], ["--select", "NSP1"], ["--select=NSP1"], ["-h"], ["--stric"]])
def test_what_needs_a_parser_is_left_to_click(words: list[str]) -> None:
    assert linting.plain(words) is None


@pytest.mark.parametrize(("text", "code"), [(plugin(), 0), (plugin("0 3 30 2 *"), 1)])
def test_a_plain_call_loads_no_more_than_it_needs(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "plugin.py").write_text(text)
    script = (
        "import sys; from nsplugin_cli.app import run; code = run(['lint', '--no-cache', 'plugin.py'])\n"
        "print(code, sorted({'click', 'pathlib', 'inspect', 'threading', 'rich', 'pydantic', 'asyncio'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == f"{code} []", done.stderr
