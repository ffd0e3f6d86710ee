"""Exit codes, errors in calls, colour: what every command has in common (spec/cli.md)."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fixture_runs
import wrong_calls
from nsplugin_cli import app, terminal
from waiting import PATIENCE, until

NSPLUGIN = [sys.executable, "-m", "nsplugin_cli"]
LATE = ("click", "json", "pathlib", "tomli", "ast", "tokenize", "inspect", "nsplugin", "nsplugin_schemas", "rich", "threading")
"""Modules that a command imports when it needs them."""


def test_version() -> None:
    done = subprocess.run([*NSPLUGIN, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "nsplugin 0.1.0\n", "")


def test_wrong_calls_and_odd_files_say_what_to_write() -> None:
    """`make update` writes the texts; reading them is the reviewer's work."""
    assert wrong_calls.rendered() == wrong_calls.GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", wrong_calls.CALLS, ids=" ".join)
def test_a_wrong_call_exits_with_2(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = fixture_runs.call(arguments)
    assert (code, out) == (2, "")
    assert err.count("Error: ") == 1 and "Traceback" not in err


def test_a_bug_says_so_and_exits_with_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsplugin_cli.catalogue.rule", lambda name: 1 // 0)
    code, out, err = fixture_runs.call(["explain", "NSP101"])
    assert (code, out) == (3, "")
    assert err.startswith("nsplugin itself failed: ZeroDivisionError: integer division or modulo by zero\n  at ")
    assert f"not in your plugin. Please report it at {app.ISSUES}\n" in err
    assert err.endswith("with the output of the same command and --debug.\n")


@pytest.mark.parametrize("arguments", [["--debug", "explain", "NSP101"], ["explain", "NSP101", "--debug"]])
def test_debug_shows_the_traceback_of_a_bug(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsplugin_cli.catalogue.rule", lambda name: 1 // 0)
    code, _, err = fixture_runs.call(arguments)
    assert code == 3
    assert "Traceback (most recent call last)" in err


def test_ctrl_c_exits_with_130(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text("import time\nopen('begun', 'w').close()\ntime.sleep(60)\n")
    process = subprocess.Popen([*NSPLUGIN, "build", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until((tmp_path / "begun").exists, "the import")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err


@pytest.mark.parametrize("arguments", [["rules"], ["schema", "config"], ["explain", "NSP101"]])
def test_a_reader_that_has_gone_is_no_error(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*NSPLUGIN, *arguments], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (app.PIPE_CLOSED, b"")


def test_a_full_disk_is_said_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*NSPLUGIN, "rules"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "Error: cannot write to standard output: No space left on device\n")


@pytest.mark.parametrize(
    ("color", "environment", "is_terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_when_there_is_colour(
    color: terminal.Color, environment: dict[str, str], is_terminal: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    assert terminal.colored(color, sys.stdout, environment) is expected


@pytest.mark.parametrize("arguments", [["explain", "NSP101"], ["rules"]])
def test_no_escape_ever_reaches_a_pipe(arguments: list[str]) -> None:
    assert b"\x1b" not in subprocess.run([*NSPLUGIN, *arguments], capture_output=True, check=True).stdout


def test_a_terminal_gets_colours_and_the_same_words() -> None:
    plain = fixture_runs.call(["explain", "NSP101"])[1]
    leader, follower = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")} | {
        "TERM": "xterm"
    }
    subprocess.run([*NSPLUGIN, "explain", "NSP101"], stdout=follower, check=True, env=environment)
    os.close(follower)
    coloured = b"".join(iter(lambda: _read(leader), b"")).decode()
    assert "\x1b[" in coloured
    assert _without_escapes(coloured) == plain.replace("\n", "\r\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""


def _without_escapes(text: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_output_never_fails_on_an_encoding_that_lacks_a_character(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text('raise ValueError("日本")\n', encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run([*NSPLUGIN, "build", str(tmp_path)], capture_output=True, env=environment)
    assert done.returncode == 1
    assert rb"ValueError: \u65e5\u672c" in done.stdout


def test_no_module_comes_from_the_current_folder(tmp_path: Path) -> None:
    """``python -m`` puts the folder first, and it may be the one that is judged."""
    for name in LATE:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name}.py ran')\n")
    (tmp_path / "nsplugin.toml").write_text('platform = "nextskin"\n')
    for words in (["plugin.py"], ["--format", "json", "--statistics", "plugin.py"]):
        (tmp_path / "plugin.py").write_text("from nsplugin import define_plugin  # nsplugin: ignore[NSP211]\nx = 1 +\n")
        done = subprocess.run([*NSPLUGIN, "lint", *words], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (1, ""), done
