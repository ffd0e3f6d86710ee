"""``page``: a served administration page with the plugin ``shop``; ``client``: a client of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from admin_world import Site, install_shop, site


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Site]:
    """A page on loopback, open to this machine, over a core with one plugin."""
    with site(tmp_path) as made:
        install_shop(made)
        yield made


@pytest.fixture
def client(page: Site) -> httpx.Client:
    """A client that keeps cookies, as a browser does."""
    return page.client()
