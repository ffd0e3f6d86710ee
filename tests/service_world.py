"""A core as its operators see it: the command line, served processes, and plugins written for one test."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fixture_runs
from nsplugin_core.clock import SystemClock
from nsplugin_core.store import SqlStore, open_store
from nsplugin_core.store.records import Task, TaskFilter
from nsplugin_core.tasks import State
from waiting import PATIENCE, until

NSPLUGIN = (sys.executable, "-m", "nsplugin_cli")

DIARY = '''
import os, time
from pathlib import Path
from nsplugin import Cron, define_plugin

HERE = Path(__file__).parent


def note(text):
    """One line in the plugin's diary; appending so little is atomic."""
    with open(HERE / "diary.txt", "a") as diary:
        diary.write(f"{text}\\n")


'''
"""What the plugins of tests begin with: hosts may write to the folder of their code here, and tests read it."""


class ShiftedClock(SystemClock):
    """The machine's clock, some milliseconds ahead: for what would take a test too long."""

    __slots__ = ("ahead",)

    def __init__(self, ahead: int = 0) -> None:
        self.ahead = ahead

    def now_ms(self) -> int:
        """The shifted time."""
        return super().now_ms() + self.ahead

    def wait(self, event: Any, until: int | None) -> None:
        """Wait in real time, but look again soon: the clock may be moved meanwhile."""
        latest = self.now_ms() + 50
        super().wait(event, (latest if until is None else min(until, latest)) - self.ahead)


def write_plugin(folder: Path, body: str, *, plugin: str = "shop", version: str = "1.0.0") -> Path:
    """A plugin's folder: ``body`` is what follows the diary, and defines ``plugin``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plugin.py").write_text(DIARY + textwrap.dedent(body), encoding="utf-8")
    (folder / "nsplugin.toml").write_text(
        f'platform = "nextskin"\nid = "{plugin}"\nversion = "{version}"\nentry = "plugin.py"\n', encoding="utf-8"
    )
    return folder


@dataclass
class Served:
    """A running ``nsplugin serve``."""

    process: subprocess.Popen[bytes]
    log: Path
    monitor: str

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; returns the exit code."""
        self.process.send_signal(number)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            self.process.wait()
            text = self.log.read_bytes().decode("utf-8", "replace")
            raise AssertionError(f"it did not stop; its threads:\n{text[text.rfind('Fatal Python') :]}") from None

    def lines(self) -> list[dict[str, Any]]:
        """What it logged."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def memory_kib(self) -> int:
        """Its resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0])


@dataclass
class Site:
    """A database and the plugins of one test."""

    url: str
    folder: Path
    served: list[Served] = field(default_factory=list)

    def call(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command on the database: exit code, standard output, standard error."""
        return fixture_runs.call([*arguments, "--database", self.url])

    def run(self, *arguments: str) -> str:
        """The same, of a command that must succeed; returns what it printed."""
        code, out, err = self.call(*arguments)
        assert code == 0, err + out
        return out

    def json(self, *arguments: str) -> dict[str, Any]:
        """The object that a command prints."""
        found: dict[str, Any] = json.loads(self.run(*arguments, "--format", "json"))
        return found

    def install(self, body: str, *, plugin: str = "shop", version: str = "1.0.0", timezone: str = "UTC") -> Path:
        """Write and install a plugin; returns its folder."""
        folder = write_plugin(self.folder / plugin, body, plugin=plugin, version=version)
        self.run("install", str(folder), "--timezone", timezone)
        return folder

    def enqueue(self, job: str, payload: Any = None, *options: str, plugin: str = "shop") -> str:
        """Enqueue a task; returns its id."""
        made = self.json("jobs", "enqueue", plugin, job, "--payload", json.dumps(payload or {}), *options)
        return str(made["id"])

    def diary(self, plugin: str = "shop") -> list[str]:
        """What the plugin noted."""
        path = self.folder / plugin / "diary.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    @contextlib.contextmanager
    def store(self) -> Iterator[SqlStore]:
        """A look at the database."""
        store = open_store(self.url)
        try:
            yield store
        finally:
            store.close()

    def task(self, task_id: str) -> Task | None:
        """A stored task."""
        with self.store() as store:
            return store.tasks.task(task_id)

    def count(self, state: State, plugin: str = "shop") -> int:
        """How many tasks of a plugin are in a state."""
        with self.store() as store:
            return len(store.tasks.page(TaskFilter(state=state, plugin=plugin, limit=1000)))

    def serve(self, *arguments: str) -> Served:
        """Start a core, and wait until it serves."""
        log = self.folder / f"serve{len(self.served)}.log"
        command = [*NSPLUGIN, "serve", "--metrics", "127.0.0.1:0", "--log-format", "json", *arguments]
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command,
                stderr=stream,
                cwd=self.folder,
                env={**os.environ, "NSPLUGIN_DATABASE": self.url, "PYTHONFAULTHANDLER": "1"},
            )
        served = Served(process, log, "")
        self.served.append(served)
        until(lambda: "serving with" in log.read_text(encoding="utf-8"), "a core that serves")
        found = re.search(r"http://[^\"]+", log.read_text(encoding="utf-8"))
        assert found is not None
        served.monitor = found[0]
        return served

    def close(self) -> None:
        """End what still runs."""
        for served in self.served:
            if served.process.poll() is None:
                served.process.kill()
            served.process.wait()
