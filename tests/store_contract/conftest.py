"""Every test here runs on both stores."""

from __future__ import annotations

from store_fixtures import core, kind, url

__all__ = ["core", "kind", "url"]
