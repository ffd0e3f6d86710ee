"""Endings that are no bug of nsplugin: lost output, a lost folder, odd files, wrong calls (spec/cli.md exit codes)."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fixture_runs
from nsplugin.platforms import NAMES, load

NSPLUGIN = f"{sys.executable} -m nsplugin_cli"
DEFINITION = 'from nsplugin import Job, define_plugin\n\nplugin = define_plugin(id="a", jobs={"a": Job(lambda: None)})\n'
GONE = "Error: the current folder does not exist any more: go to another one\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def shell(command: str) -> tuple[int, str]:
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, timeout=30)
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", ["build", "explain NSP101", "--help", "build --help", "--version", "rules"])
@pytest.mark.parametrize(("to", "why"), [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")])
def test_standard_output_that_takes_nothing(arguments: str, to: str, why: str) -> None:
    Path("plugin.py").write_text(DEFINITION)
    assert shell(f"{NSPLUGIN} {arguments} {to}") == (2, f"Error: cannot write to standard output: {why}\n")


def test_no_standard_stream_at_all() -> None:
    Path("plugin.py").write_text(DEFINITION)
    assert shell(f"{NSPLUGIN} build --format json <&- >&- 2>&-")[0] == 2
    assert json.loads(Path("dist/plugin.manifest.json").read_bytes())["id"] == "a"
    assert shell(f"{NSPLUGIN} explain NSP999 2>/dev/full") == (2, "")


@pytest.mark.parametrize(
    "arguments", ["next '0 3 * * *'", "init --platform nextskin", "init sub --platform nextskin", "build", "lint"]
)
def test_a_current_folder_that_was_deleted(arguments: str) -> None:
    command = f"mkdir gone; cd gone; rmdir ../gone; PYTHONPATH={shlex.quote(os.pathsep.join(sys.path))} {NSPLUGIN} {arguments}"
    assert shell(command) == (2, GONE)


@pytest.mark.parametrize("seconds", ["nan", "-nan", "inf", "-1", "0", "1e9"])
def test_seconds_are_a_number_within_limits(seconds: str) -> None:
    code, _, err = fixture_runs.call(["build", f"--timeout={seconds}"])
    assert (code, "Invalid value for '--timeout'" in err) == (2, True)


@pytest.mark.parametrize("platform", NAMES)
def test_an_id_that_is_too_long_makes_no_files(platform: str) -> None:
    longest = load(platform).plugin_id.max_length
    code, _, err = fixture_runs.call(["init", "made", "--platform", platform, "--id", "a" * (longest + 1)])
    assert code == 2
    assert f"a plugin id has at most {longest} characters, and this one has {longest + 1}" in err
    assert not Path("made").exists()
    assert fixture_runs.call(["init", "made", "--platform", platform, "--id", "a" * longest])[0] == 0
    assert fixture_runs.call(["build", "made"])[0] == 0


def test_init_where_nothing_can_be_looked_at() -> None:
    code, _, err = fixture_runs.call(["init", "a/" + "x" * 300, "--platform", "nextskin"])
    assert (code, err.startswith("Error: cannot write a/xxx")) == (2, True)


def test_init_into_a_fresh_clone_keeps_what_is_there() -> None:
    for name in ("README.md", ".gitignore", ".gitattributes"):
        Path(name).write_text("mine")
    code, out, _ = fixture_runs.call(["init", "--platform", "nextskin", "--id", "a"])
    assert code == 0
    assert "Left as they are: .gitattributes, .gitignore, README.md\n" in out
    assert Path("README.md").read_text() == "mine"
    assert fixture_runs.call(["build"])[0] == 0


def test_the_next_step_can_be_pasted_into_a_shell() -> None:
    _, out, _ = fixture_runs.call(["init", "my 'odd plugin", "--platform", "nextskin"])
    line = out.splitlines()[-1].removeprefix("Next: ")
    assert subprocess.run(f"{line.partition(' && ')[0]} && ls", shell=True, capture_output=True, text=True).stdout.count(
        "plugin.py"
    )


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["a pipe", "a folder"])
@pytest.mark.parametrize("how", [[], ["--check"]])
def test_a_manifest_that_is_no_file(make: Callable[[Path], None], how: list[str]) -> None:
    Path("plugin.py").write_text(DEFINITION)
    Path("dist").mkdir()
    make(Path("dist/plugin.manifest.json"))
    code, _, err = fixture_runs.call(["build", *how])
    assert code == 2
    assert "dist/plugin.manifest.json: it is " in err


def test_out_below_what_is_no_folder() -> None:
    Path("plugin.py").write_text(DEFINITION)
    code, _, err = fixture_runs.call(["build", "--out", "/dev/null"])
    assert (code, err) == (2, "Error: cannot write a manifest to /dev/null/plugin.manifest.json: /dev/null is no folder\n")
    code, _, err = fixture_runs.call(["build", "--stdout", "--out", "x.json"])
    assert (code, "--stdout and --out exclude each other" in err) == (2, True)


@pytest.mark.parametrize(("make", "what"), [(os.mkfifo, "no regular file"), (os.mkdir, "a folder")], ids=["a pipe", "a folder"])
def test_a_project_file_that_is_no_file(make: Callable[[Path], None], what: str) -> None:
    Path("plugin.py").write_text(DEFINITION)
    make(Path("nsplugin.toml"))
    for arguments in (["build"], ["build", "nsplugin.toml"] if what != "a folder" else ["build", "plugin.py"], ["lint"]):
        code, out, _ = fixture_runs.call(arguments)
        assert code == 2
        assert f"it is {what}" in out


def test_a_project_file_that_is_a_link_to_nothing() -> None:
    Path("plugin.py").write_text(DEFINITION)
    Path("nsplugin.toml").symlink_to("nowhere")
    code, out, _ = fixture_runs.call(["build"])
    assert (code, "it cannot be read: No such file or directory" in out) == (2, True)


def test_an_entry_that_is_no_file() -> None:
    Path("plugin.py").mkdir()
    Path("nsplugin.toml").write_text('entry = "plugin.py"\n')
    _, out, _ = fixture_runs.call(["build"])
    assert 'the entry "plugin.py" is a folder' in out
    assert "did you mean" not in out


def test_an_expression_that_the_shell_took_apart() -> None:
    code, _, err = fixture_runs.call(["next", "0", "3", "*", "*", "*"])
    assert (code, "Put the expression in quotes, as one argument: '0 3 * * *'" in err) == (2, True)


def test_an_expression_that_is_no_text() -> None:
    code, out, _ = fixture_runs.call(["next", "\udcff 3 * * *", "--timezone", "UTC", "--format", "json"])
    assert (code, [each["code"] for each in json.loads(out)["diagnostics"]]) == (1, ["NSP202"])


def test_a_manifest_of_two_mebibytes() -> None:
    Path("a.json").write_text('"' + "x" * (2 << 20) + '"')
    _, out, _ = fixture_runs.call(["check", "a.json", "--timezone", "UTC"])
    assert "the text has more than 1,048,576 bytes" in out
