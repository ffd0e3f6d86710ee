"""Endings that are no bug of nsplugin: lost output, a lost folder, odd files, wrong calls (spec/cli.md exit codes)."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import fixture_runs
from lint_world import plugin, write
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


def test_an_argument_that_would_steer_the_terminal_is_shown_escaped() -> None:
    _, err = shell(f"{NSPLUGIN} jobs list \"$(printf 'a\\033[31m\\007b')\"")
    assert err.endswith("Error: Got unexpected extra argument (a\\x07b)\n")


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
    assert fixture_runs.call(["init", "--platform", "nextskin", "--id", "a"]) == (
        0,
        "Made 5 files in .: .github/workflows/nsplugin.yml, .pre-commit-config.yaml, nsplugin.toml, plugin.py, test_plugin.py\n"
        "Left as they are: .gitattributes, .gitignore, README.md\nNext: nsplugin build\n",
        "",
    )
    assert Path("README.md").read_text() == "mine"
    assert fixture_runs.call(["build"])[0] == 0


def test_the_next_step_can_be_pasted_into_a_shell() -> None:
    _, out, _ = fixture_runs.call(["init", "my 'odd plugin", "--platform", "nextskin"])
    line = out.splitlines()[-1].removeprefix("Next: ")
    assert subprocess.run(f"{line.partition(' && ')[0]} && ls", shell=True, capture_output=True, text=True).stdout.count(
        "plugin.py"
    )


def test_an_entry_that_is_no_file() -> None:
    Path("plugin.py").mkdir()
    Path("nsplugin.toml").write_text('entry = "plugin.py"\n')
    text = """\
nsplugin.toml:1:9: error NSP002 entry-not-found
  the entry "plugin.py" is a folder
  |
1 | entry = "plugin.py"
  |         ^^^^^^^^^^^
  hint: name a Python file

1 error, 0 warnings in 1 file.
`nsplugin explain NSP002` tells more.
"""
    assert fixture_runs.call(["build"]) == (1, text, "")


def test_an_expression_that_is_no_text() -> None:
    code, out, _ = fixture_runs.call(["next", "\udcff 3 * * *", "--timezone", "UTC", "--format", "json"])
    assert (code, [each["code"] for each in json.loads(out)["diagnostics"]]) == (1, ["NSP202"])


@pytest.mark.parametrize("redirection", ["0>/dev/null", "0<&-"])
def test_standard_input_that_cannot_be_read_is_no_fault_of_standard_output(redirection: str) -> None:
    code, err = shell(f"{NSPLUGIN} check - --timezone UTC {redirection}")
    assert code != 141 and "standard output" not in err


def test_a_full_disk_elsewhere_is_not_called_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", None)

    monkeypatch.setattr("nsplugin_cli.scaffold._write", full)
    code, out, err = fixture_runs.call(["init", "shop", "--platform", "nextskin"])
    assert (code, out) == (2, "")
    assert err == "Error: cannot write shop/.gitattributes: No space left on device; what was written before stays\n"


@pytest.mark.parametrize("arguments", [["serve"], ["install", "."]])
def test_a_file_in_the_place_of_the_core_s_folder_is_a_wrong_call(
    tmp_path: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, plugin_py=plugin())
    Path(".nsplugin").write_text("mine")
    code, _, err = fixture_runs.call(arguments)
    assert (code, err) == (2, "Error: cannot make the folder .nsplugin: File exists; or name a --database\n")


PROVIDERS = {
    "raising": ("raise RuntimeError('no luck')", "raising:x", "importing raising raised RuntimeError: no luck"),
    "broken": ("x = (", "broken:x", "importing broken raised SyntaxError: '(' was never closed (broken.py, line 1)"),
    "leaving": ("raise SystemExit(7)", "leaving:x", "importing leaving raised SystemExit: 7"),
    "relative": ("", ".x:y", "'.x:y' names nothing: write MODULE:NAME, such as shop_standins:local"),
    "bare": ("", "os", "'os' names nothing: write MODULE:NAME, such as shop_standins:local"),
    "nameless": ("", "os:", "'os:' names nothing: write MODULE:NAME, such as shop_standins:local"),
    "lacking": ("", "lacking:x", "lacking:x: module 'lacking' has no attribute 'x'"),
}


@pytest.mark.parametrize(("source", "name", "says"), PROVIDERS.values(), ids=PROVIDERS)
@pytest.mark.parametrize("command", ["serve", "dev", "simulate"])
def test_providers_that_cannot_be_had_are_a_wrong_call(
    tmp_path: Path, source: str, name: str, says: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, plugin_py=plugin(), **{f"{name.partition(':')[0]}_py": source} if not name.startswith((".", "os")) else {})
    monkeypatch.setattr("sys.path", [*sys.path])
    code, out, err = fixture_runs.call([command, "--providers", name])
    assert (code, out, err.splitlines()[-1]) == (2, "", f"Error: --providers: {says}")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE, errno.EBADF, errno.EIO])
def test_an_error_of_another_file_is_not_called_one_of_standard_output(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("nsplugin_cli.catalogue.rule", fail)
    code, out, err = fixture_runs.call(["explain", "NSP101"])
    assert (code, out) == (3, "") and os.strerror(number) in err and "standard output" not in err


def test_standard_input_is_checked_once() -> None:
    said = fixture_runs.call(["check", "-", "-", "--timezone", "UTC"], b"{}")
    assert said == (2, "", "Error: - is standard input, which can be read once: name it once\n")


@pytest.mark.parametrize("named", ["a\x1b[2J", "a\nError: b", "a\r\u202eb"])
@pytest.mark.parametrize("command", ["lint", "lint --diff", "check --timezone UTC", "diff a.json", "explain"])
def test_a_remark_is_one_line_without_control_characters(command: str, named: str) -> None:
    code, _, err = fixture_runs.call([*command.split(), named])
    assert code == 2
    assert err.count("\n") == 1 and err.removesuffix("\n").isprintable()


def test_a_failure_of_our_own_shows_no_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> int:
        raise RuntimeError("a\x1b[2J\nb")

    monkeypatch.setattr("nsplugin_cli.commands.linting.run", fail)
    code, _, err = fixture_runs.call(["lint"])
    assert code == 3
    assert err.startswith("nsplugin itself failed: RuntimeError: a\\x1b[2J\nb\n")
    _, _, err = fixture_runs.call(["lint", "--debug"])
    assert "\x1b" not in err
