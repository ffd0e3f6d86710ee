"""``nsplugin lint`` beside CPython's own parser, in one run: prints a table with the machine and the date.

Run it with ``make bench``. Each number is the median of the runs, taken in turns; ratios are what the targets speak of.
"""

from __future__ import annotations

import compileall
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from workloads import lint_corpus

ROOT = Path(__file__).parent.parent
NSPLUGIN, PYTHON = str(Path(sys.executable).parent / "nsplugin"), sys.executable
FILES, RUNS = 1000, 5
PARSE = "import ast, glob\nfor path in glob.glob('*.py'):\n    with open(path, 'rb') as file:\n        ast.parse(file.read())\n"
"""What everybody pays who looks at Python with Python: each file read and parsed, in one process."""


class Bench:
    """A folder of sources in each language, and the time and memory of commands in it."""

    def __init__(self, folder: Path) -> None:
        self.python, self.typescript, self.one = (folder / name for name in ("python", "typescript", "one"))
        for place, template, ending, count in (
            (self.python, lint_corpus.PYTHON, "py", FILES),
            (self.typescript, lint_corpus.TYPESCRIPT, "ts", FILES),
            (self.one, lint_corpus.PYTHON, "py", 1),
        ):
            (place / ".git").mkdir(parents=True)
            lint_corpus.write(place, template, ending, count)
        self.times: dict[str, list[float]] = {}

    def run(self, name: str, folder: Path, *command: str) -> None:
        """Time one command in milliseconds."""
        start = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True)
        self.times.setdefault(name, []).append((time.perf_counter() - start) * 1000)
        assert done.returncode == 0, (command, done.stdout[-500:], done.stderr[-500:])

    def once(self) -> None:
        """Every command one time, those that are compared next to each other."""
        for folder in (self.python, self.typescript, self.one):
            shutil.rmtree(folder / ".nsplugin_cache", ignore_errors=True)
        self.run("parse", self.python, PYTHON, "-c", PARSE)
        self.run("cold", self.python, NSPLUGIN, "lint")
        self.run("warm", self.python, NSPLUGIN, "lint")
        self.run("typescript", self.typescript, NSPLUGIN, "lint")
        self.run("version", self.one, NSPLUGIN, "--version")
        self.run("one", self.one, NSPLUGIN, "lint", "--no-cache", "plugin_0.py")

    def median(self, name: str) -> float:
        """The median time of a command, in milliseconds."""
        return median(self.times[name])


def memory(folder: Path) -> float:
    """The largest memory of any process of a cold run, in MiB."""
    script = (
        f"import resource, subprocess\nsubprocess.run([{NSPLUGIN!r}, 'lint', '--no-cache'], capture_output=True, check=True)\n"
    )
    script += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    out = subprocess.run([PYTHON, "-c", script], cwd=folder, capture_output=True, text=True, check=True).stdout
    return int(out) / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main(write: Callable[[str], object] = print) -> int:
    """Measure and print; 1 when a target is missed."""
    for package in ("sdk", "cli", "schemas"):
        compileall.compile_dir(ROOT / package, quiet=1)
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(Path(temporary))
        for _ in range(RUNS):
            bench.once()
        used = memory(bench.python), memory(bench.typescript)
    parse, cold, warm, typescript = map(bench.median, ("parse", "cold", "warm", "typescript"))
    one, version = bench.median("one"), bench.median("version")
    rows = (
        (f"{FILES} Python files, cold / ast.parse of them", f"{cold:.0f} / {parse:.0f} ms", cold / parse, 1.5),
        (f"{FILES} Python files, cached / ast.parse of them", f"{warm:.0f} / {parse:.0f} ms", warm / parse, 0.25),
        (f"{FILES} TypeScript files / as many Python files", f"{typescript:.0f} / {cold:.0f} ms", typescript / cold, 3.0),
        ("one file - nsplugin --version, ms", f"{one:.0f} - {version:.0f} ms", one - version, 60.0),
        ("largest process, Python, MiB", "", used[0], 150.0),
        ("largest process, TypeScript, MiB", "", used[1], 150.0),
    )
    write(f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    write(f"{'what / against what':50} {'measured':>18} {'result':>7} {'target':>7}")
    for what, measured, result, target in rows:
        write(f"{what:50} {measured:>18} {result:7.2f} {target:7.2f}{'' if result <= target else '  missed'}")
    return int(any(result > target for _, _, result, target in rows))


if __name__ == "__main__":
    sys.exit(main())
