"""Tests that name ``core`` or ``site`` run on both stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service_world import Site
from store_fixtures import core, kind, url

__all__ = ["core", "kind", "local", "site", "url"]


@pytest.fixture
def site(url: str, tmp_path: Path) -> Iterator[Site]:
    """A database, on either store, and what runs on it."""
    made = Site(url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Site]:
    """A site on SQLite, for what has nothing to do with the store."""
    made = Site(f"sqlite:///{tmp_path / 'core.db'}", tmp_path)
    yield made
    made.close()
