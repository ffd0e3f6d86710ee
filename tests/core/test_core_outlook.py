"""When the dispatcher looks at the store again, and over how much of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from nsplugin_core.attempts import Attempt, Deliver
from nsplugin_core.outlook import MARGIN_MS, POLL_MS, WHOLE_MS, Outlook
from nsplugin_core.store.records import Horizon

NOW = 10_000_000


class Pool:
    """Free slots by plugin."""

    def __init__(self, **slots: int) -> None:
        self.slots = slots

    def free(self, plugin: str) -> int:
        return self.slots.get(plugin, 0)

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None: ...

    def cancel(self, task_id: str, claim: int) -> None: ...


def look(due: Mapping[str, int] | None = None, lease: int | None = None, first: int | None = None, **facts: object) -> Outlook:
    horizon = Horizon(due=due or {}, lease=lease, first=first, plugins=set())
    return Outlook().after(horizon, now=NOW, since=0, short=facts.get("short", ()))


@pytest.mark.parametrize("moment", [NOW + 1, NOW + 500, NOW + POLL_MS - 1])
def test_nothing_new_means_no_look(moment: int) -> None:
    assert not look().is_over(moment, Pool(shop=9))


@pytest.mark.parametrize("moment", [NOW + POLL_MS, NOW + 10 * POLL_MS, NOW - 1])
def test_a_wake_up_can_get_lost_and_a_clock_set_back(moment: int) -> None:
    assert look().is_over(moment, Pool())


def test_a_task_or_a_lease_that_is_due_means_a_look() -> None:
    assert look({"shop": NOW + 300, "mail": NOW + 700}).next_due == NOW + 300
    assert look({"shop": NOW + 300}, lease=NOW + 200).next_due == NOW + 200
    assert not look({"shop": NOW + 300}).is_over(NOW + 299, Pool())
    assert look({"shop": NOW + 300}).is_over(NOW + 300, Pool())


def test_due_tasks_without_a_free_slot_wait_for_the_slot_not_for_the_time() -> None:
    outlook = look({"shop": NOW - 5}, short=["shop"])
    assert outlook.next_due is None
    assert not outlook.is_over(NOW + 1, Pool(mail=3))
    assert outlook.is_over(NOW + 1, Pool(shop=1))


def test_the_first_look_is_whole_and_the_next_begin_below_what_was_seen() -> None:
    assert Outlook().lower_bound(NOW) == 0
    assert look().lower_bound(NOW + 1) == NOW - MARGIN_MS
    assert look(first=NOW - 5_000).lower_bound(NOW + 1) == NOW - 5_000 - MARGIN_MS
    assert look(first=NOW + 5_000).lower_bound(NOW + 1) == NOW - MARGIN_MS
    assert look(first=5).lower_bound(NOW + 1) == 0


def test_every_minute_and_after_the_clock_was_set_back_the_look_is_whole() -> None:
    bounded = look().after(Horizon(due={}, lease=None, first=None, plugins=set()), now=NOW + 30_000, since=1, short=())
    assert bounded.lower_bound(NOW + WHOLE_MS - 1) > 0
    assert bounded.lower_bound(NOW + WHOLE_MS) == 0
    assert bounded.lower_bound(NOW - 1) == 0
