"""What each command imports: start-up is a promise (spec/cli.md, docs/decisions/0002)."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from nsplugin_cli import __version__

SCRIPT = """
import sys
sys.argv = ["nsplugin", *sys.argv[1:]]
from nsplugin_cli.__main__ import main
code = main()
sys.stdout.flush()
print("\\n" + " ".join(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
sys.exit(code)
"""
HEAVY = {"pydantic", "rich", "croniter", "jsonschema", "asyncio"}
MANIFEST = {
    "manifestVersion": 1,
    "platform": "nextskin",
    "id": "cache",
    "entry": "plugin:plugin",
    "jobs": {"expire": {}},
    "cron": [{"schedule": "0 3 * * *", "job": "expire"}],
}


def imported(*arguments: str, cwd: Path | None = None) -> set[str]:
    """The top-level modules that one call, in a pipe, has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, cwd=cwd, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_the_version_is_the_distributions() -> None:
    assert __version__ == version("nsplugin")


def test_version_is_answered_before_click() -> None:
    assert not imported("--version") & {*HEAVY, "click", "json", "dataclasses", "nsplugin"}


@pytest.mark.parametrize("command", ["", "init", "build", "check", "lint", "diff", "next", "explain", "rules", "schema"])
def test_help_imports_nothing_heavy(command: str) -> None:
    assert not imported(*filter(None, (command, "--help"))) & HEAVY


def test_check_reads_a_manifest_without_the_heavy_libraries(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(MANIFEST))
    assert not imported("check", str(path), "--timezone", "Europe/Berlin") & (HEAVY - {"croniter"})


def test_next_is_light() -> None:
    assert not imported("next", "0 3 * * *", "--timezone", "Europe/Berlin") & (HEAVY - {"croniter"})


def test_linting_python_is_light(tmp_path: Path) -> None:
    source = 'from nsplugin import Job, define_plugin\nplugin = define_plugin(id="a", jobs={"a": Job(lambda: None)})\n'
    (tmp_path / "plugin.py").write_text(source)
    for _ in ("cold", "warm"):
        assert not imported("lint", cwd=tmp_path) & {*HEAVY, "tree_sitter", "watchfiles", "multiprocessing", "concurrent"}


def test_the_parent_of_build_is_light(tmp_path: Path) -> None:
    source = 'from nsplugin import Job, define_plugin\nplugin = define_plugin(id="a", jobs={"a": Job(lambda: None)})\n'
    (tmp_path / "plugin.py").write_text(source)
    assert not imported("build", cwd=tmp_path) & {*HEAVY, "tree_sitter"}
