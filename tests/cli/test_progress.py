"""The progress bar: seen by a person who waits, by nobody else."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from nsplugin_cli import progress

PROGRAM = "import sys; from nsplugin_cli.progress import track; list(track(range(9), 'x')); sys.exit('rich' in sys.modules)"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, patience: float = -1.0) -> Terminal:
    """Standard error as a terminal, from here to the end of the test."""
    stream = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_in_a_pipe_there_is_none_and_rich_is_not_imported() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_short_run_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch, patience=60)
    assert list(progress.track(range(5), "reading")) == [0, 1, 2, 3, 4]
    assert screen.getvalue() == ""


def test_a_long_run_shows_a_bar_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    assert list(progress.track(range(5), "reading")) == [0, 1, 2, 3, 4]
    assert "reading" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")


def test_a_run_that_fails_takes_it_away_too(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        for item in progress.track(range(5), "reading"):
            1 // (3 - item)
    assert screen.getvalue().count("\x1b[?25h") == 1
