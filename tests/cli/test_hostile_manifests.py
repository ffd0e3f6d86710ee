"""No manifest makes ``check`` print a traceback, hang, or accept it (spec/manifest.md M6)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fixture_runs
import hostile_corpus

CORPUS = list(hostile_corpus.corpus())
SECONDS = 15  # three times what most machines take: what grows with the square takes minutes
"""Of this process's own time, so that a busy machine fails nothing."""
EVERY = 12
"""Each so many-th manifest goes through a process of its own as well."""


def test_the_corpus_is_large() -> None:
    assert len({hostile.name for hostile in CORPUS}) == len(CORPUS) >= 200


@pytest.mark.parametrize(("form", "step"), [("json", 1), ("text", 4), ("sarif", 12), ("github", 12), ("junit", 12)])
def test_every_hostile_manifest_is_refused_in_good_time_and_in_words(form: str, step: int) -> None:
    arguments = ["check", "-", "--timezone", "Europe/Berlin", "--now", "2026-03-06T12:00Z", "--format", form]
    for hostile in CORPUS[::step]:
        start = time.process_time()
        code, out, err = fixture_runs.call(arguments, hostile.data)
        taken = time.process_time() - start
        assert (code, err) == (1, ""), f"{hostile.name}: {code} {err}"
        assert taken < SECONDS, f"{hostile.name} took {taken:.1f} s"
        _looks_right(hostile, out, form)


def _looks_right(hostile: hostile_corpus.Hostile, out: str, form: str) -> None:
    assert "Traceback" not in out, hostile.name
    if form == "text":
        assert len(out) < 400_000, f"{hostile.name}: a report of {len(out)} characters"
        assert all(character.isprintable() or character == "\n" for character in out), hostile.name
        return
    if form != "json":
        assert "NSP" in out, hostile.name
        return
    report = json.loads(out)
    codes = {finding["code"] for finding in report["diagnostics"] if finding["severity"] == "error"}
    assert codes and report["plugins"] == [], hostile.name
    assert ("NSP601" in codes) is hostile.unreadable, f"{hostile.name}: {codes}"


@pytest.mark.parametrize("hostile", CORPUS[::EVERY], ids=lambda hostile: hostile.name[:60])
def test_a_process_of_its_own_says_the_same(hostile: hostile_corpus.Hostile, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(hostile.data)
    arguments = ["check", str(path), "--timezone", "Europe/Berlin", "--now", "2026-03-06T12:00Z", "--format", "json"]
    done = subprocess.run([sys.executable, "-m", "nsplugin_cli", *arguments], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == fixture_runs.call(arguments)
    assert done.returncode == 1
