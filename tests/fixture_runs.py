"""A folder below fixtures/good or fixtures/bad is a test: what the commands say about it lies in it.

``expected.txt`` is a transcript of the commands (``commands.txt``, or build and check as fits the files), ``expected.json`` the
same with ``--format json``, ``manifest.json`` what build wrote. ``make update`` rewrites all three.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nsplugin_cli.app import run

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
EXPECTED = ("expected.txt", "expected.json", "manifest.json")
CHECK = "check {} --timezone America/New_York --now 2026-03-06T12:00Z"
SOURCES = ("nsplugin.toml", "pyproject.toml", "plugin.py", "main.py")


def folders() -> list[Path]:
    """Every fixture, in order."""
    return sorted(path for kind in ("good", "bad") for path in (FIXTURES / kind).iterdir() if path.is_dir())


def transcripts(folder: Path) -> dict[str, bytes]:
    """The expected files of one fixture, made anew in a copy of it."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*EXPECTED, "__pycache__"))
        with inside(copy):
            commands = _commands(folder)
            made = {
                "expected.txt": "".join(_transcript(command) for command in commands).encode(),
                "expected.json": "".join(_transcript(f"{command} --format json") for command in commands).encode(),
            }
        for manifest in copy.glob("dist/*.manifest.json"):
            made["manifest.json"] = manifest.read_bytes()
        return made


def _commands(folder: Path) -> list[str]:
    own = folder / "commands.txt"
    if own.exists():
        return own.read_text(encoding="utf-8").splitlines()
    if not any((folder / name).exists() for name in SOURCES):
        return [CHECK.format(path.name) for path in sorted(folder.glob("*.manifest.json"))]
    stem = "main" if (folder / "main.py").exists() else "plugin"
    return ["build", *([CHECK.format(f"dist/{stem}.manifest.json")] if folder.parent.name == "good" else [])]


def _transcript(command: str) -> str:
    code, out, err = call(shlex.split(command))
    return f"$ nsplugin {command}\n{out}{err}[exit {code}]\n"


def call(arguments: list[str], stdin: bytes = b"") -> tuple[int, str, str]:
    """One command line in this process: exit code, standard output, standard error."""
    out, err = _stream(), _stream()
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"), out, err
    try:
        code = run(arguments)
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    return code, _text(out), _text(err)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """A current folder for what is called."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
