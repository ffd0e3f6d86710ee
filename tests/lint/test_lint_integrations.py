"""Where people meet lint: pre-commit, the GitHub Action, editors. Each is tried with the files of this repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from fixture_runs import ROOT, call
from lint_world import lint, plugin, write

BIN = Path(sys.executable).parent
NEVER = plugin("0 3 30 2 *")
PAGES = [ROOT / "docs" / name for name in ("ci.md", "pre-commit.md", "editors.md")]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command with this interpreter's programs first in the path, and nothing of the caller's git."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT"))}
    path = f"{BIN}{os.pathsep}{clean['PATH']}"
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**clean, "PATH": path, **environment})


def git(folder: Path, *arguments: str) -> str:
    options = (
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@example.org",
        "-c",
        "init.defaultBranch=main",
        "-c",
        "commit.gpgsign=false",
    )
    done = run("git", *options, *arguments, cwd=folder, HOME=str(folder))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def hooks(tmp_path: Path) -> tuple[Path, str]:
    """A git repository that offers this repository's hooks, and its commit."""
    for program in ("git", "pre-commit"):
        if shutil.which(program, path=f"{BIN}{os.pathsep}{os.environ['PATH']}") is None:
            pytest.skip(f"{program} is not installed")
    folder = tmp_path / "hooks"
    folder.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", folder)
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "hooks")
    return folder, git(folder, "rev-parse", "HEAD")


def test_pre_commit_stops_a_commit_that_lint_finds_fault_with(hooks: tuple[Path, str], tmp_path: Path) -> None:
    """With the hooks as they are published, but for the environment: nsplugin is the one that is tested here."""
    folder = write(tmp_path / "plugins", plugin_py=NEVER, README_md="hello\n")
    hook = {"id": "nsplugin-lint", "language": "system", "additional_dependencies": []}
    config = {"repos": [{"repo": str(hooks[0]), "rev": hooks[1], "hooks": [hook]}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(folder, "init")
    git(folder, "add", ".")
    home = {"HOME": str(tmp_path), "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    assert run("pre-commit", "install", cwd=folder, **home).returncode == 0
    commit = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-m", "plugin")
    done = run(*commit, cwd=folder, **home)
    assert done.returncode == 1
    assert "plugin.py:8:72: error NSP207 cron-never-fires" in done.stdout + done.stderr
    write(folder, plugin_py=plugin())
    git(folder, "add", ".")
    done = run(*commit, cwd=folder, **home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"nsplugin lint\.+Passed", done.stdout + done.stderr)
    assert git(folder, "status", "--porcelain") == "", "the cache keeps itself out of the repository"


def options(name: str) -> set[str]:
    """The long options that a command takes."""
    command: click.Command = import_module(f"nsplugin_cli.commands.{name}").command
    return {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}


def test_the_hooks_call_commands_that_exist() -> None:
    assert HOOKS.keys() == {"nsplugin-lint", "nsplugin-build"}
    for hook in HOOKS.values():
        program, command, *added = hook["entry"].split()
        assert program == "nsplugin" and set(added) <= options(command)
        assert hook["pass_filenames"] is False


STEPS = {step.get("name"): step for step in ACTION["runs"]["steps"]}


def act(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The action's own lint step, as a runner starts it, with these inputs."""
    values = {name.replace("-", "_"): str(each["default"]) for name, each in ACTION["inputs"].items()} | inputs
    step = STEPS["Lint"]
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1].replace("-", "_")], text)
        for name, text in step["env"].items()
    }
    return run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=folder, **environment)


def test_the_action_annotates_and_fails(tmp_path: Path) -> None:
    write(tmp_path, a__plugin_py=NEVER, b__plugin_py=plugin("0 3 13 * 5"))
    (tmp_path / ".git").mkdir()
    done = act(tmp_path)
    assert done.returncode == 1
    assert [line.partition(" ")[0] for line in done.stdout.splitlines()] == ["::error", "::warning"]
    assert act(tmp_path, paths="b").returncode == 0
    assert act(tmp_path, paths="b", arguments="--strict --ignore=NSP1").returncode == 1
    assert act(tmp_path, paths="nowhere").returncode == 2


def test_the_action_takes_a_block_of_lines(tmp_path: Path) -> None:
    """As YAML's `|` gives it: each line counts, not the first alone."""
    write(tmp_path, a__plugin_py=plugin(), b__plugin_py=plugin("0 3 13 * 5"), c__plugin_py=NEVER)
    done = act(tmp_path, paths="a\nb\nc\n", arguments="--strict\n--ignore=NSP1\n")
    assert done.returncode == 1
    assert [line.partition(" ")[0] for line in done.stdout.splitlines()] == ["::warning", "::error"]
    assert act(tmp_path, paths="a\nb\n", arguments="--ignore=NSP1\n--strict\n").returncode == 1


def test_the_action_writes_sarif_beside_the_annotations(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=NEVER)
    done = act(tmp_path, sarif_file="new folder/lint.sarif")
    assert done.returncode == 1 and done.stdout.startswith("::error file=plugin.py,line=8")
    assert json.loads((tmp_path / "new folder" / "lint.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "NSP207"


def test_inputs_of_the_action_are_never_shell_text(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=plugin())
    assert "${{" not in STEPS["Lint"]["run"] + STEPS["Install nsplugin"]["run"]
    done = act(tmp_path, paths="$(touch marker) ; touch marker")
    assert done.returncode == 2 and not (tmp_path / "marker").exists()


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_the_pages_show_yaml_json_and_toml_that_parse() -> None:
    import tomli

    parsers = {"yaml": yaml.safe_load, "json": json.loads, "toml": tomli.loads}
    shown = {page.name: {language for language in parsers if blocks(page, language)} for page in PAGES}
    assert shown == {"ci.md": {"yaml", "toml"}, "pre-commit.md": {"yaml"}, "editors.md": {"json", "toml"}}
    for page in PAGES:
        assert all(parse(text) for language, parse in parsers.items() for text in blocks(page, language))


def test_the_page_shows_the_hooks_that_init_sets_up() -> None:
    made = (ROOT / "cli/nsplugin_cli/templates/shared/dot-pre-commit-config.yaml.tmpl").read_text(encoding="utf-8")
    assert yaml.safe_load(made) == yaml.safe_load(blocks(ROOT / "docs" / "pre-commit.md", "yaml")[-1])


def test_the_pages_name_only_options_that_exist() -> None:
    for page in PAGES:
        calls = re.findall(r"nsplugin (lint|build|check|schema)\b([^\n`|<>\"]*)", page.read_text(encoding="utf-8"))
        assert calls, page.name
        for name, rest in calls:
            assert set(re.findall(r"--[\w-]+", rest)) <= options(name), (page.name, name)


def test_the_pages_show_settings_that_a_project_file_takes(tmp_path: Path) -> None:
    (text,) = blocks(ROOT / "docs" / "ci.md", "toml")
    write(tmp_path, nsplugin_toml=text, plugin_py=plugin())
    assert lint(tmp_path) == (0, "No problems in 1 file.\n", "")


def test_the_problem_matcher_of_the_page_matches_what_lint_prints(tmp_path: Path) -> None:
    tasks = json.loads(blocks(ROOT / "docs" / "editors.md", "json")[0])
    matcher: list[dict[str, Any]] = tasks["tasks"][0]["problemMatcher"]["pattern"]
    out = lint(write(tmp_path, plugin_py=NEVER)).out.splitlines()
    first, second = (re.match(pattern["regexp"], line) for pattern, line in zip(matcher, out, strict=False))
    assert first is not None and second is not None
    keys = ("file", "line", "column", "severity", "code")
    assert [first[matcher[0][key]] for key in keys] == ["plugin.py", "8", "72", "error", "NSP207"]
    assert second[matcher[1]["message"]].startswith('"0 3 30 2 *" never fires')


def test_the_schemas_that_the_page_names_are_published() -> None:
    names = set(re.findall(r"nsplugin schema ([\w-]+)", (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")))
    assert names == {"nextskin-manifest", "cogover-manifest", "config"}
    assert all(json.loads(call(["schema", name])[1]) for name in names)
