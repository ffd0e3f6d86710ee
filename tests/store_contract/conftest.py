"""Every test here runs on both stores."""

from __future__ import annotations

import pytest

from engine_world import World, nextskin
from store_fixtures import core, kind, url

__all__ = ["core", "kind", "shop", "url"]


@pytest.fixture
def shop(core: World) -> World:
    """A core with the plugin ``shop``, whose job ``sync`` has three attempts."""
    core.install(nextskin(jobs={"sync": {"maxAttempts": 3, "timeoutMs": 60_000}, "other": {}}))
    return core
