"""What is said of payload schemas and payloads, word for word (spec/manifest.md M5)."""

from __future__ import annotations

from pathlib import Path

import pytest

import payload_goldens

GOLDENS = list(payload_goldens.files())


@pytest.mark.parametrize(("path", "data"), GOLDENS, ids=[path.name for path, _ in GOLDENS])
def test_what_is_said_of_schemas_and_payloads(path: Path, data: bytes) -> None:
    """Every fault at its place, in one sentence each, unions too."""
    assert data.decode() == path.read_text(encoding="utf-8")


def test_no_golden_is_left_over() -> None:
    assert set(payload_goldens.FOLDER.glob("*.golden.txt")) == {path for path, _ in GOLDENS}
