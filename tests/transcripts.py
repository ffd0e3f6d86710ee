"""Markdown whose ``console`` blocks are transcripts: each ``$`` command is run, what it prints stands below it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
FOLDER = re.compile(r"cd (\S+)")


def rendered(text: str) -> str:
    """The text with the output of every command made anew, all in one temporary folder."""
    with tempfile.TemporaryDirectory() as temporary:
        shell = _Shell(Path(temporary))
        return BLOCK.sub(lambda block: f"```console\n{shell.transcript(block[1])}```", text)


class _Shell:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        binaries = str(Path(sys.executable).parent)
        kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
        self._environment = {**kept, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}

    def transcript(self, block: str) -> str:
        commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        return "".join(f"$ {command}\n{self._run(command)}" for command in commands)

    def _run(self, command: str) -> str:
        moved = FOLDER.fullmatch(command)
        if moved:
            self._folder /= moved[1]
            return ""
        done = subprocess.run(
            command, shell=True, cwd=self._folder, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return done.stdout.decode()
