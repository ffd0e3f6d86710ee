"""Calls that are wrong, and endings that are no bug of nsplugin: what each prints, in one golden file."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import fixture_runs

GOLDEN = Path(__file__).parent / "cli" / "wrong_calls.txt"
DEFINITION = 'from nsplugin import Job, define_plugin\n\nplugin = define_plugin(id="a", jobs={"a": Job(lambda: None)})\n'
NOW = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\dZ")
NO_DIGEST, ANY_DIGEST = "sha256:12", "sha256:" + "0" * 64

CALLS = (
    ["biuld"],
    ["frobnicate"],
    ["check"],
    ["check", "a.json"],
    ["check", "a.json", "--timezone", "UTC"],
    ["check", ".", "--timezone", "UTC"],
    ["check", "a\0b", "--timezone", "UTC"],
    ["check", "a.json", "--timezone", "europe/berlin"],
    ["check", "a.json", "--timezone", "../etc/passwd"],
    ["check", "a.json", "--timezone", "UTC", "--now", "yesterday"],
    ["check", "a.json", "--timezone", "UTC", "--now", "2026-01-01"],
    ["check", "a.json", "--timezone", "UTC", "--digest", NO_DIGEST],
    ["check", "a", "b", "--timezone", "UTC", "--digest", ANY_DIGEST],
    ["check", "a.json", "--timezone", "UTC", "--format", "yaml"],
    ["build", "no/such/folder"],
    ["build", "--check", "--stdout"],
    ["build", "--stdout", "--format", "json"],
    ["build", "--stdout", "--out", "x.json"],
    *(["build", f"--timeout={seconds}"] for seconds in ("nan", "-nan", "inf", "-1", "0", "1e9")),
    ["next"],
    ["next", "* * * * *"],
    ["next", "* * * * *", "--timezone", "Mars"],
    ["next", "* * * * *", "--platfrom", "nextskin"],
    ["next", "0", "3", "*", "*", "*"],
    ["explain", "NSP999"],
    ["explain", "cron-never-fire"],
    ["schema", "confg"],
    ["init", "x"],
    ["init", "x", "--platform", "nextskin", "--id", "a b"],
    ["init", "x", "--platform", "nextskin", "--id", "a" * 65],
)
"""Each in an empty folder: none writes to standard output, and each exits with 2."""


def _link(path: Path) -> None:
    path.symlink_to("nowhere")


FOUND: tuple[tuple[str, str, Callable[[Path], object], tuple[str, ...]], ...] = (
    ("a manifest that is a pipe", "dist/plugin.manifest.json", os.mkfifo, ("build", "build --check")),
    ("a manifest that is a folder", "dist/plugin.manifest.json", os.mkdir, ("build", "build --check")),
    ("a project file that is a pipe", "nsplugin.toml", os.mkfifo, ("build", "build nsplugin.toml", "lint")),
    ("a project file that is a folder", "nsplugin.toml", os.mkdir, ("build", "build plugin.py", "lint")),
    ("a project file that is a link to nothing", "nsplugin.toml", _link, ("build", "lint")),
    (
        "a manifest of two mebibytes",
        "a.json",
        lambda path: path.write_text('"' + "x" * (2 << 20) + '"'),
        ("check a.json --timezone UTC",),
    ),
    ("an output below what is no folder", "nothing", os.mkdir, ("build --out /dev/null",)),
)
"""What stands in the way, where, how it comes there, and the commands that meet it beside a plugin."""


def rendered() -> str:
    """The golden text."""
    return "\n".join([*_calls(), *_scenes()])


def _calls() -> Iterator[str]:
    with _empty():
        for arguments in CALLS:
            yield _said(arguments, fixture_runs.call(arguments))


def _scenes() -> Iterator[str]:
    for what, name, make, commands in FOUND:
        yield f"# {what}: {name}\n"
        for command in commands:
            with _empty():
                Path("plugin.py").write_text(DEFINITION, encoding="utf-8")
                Path(name).parent.mkdir(exist_ok=True)
                make(Path(name))
                yield _said(shlex.split(command), fixture_runs.call(shlex.split(command)))


@contextmanager
def _empty() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, fixture_runs.inside(Path(folder)):
        yield


def _said(arguments: list[str], result: tuple[int, str, str]) -> str:
    code, out, err = result
    text = f"$ nsplugin {shlex.join(arguments)}\n{out}{err}[exit {code}]\n".replace("\0", "\\0")
    return NOW.sub("<now>", text.replace(str(Path.cwd()), "<folder>"))


def files() -> Iterator[tuple[Path, bytes]]:
    """The golden file and what it should hold."""
    yield GOLDEN, rendered().encode()
