"""Whole output, text and JSON, of the commands on every fixture: the folder is the test, what is expected lies in it."""

from __future__ import annotations

from pathlib import Path

import pytest

import fixture_runs
from nsplugin_cli import catalogue


@pytest.mark.parametrize("folder", fixture_runs.folders(), ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_the_commands_say_what_lies_in_the_folder(folder: Path) -> None:
    """`make update` rewrites what is expected; reading the difference is the reviewer's work."""
    made = fixture_runs.transcripts(folder)
    kept = {name: (folder / name).read_bytes() for name in fixture_runs.EXPECTED if (folder / name).exists()}
    assert {name: data.decode() for name, data in made.items()} == {name: data.decode() for name, data in kept.items()}


WITHOUT = {
    "NSP604": "no expression is known on which the two engines disagree",
}
BAD = [folder for folder in fixture_runs.folders() if folder.parent.name == "bad"]


def test_every_rule_has_a_folder() -> None:
    named = {folder.name.partition("_")[0] for folder in BAD}
    codes = {rule.code for rule in catalogue.rules()}
    assert codes - named - WITHOUT.keys() == set()
    assert named <= codes


@pytest.mark.parametrize("folder", BAD, ids=lambda folder: folder.name)
def test_a_folder_shows_the_rule_that_it_is_named_after(folder: Path) -> None:
    expected = (folder / "expected.json").read_text(encoding="utf-8")
    assert f'"code": "{folder.name.partition("_")[0]}"' in expected


@pytest.mark.parametrize("folder", [one for one in fixture_runs.folders() if one not in BAD], ids=lambda folder: folder.name)
def test_nothing_is_found_in_a_good_folder(folder: Path) -> None:
    assert '"code"' not in (folder / "expected.json").read_text(encoding="utf-8")
