"""Whole output, text and JSON, of the commands on every fixture: the folder is the test, what is expected lies in it."""

from __future__ import annotations

from pathlib import Path

import pytest

import fixture_runs


@pytest.mark.parametrize("folder", fixture_runs.folders(), ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_the_commands_say_what_lies_in_the_folder(folder: Path) -> None:
    """`make update` rewrites what is expected; reading the difference is the reviewer's work."""
    made = fixture_runs.transcripts(folder)
    kept = {name: (folder / name).read_bytes() for name in fixture_runs.EXPECTED if (folder / name).exists()}
    assert {name: data.decode() for name, data in made.items()} == {name: data.decode() for name, data in kept.items()}
