"""Fixtures of tests that run on both stores: SQLite in a temporary folder, PostgreSQL in a schema of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_world import STORES, World, store_url, world


@pytest.fixture(params=[pytest.param(kind, marks=[pytest.mark.postgres] if kind == "postgres" else []) for kind in STORES])
def kind(request: pytest.FixtureRequest) -> str:
    """Which store."""
    return str(request.param)


@pytest.fixture
def core(kind: str, tmp_path: Path) -> Iterator[World]:
    """A core over an empty store."""
    with world(kind, tmp_path) as made:
        yield made


@pytest.fixture
def url(kind: str, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty store, for tests that open it more than once."""
    with store_url(kind, tmp_path) as made:
        yield made
