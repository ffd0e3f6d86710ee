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


SCRIPT = """import { definePlugin } from '@nextskin/plugin-sdk'

export default definePlugin({ id: 'a', version: '1.0.0', jobs: {} })
"""


def said(command: str) -> list[tuple[str, str, str | None]]:
    """Code, message and hint of each finding."""
    _, out, err = fixture_runs.call([*command.split(), "--format", "json"])
    assert out, err
    return [(each["code"], each["message"], each["hint"]) for each in json.loads(out)["diagnostics"]]


def entry(path: str, *files: str) -> None:
    Path("nsplugin.toml").write_text(f'platform = "nextskin"\nentry = "{path}"\n')
    for file in files:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(SCRIPT)


@pytest.mark.parametrize(
    "path", ["src/main.ts", "./src/main.ts", "plugin.ts", "a/b.c/main.plugin.mjs", "MAIN.TS", "src/x.tsx:plugin"]
)
def test_an_entry_may_be_a_typescript_or_javascript_file(path: str) -> None:
    file = path.partition(":")[0]
    entry(path, file)
    assert said("lint --no-cache") == []
    name = file.removeprefix("./")
    message = f'the entry "{name}" is built by its platform\'s own tools: nsplugin builds Python'
    assert said("build") == [("NSP002", message, "nsplugin lint reads TypeScript and JavaScript")]
    assert places("build") == [("NSP002", "nsplugin.toml", 2, 9)]


@pytest.mark.parametrize("command", ["build", "lint --no-cache"])
@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("src/mian.ts", "src/main.ts"),
        ("src/main.js", "src/main.ts"),
        ("plugn.ts", "plugin.ts"),
        ("plugn.py", "plugin.py"),
        ("lib/plugn.py", "lib/plugin.py"),
    ],
)
def test_an_entry_that_is_not_there_gets_what_was_meant(command: str, path: str, meant: str) -> None:
    entry(path, "src/main.ts", "plugin.ts")
    for python in ("plugin.py", "lib/plugin.py", "src/mian.py"):
        Path(python).parent.mkdir(exist_ok=True)
        Path(python).write_text("")
    assert said(command) == [("NSP002", f'the entry "{path}" does not exist', f'did you mean "{meant}"?')]
    assert places(command) == [("NSP002", "nsplugin.toml", 2, 9)]


@pytest.mark.parametrize("path", ["nowhere/deep/main.ts", "a" * 300 + "/main.ts", "a\\u0000b/main.ts"])
def test_an_entry_in_a_folder_that_is_not_there_is_missing(path: str) -> None:
    entry(path)
    assert [code for code, _, _ in said("lint --no-cache")] == ["NSP002"]


def test_a_folder_is_no_entry() -> None:
    entry("src/main.ts", "src/main.ts/x.ts")
    assert said("lint --no-cache") == [("NSP002", 'the entry "src/main.ts" is a folder', "name a file")]


@pytest.mark.parametrize("path", ["../main.ts", "/main.ts", "src//main.ts", "src/main.ts:a b", "src\\\\main.ts", "src/main"])
def test_what_names_no_entry_gets_both_forms(path: str) -> None:
    entry(path)
    ((code, _, hint),) = said("lint --no-cache")
    assert code == "NSP001"
    assert hint == 'write a file ("plugin.py", "src/plugin.ts"), or a module and its attribute ("pkg.mod:plugin")'


def test_a_module_may_be_called_like_an_ending() -> None:
    entry("shop.js:plugin")
    Path("shop").mkdir()
    Path("shop/js.py").write_text(NEXTSKIN.replace("jobs=", 'id="a", version="1.0.0", jobs='))
    assert [code for code, _, _ in said("build")] == [code for code, _, _ in said("lint --no-cache")] == []
