"""The command line side by side with check-jsonschema, in one run: prints a table with the machine and the date.

Run it with ``make bench``. Each number is the median of the runs; ratios are what the targets speak of.
"""

from __future__ import annotations

import compileall
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
NSPLUGIN, PEER, PYTHON = str(BIN / "nsplugin"), str(BIN / "check-jsonschema"), sys.executable
SCHEMA = str(ROOT / "schemas/nsplugin_schemas/nextskin-manifest.schema.json")
RUNS, LONG_RUNS = 15, 5
PLUGIN = """from nsplugin import Job, define_plugin


def tidy():
    pass


plugin = define_plugin(id="tiny", jobs={"tidy": Job(tidy)})
"""


@dataclass(frozen=True)
class Row:
    """What was measured against what, and the ratio that it must not pass."""

    what: str
    command: list[str]
    against: list[str]
    target: float
    runs: int = RUNS


def manifest(number: int) -> dict[str, object]:
    """A manifest of about 2 KB: eight jobs, four schedules, four routes."""
    names = [f"job{number}.{index}" for index in range(8)]
    return {
        "manifestVersion": 1,
        "platform": "nextskin",
        "id": f"plugin-{number}",
        "version": "1.0.0",
        "entry": "plugin:plugin",
        "capabilities": ["storage.kv"],
        "jobs": {name: {"maxAttempts": 5, "timeoutMs": 60_000} for name in names},
        "cron": [
            {
                "schedule": f"{number % 60} {index + 4} * * *",
                "job": name,
                "payload": {"key": "a daily cache", "pages": [1, 2, 3]},
            }
            for index, name in enumerate(names[:4])
        ],
        "routes": {f"POST /{name}": {"auth": "user"} for name in names[:4]},
    }


def rows(folder: Path) -> Iterator[Row]:
    """Everything that has a target."""
    files = []
    for number in range(1000):
        files.append(str(folder / f"{number}.json"))
        Path(files[-1]).write_text(json.dumps(manifest(number), indent=2))
    (folder / "plugin.py").write_text(PLUGIN)
    check = [NSPLUGIN, "check", "--timezone", "Europe/Berlin"]
    peer = [PEER, "--schemafile", SCHEMA]
    yield Row("--version / its --version", [NSPLUGIN, "--version"], [PEER, "--version"], 0.2)
    size = Path(files[0]).stat().st_size
    yield Row(f"check one ({size} bytes) / its validation", [*check, files[0]], [*peer, files[0]], 0.5)
    yield Row("check 1,000 / its validation", [*check, *files], [*peer, *files], 0.5, LONG_RUNS)
    build = [NSPLUGIN, "build", str(folder / "plugin.py"), "--out", str(folder / "out.json")]
    yield Row("build the smallest / import click, pydantic", build, [PYTHON, "-c", "import click, pydantic"], 2.5)
    model = "import click; from pydantic import BaseModel"
    yield Row("build the smallest / import click, BaseModel", build, [PYTHON, "-c", model], 2.5)


def timed(command: list[str], environment: dict[str, str]) -> float:
    """Milliseconds of one run."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, env=environment)
    taken = time.perf_counter() - start
    assert done.returncode == 0, (command[:3], done.stdout[-500:], done.stderr[-500:])
    return taken * 1000


def pair(row: Row, environment: dict[str, str]) -> tuple[float, float]:
    """Medians of both, run in turns."""
    ours, theirs = [], []
    for _ in range(row.runs):
        ours.append(timed(row.command, environment))
        theirs.append(timed(row.against, environment))
    return median(ours), median(theirs)


def main(write: Callable[[str], object] = print) -> int:
    """Measure and print; 1 when a target is missed."""
    for package in ("sdk", "cli", "schemas"):
        compileall.compile_dir(ROOT / package, quiet=1)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    write(f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    write(f"{'what / against what':46} {'ours':>9} {'theirs':>9} {'ratio':>6} {'target':>6}")
    missed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for row in rows(Path(temporary)):
            ours, theirs = pair(row, environment)
            ratio = ours / theirs
            missed += ratio > row.target
            verdict = "" if ratio <= row.target else "  missed"
            write(f"{row.what:46} {ours:6.0f} ms {theirs:6.0f} ms {ratio:6.2f} {row.target:6.2f}{verdict}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
