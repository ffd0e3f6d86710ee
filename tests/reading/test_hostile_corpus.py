"""No hostile manifest makes reading or judging raise or hang (spec/manifest.md M6)."""

from __future__ import annotations

import time

import pytest

from hostile_corpus import COGOVER, Hostile, corpus
from hostile_texts import SOUND
from nsplugin.preinstall import check_manifest
from nsplugin.reading import read

CORPUS = list(corpus())
LIMIT = 10
"""CPU seconds that no single manifest may take, however slow the machine. Each takes well under three."""


def test_the_corpus_is_large_and_named() -> None:
    assert len(CORPUS) >= 250
    assert len({hostile.name for hostile in CORPUS}) == len(CORPUS)
    assert list(corpus()) == CORPUS


def test_what_the_corpus_is_made_of_is_sound() -> None:
    assert check_manifest(SOUND, timezone="UTC").problems == ()
    assert check_manifest(COGOVER, timezone="UTC").problems == ()


@pytest.mark.parametrize("hostile", CORPUS, ids=[hostile.name for hostile in CORPUS])
def test_a_hostile_manifest_is_refused_in_words_and_in_time(hostile: Hostile) -> None:
    """M6: never a traceback, never a hang; each finding has a line, a column and something printable to say."""
    started = time.process_time()
    document = read(hostile.data)
    report = check_manifest(hostile.data, timezone="America/New_York")
    assert bool(document.problems) == hostile.unreadable
    assert not report.ok
    assert time.process_time() - started < LIMIT
    for problem in (*document.problems, *report.problems):
        assert problem.span is not None
        assert problem.message.isprintable() and (problem.hint or "a").isprintable()
        assert len(problem.message) + len(problem.hint or "") < 600
