"""lint and build agree, clean sources are clean, and nothing that is linted runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import fixture_runs
from fixture_runs import call
from lint_world import lint
from nsplugin.pointers import UNKNOWN, split
from nsplugin_cli.source.python import read_python

ONLY_BUILD = {"NSP005": "only what runs can take too long"}
"""What shows only when the entry is imported."""
BUILT = [folder for folder in fixture_runs.folders() if any((folder / name).exists() for name in fixture_runs.SOURCES)]


def diagnostics(*command: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(call([*command, "--format", "json"])[1])["diagnostics"]
    return found


def named(found: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    keys = ("code", "message", "hint", "path", "pointer", "line", "column", "endLine", "endColumn")
    return {tuple(each[key] for key in keys) for each in found}


SOURCE_ONLY = {"NSP901", *(f"NSP{code}" for code in (304, 305, 306, 307, 401, 402, 403, 404, 501, 502))}


@pytest.mark.parametrize("folder", BUILT, ids=lambda folder: folder.name)
def test_lint_finds_what_build_finds(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same findings, words and places, but for what lint marks unknown. Beyond them only what the source shows."""
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(copy)
    built, linted = diagnostics("build", "--timeout", "5"), diagnostics("lint", "--no-cache")
    fails_when_run = any(each["code"] in (*ONLY_BUILD, "NSP001", "NSP003") for each in built)
    if not fails_when_run:
        files = [read_python(path.read_bytes(), path.name) for path in copy.glob("*.py")]
        raws = [definition.raw for file in files for definition in file.definitions]
        placed = [each for each in built if not _is_placed_better(each, linted)]
        known = [each for each in placed if raws and not any(is_unknown(raw, each["pointer"]) for raw in raws)]
        assert {each for each in named(known) - named(linted) if not is_silenced(*each)} == set()
        assert {each["code"] for each in linted} - {each["code"] for each in built} <= SOURCE_ONLY


def _is_placed_better(built: dict[str, Any], linted: list[dict[str, Any]]) -> bool:
    """Whether lint says the same and, unlike build, has a line for it."""
    keys = ("code", "message", "hint", "path", "pointer")
    return built["line"] is None and any([each[key] for key in keys] == [built[key] for key in keys] for each in linted)


def is_unknown(raw: Any, pointer: str) -> bool:
    """Whether lint does not know all of what stands there."""
    for step in split(pointer):
        if isinstance(raw, (list, tuple)) and step.isdecimal() and int(step) < len(raw):
            raw = raw[int(step)]
        elif isinstance(raw, Mapping) and step in raw:
            raw = raw[step]
        else:
            break
    return raw is UNKNOWN or (isinstance(raw, (Mapping, list, tuple)) and UNKNOWN in raw)


def is_silenced(code: str, message: str, hint: str, path: str, pointer: str, line: int, *_: Any) -> bool:
    """Ignores are lint's."""
    text = Path(path).read_text(encoding="utf-8").splitlines()[(line or 1) - 1]
    return f"nsplugin: ignore[{code}]" in text


def test_a_source_that_does_not_parse_is_one_finding_of_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(fixture_runs.FIXTURES / "bad" / "NSP003_does_not_parse", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    (built,), (linted,) = diagnostics("build"), diagnostics("lint", "--no-cache")
    keys = ("code", "path", "line", "column", "endLine", "endColumn")
    assert [built[key] for key in keys] == [linted[key] for key in keys]


def test_a_fault_in_the_project_file_is_no_second_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(fixture_runs.FIXTURES / "bad" / "NSP001_project_file", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    assert named(diagnostics("lint", "--no-cache")) == named(diagnostics("build"))


def test_the_clean_corpus_has_no_error(tmp_path: Path) -> None:
    """Over 300 files in both languages, linted as their authors would."""
    said = lint(fixture_runs.FIXTURES / "lint_clean", "--no-cache", "--format", "json")
    report = json.loads(said.out)
    assert [each for each in report["diagnostics"] if each["severity"] == "error"] == []
    assert (said.code, said.err) == (0, "")
    assert report["summary"]["files"] >= 300


DEEDS = {
    "writes": "open('marker', 'w').write('ran')",
    "deletes": "import os\nos.remove(__file__)",
    "exits": "import os\nos._exit(7)",
    "hangs": "while True:\n    pass",
    "starts": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'open(\"marker\", \"w\")'])",
    "breaks lint": "import nsplugin_cli.lint.run as run\nrun.lint = None",
}
SCRIPTS = {
    "writes.ts": "import { writeFileSync } from 'fs'\nwriteFileSync('marker', 'ran')\n",
    "hangs.mjs": "while (true) {}\n",
}


def test_linting_a_folder_of_traps_runs_none_of_them(tmp_path: Path) -> None:
    """In a process of its own, with everything in it that Python would import, start or read by itself."""
    plugin = "\nfrom nsplugin import Job, define_plugin\nplugin = define_plugin(id='a', jobs={'x': Job(lambda: None)})\n"
    for number, deed in enumerate(DEEDS.values()):
        (tmp_path / f"trap_{number}.py").write_text(deed + plugin)
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(
            text + "import { definePlugin } from '@nextskin/plugin-sdk'\nexport default definePlugin({})\n"
        )
    trap = DEEDS["writes"] + "\n"
    for name in ("conftest", "sitecustomize", "setup", "click", "json", "ast", "tomli", "nsplugin", "tree_sitter", "pathspec"):
        (tmp_path / f"{name}.py").write_text(trap)
    (tmp_path / "main.py").write_text("from conftest import *" + plugin)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    command = [str(Path(sys.executable).parent / "nsplugin"), "lint", "--no-cache", "--fix", "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60)
    assert json.loads(done.stdout)["summary"]["files"] == len(before)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
