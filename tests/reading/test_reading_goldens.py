"""What reading says of faulty texts, word for word (spec/manifest.md M6)."""

from __future__ import annotations

from pathlib import Path

import pytest

import reading_goldens

GOLDENS = list(reading_goldens.files())


@pytest.mark.parametrize(("path", "data"), GOLDENS, ids=[path.name for path, _ in GOLDENS])
def test_what_is_said_of_faulty_texts(path: Path, data: bytes) -> None:
    """Each fault once, at its place, with what to write instead; independent faults of one text all in one run."""
    assert data.decode() == path.read_text(encoding="utf-8")


def test_no_golden_is_left_over() -> None:
    assert set(reading_goldens.FOLDER.glob("*.golden.txt")) == {path for path, _ in GOLDENS}
