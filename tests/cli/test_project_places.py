"""What the project file gives wrongly is shown in it, by build and lint alike (spec/cli.md: path:line:column)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fixture_runs

NEXTSKIN = "from nsplugin import Job, define_plugin\n\nplugin = define_plugin(jobs={})\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def places(command: str) -> list[tuple[str, str, int, int]]:
    """Code, path, line and column of each finding."""
    _, out, err = fixture_runs.call([*command.split(), "--format", "json"])
    assert out, err
    return [(each["code"], each["path"], each["line"], each["column"]) for each in json.loads(out)["diagnostics"]]


@pytest.mark.parametrize("command", ["build", "lint --no-cache"])
@pytest.mark.parametrize("call", ["jobs={}", "**{'jobs': {}}", "{'jobs': {}}"])
def test_a_wrong_id_is_shown_where_it_is_given(command: str, call: str) -> None:
    Path("nsplugin.toml").write_text('platform = "nextskin"\nid = "x y"\n')
    Path("plugin.py").write_text(f"from nsplugin import define_plugin\n\nplugin = define_plugin({call})\n")
    assert places(command) == [("NSP110", "nsplugin.toml", 2, 6)]


@pytest.mark.parametrize("command", ["build", "lint --no-cache"])
def test_an_id_in_the_call_is_shown_in_the_call(command: str) -> None:
    Path("nsplugin.toml").write_text('platform = "nextskin"\nid = "x y"\n')
    Path("plugin.py").write_text('from nsplugin import define_plugin\n\nplugin = define_plugin(id="x y", jobs={})\n')
    assert places(command) == [("NSP110", "plugin.py", 3, 27)]


def test_lint_knows_that_the_project_file_moved_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("plugin.py").write_text(NEXTSKIN)
    for blank in ("", "\n", "\n\n"):
        Path("nsplugin.toml").write_text(f'platform = "nextskin"\n{blank}id = "x y"\n')
        assert places("lint") == [("NSP110", "nsplugin.toml", 2 + len(blank), 6)]
