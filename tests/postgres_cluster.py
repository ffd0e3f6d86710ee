"""A PostgreSQL server of a test's own, which may be restarted: made, started and removed by the test."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

PATIENCE_S = 60
ACCOUNT = "postgres"
"""Who runs the server where the tests run as root, which PostgreSQL refuses."""


class Cluster:
    """A server on a loopback port, with its files and its socket in a folder."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder, self._port = programs, folder, _free_port()
        self._log = (folder / "server.log").open("ab")
        self._run(
            "initdb", "--auth=trust", f"--username={ACCOUNT}", "--no-sync", f"--pgdata={folder / 'data'}"
        ).check_returncode()
        self.url = f"postgresql://{ACCOUNT}@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._control("start").check_returncode()

    def restart(self, mode: Literal["fast", "immediate"]) -> subprocess.Popen[Any]:
        """Restart it, ``immediate`` as if it had crashed; the process that does it ends when the server answers again."""
        return subprocess.Popen(self._command("restart", mode), **self._surroundings())

    def stop(self) -> None:
        """End the server, if it runs."""
        self._control("stop", "immediate")
        self._log.close()

    def _control(self, what: str, mode: str = "fast") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(self._command(what, mode), **self._surroundings(), timeout=PATIENCE_S)

    def _command(self, what: str, mode: str) -> list[str]:
        options = f"-p {self._port} -k {self._folder} -c listen_addresses=127.0.0.1"
        given = [] if what == "stop" else ["-o", options]
        data = ["-D", str(self._folder / "data"), "-w", "-t", str(PATIENCE_S), "-m", mode]
        return [str(self._programs / "pg_ctl"), what, *(data if what != "start" else data[:-2]), *given]

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([str(self._programs / program), *arguments], **self._surroundings(), timeout=PATIENCE_S)

    def _surroundings(self) -> dict[str, Any]:
        """The server's log takes what these programs say: a pipe that the server inherits would never end."""
        return {"cwd": self._folder, "stdin": subprocess.DEVNULL, "stdout": self._log, "stderr": self._log, **_account()}


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A running server, gone afterwards; skips where PostgreSQL's server programs are not installed."""
    programs = _programs()
    if programs is None:
        pytest.skip(
            "initdb and pg_ctl are not installed: nothing is known about a PostgreSQL that restarts; install its server"
        )
    with tempfile.TemporaryDirectory(prefix="nsplugin-pg-") as folder:
        if account := _account():
            shutil.chown(folder, account["user"])
        made = Cluster(programs, Path(folder))
        try:
            made.start()
            yield made
        finally:
            made.stop()


def _programs() -> Path | None:
    """Where ``initdb`` lies: named by ``pg_config``, or where Debian puts it, the newest version first."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    if config := shutil.which("pg_config"):
        said = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=False).stdout.strip()
        found.insert(0, Path(said))
    return next((path for path in found if (path / "initdb").exists() and (path / "pg_ctl").exists()), None)


def _account() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam(ACCOUNT)
    except KeyError:
        pytest.skip(f"the tests run as root, and there is no account {ACCOUNT!r} to run PostgreSQL as: make one")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
