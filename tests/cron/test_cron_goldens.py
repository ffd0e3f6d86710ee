"""What cron says to people, whole files at once."""

from __future__ import annotations

import pytest

import cron_goldens


@pytest.mark.parametrize("name", cron_goldens.TEXTS)
def test_the_texts_are_those_of_the_golden_files(name: str) -> None:
    """spec/cron.md G1–G3, F2–F5; `make update` writes the files."""
    assert (cron_goldens.FOLDER / name).read_text(encoding="utf-8") == cron_goldens.rendered(name).decode()
