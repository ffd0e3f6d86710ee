"""Retention: what has outlived its time goes, in small batches (spec/core.md Q6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nsplugin_core.store.protocol import Store

BATCH: Final = 500
EVERY_MS: Final = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeper:
    """Removes expired dead letters, finished runs, records of attempts, plugins' values and locks."""

    store: Store

    def run_once(self, now_ms: int) -> int:
        """Remove one batch of each kind; returns how many rows. More than nothing left means: call again soon."""
        return self.store.tasks.sweep(now=now_ms, limit=BATCH).total
