"""The administration page in a real headless Chromium; every test here is marked ``browser``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from admin_scenery import furnish
from admin_world import Site, install_shop, site

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.browser)


@pytest.fixture
def page_site(tmp_path: Path) -> Iterator[Site]:
    """A served page over a core with one plugin."""
    with site(tmp_path) as made:
        install_shop(made)
        yield made


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, list[str]]]:
    """A served page over a core with something of everything, and its dead letters; only to look at."""
    with site(tmp_path_factory.mktemp("core")) as made:
        yield made, furnish(made)
