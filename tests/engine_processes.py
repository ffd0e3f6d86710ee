"""Bodies of the processes that tests start beside themselves."""

from __future__ import annotations

import random
from multiprocessing.synchronize import Barrier
from typing import Any

from nsplugin_core.scheduler import Scheduler
from nsplugin_core.store import open_store


def schedule_minutes(url: str, barrier: Barrier, start: int, minutes: int, told: Any) -> None:
    """A scheduler that looks at every minute at the same moment as all others."""
    store = open_store(url)
    events: list[tuple[str, str, int]] = []
    scheduler = Scheduler(
        store=store,
        source=random.SystemRandom(),
        observe=lambda event: events.append((event.type, event.plugin, event.due or 0)),
    )
    for minute in range(1, minutes + 1):
        barrier.wait(60)
        scheduler.run_once(start + minute * 60_000)
    told.put(events)
    store.close()
