"""A running ``nsplugin dev`` for tests: its process, what it logs, and requests to it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from nsplugin_core.store import open_store
from nsplugin_core.store.records import TaskFilter
from service_world import NSPLUGIN
from waiting import PATIENCE, until

SOURCE = """\
import os
from pathlib import Path
from nsplugin import Cron, Job, Response, Route, define_plugin

VERSION = 1


def note(payload):
    with open(Path(__file__).parent / "diary.txt", "a") as diary:
        diary.write(f"{VERSION} {payload['n']}\\n")


def fails(): raise RuntimeError("the shop is down")


async def post_note(request, ctx):
    body = await request.json()
    await ctx.jobs.enqueue("note", body, delay_sec=body.get("later", 0))
    return Response.json({"queued": body["n"], "user": request.user}, status=202)


async def post_fail(request, ctx):
    await ctx.jobs.enqueue("fails", {})
    return Response.json({"queued": True})


plugin = define_plugin(
    id="shop",
    jobs={"note": Job(note), "fails": Job(fails, max_attempts=2)},
    cron=[Cron("0 3 * * *", job="note", payload={"n": -1})],
    routes={"POST /notes": Route(post_note, auth="user"), "POST /fail": Route(post_fail, auth="user")},
)
"""


FREE = ("--port", "0", "--admin-port", "0")


@dataclass
class Dev:
    """One process. ``url`` is where its routes are, ``pages`` where its administration page is."""

    process: subprocess.Popen[bytes]
    log: Path
    url: str = ""
    pages: str = ""
    clients: list[httpx.Client] = field(default_factory=list)

    def text(self) -> str:
        """Everything that it said."""
        return self.log.read_text(encoding="utf-8")

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Log records of that event."""
        return [record for record in self.records() if record["event"] == kind]

    def records(self) -> list[dict[str, Any]]:
        """All log records."""
        return [json.loads(line) for line in self.text().splitlines() if line.startswith("{")]

    def says(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until it has said something."""
        until(lambda: text in self.text(), f"{text!r} in the log", seconds)

    def told(self, pattern: str) -> str:
        """What the pattern's group found in what it said."""
        found = re.search(pattern, self.text())
        assert found is not None, pattern
        return found[1]

    def post(self, path: str, value: Any = None, **headers: str) -> httpx.Response:
        """A request to a route."""
        return httpx.post(f"{self.url}{path}", json=value, headers=headers, timeout=PATIENCE)

    def interrupt(self) -> int:
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


def write(folder: Path, source: str = SOURCE) -> Path:
    """The plugin's folder."""
    folder.mkdir(exist_ok=True)
    (folder / "plugin.py").write_text(source, encoding="utf-8")
    (folder / "nsplugin.toml").write_text(
        'platform = "nextskin"\nversion = "1.0.0"\nentry = "plugin.py"\ntimezone = "Europe/Paris"\n', encoding="utf-8"
    )
    return folder


@contextmanager
def running(folder: Path, *arguments: str, ports: Sequence[str] = FREE, ready: bool = True) -> Iterator[Dev]:
    """A ``dev`` in a folder, killed in the end if it still runs then."""
    log = folder.parent / f"dev{len(list(folder.parent.glob('dev*.log')))}.log"
    command = [*NSPLUGIN, "dev", str(folder), *ports, "--log-format", "json", *arguments]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stderr=stream, stdout=stream, start_new_session=True)
    dev = Dev(process, log)
    try:
        if ready:
            dev.says("Ctrl-C stops")
            dev.url, dev.pages = (dev.told(rf"{what}: (http://[0-9.:]+)/") for what in ("routes", "administration page"))
        yield dev
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def diary(folder: Path) -> list[str]:
    """What the plugin noted."""
    path = folder / "diary.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def queued(folder: Path) -> list[int]:
    """The numbers in the payloads of tasks that wait or run."""
    store = open_store(f"sqlite:///{folder / '.nsplugin' / 'core.db'}")
    try:
        pages = [
            store.tasks.page(TaskFilter(state=state, plugin="shop", job="note", limit=1000)) for state in ("queued", "running")
        ]
        found = [store.tasks.task(task.id) for page in pages for task in page]
        return [json.loads(task.payload or "{}")["n"] for task in found if task is not None]
    finally:
        store.close()
