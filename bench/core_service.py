"""A served core as its users see it: latency from enqueueing in another process to the handler's first line, and memory.

Run it with ``python bench/core_service.py --postgres postgresql://user@host/database``. Each task is enqueued alone, some
milliseconds after the one before has begun: light load. Goals: p50 under 10 ms, p99 under 30 ms, idle under 80 MB.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

from nsplugin_core.clock import SystemClock
from nsplugin_core.installing import install
from nsplugin_core.operations import Operations
from nsplugin_core.store import open_store

P50_MS, P99_MS, IDLE_MIB = 10.0, 30.0, 80.0
PATIENCE_S = 30.0
PLUGIN = """
import os, time
from pathlib import Path
from nsplugin import define_plugin

starts = os.open(Path(__file__).parent / "starts", os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def work(payload, attempt, ctx):
    os.write(starts, f"{payload['n']} {time.time_ns()}\\n".encode())


plugin = define_plugin(id="bench", version="1.0.0", jobs={"work": {"handler": work}})
"""
MANIFEST = (
    b'{"manifestVersion": 1, "platform": "nextskin", "id": "bench", "version": "1.0.0", "entry": "plugin:plugin",'
    b' "capabilities": [], "jobs": {"work": {}}, "cron": [], "routes": {}}'
)


@contextmanager
def served(url: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A core process with the plugin installed."""
    (folder / "plugin.py").write_text(PLUGIN, encoding="utf-8")
    store = open_store(url)
    install(store, SystemClock(), MANIFEST, timezone="UTC", folder=folder)
    store.close()
    command = [sys.executable, "-m", "nsplugin_cli", "serve", "--database", url, "--log-level", "warning"]
    process = subprocess.Popen(command, cwd=folder)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)


def latencies(url: str, folder: Path, count: int) -> list[float]:
    """Milliseconds from before the call that enqueues to the handler, one a task; the first ones warm up."""
    store = open_store(url)
    operations, source, starts = Operations.on(store, SystemClock()), random.Random(1), folder / "starts"
    found = []
    for number in range(count + 20):
        begun = time.time_ns()
        operations.enqueuer.enqueue("bench", "work", {"n": number}, {})
        found.append((_started(starts, number) - begun) / 1e6)
        time.sleep(source.uniform(0.01, 0.03))
    store.close()
    return found[20:]


def _started(starts: Path, number: int) -> int:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        lines = starts.read_text(encoding="ascii").splitlines() if starts.exists() else []
        if len(lines) > number and lines[number].startswith(f"{number} "):
            return int(lines[number].split()[1])
        time.sleep(0.002)
    raise SystemExit(f"task {number} did not start within {PATIENCE_S:g} s")


def resident_mib(pid: int) -> float:
    """The resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def measure(name: str, url: str, folder: Path, count: int) -> bool:
    """Print one line; whether the goals were met."""
    with served(url, folder) as process:
        found = latencies(url, folder, count)
        memory = resident_mib(process.pid)
    cuts = quantiles(found, n=100)
    met = cuts[49] < P50_MS and cuts[98] < P99_MS and memory < IDLE_MIB
    print(f"{name:11} p50 {cuts[49]:6.2f} ms   p99 {cuts[98]:6.2f} ms   core {memory:5.1f} MiB   {'ok' if met else 'MISSED'}")
    return met


def main() -> int:
    """Measure both stores; 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--postgres", default=os.environ.get("NSPLUGIN_TEST_POSTGRES"), help="a server's URL, to measure it too"
    )
    parser.add_argument("--count", type=int, default=300)
    given = parser.parse_args()
    met = []
    with tempfile.TemporaryDirectory() as folder:
        met.append(measure("SQLite", f"sqlite:///{folder}/core.db", Path(folder), given.count))
    if given.postgres:
        schema = f"bench{uuid.uuid4().hex[:12]}"
        with tempfile.TemporaryDirectory() as folder:
            separator = "&" if "?" in given.postgres else "?"
            met.append(measure("PostgreSQL", f"{given.postgres}{separator}schema={schema}", Path(folder), given.count))
        _drop(given.postgres, schema)
    return int(not all(met))


def _drop(server: str, schema: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA "{schema}" CASCADE'.encode())


if __name__ == "__main__":
    sys.exit(main())
