"""The values and locks in memory that tests of plugins use: as the core's."""

from __future__ import annotations

from nsplugin.runtime.memory import MemoryValues


def test_a_lease_that_ran_out_is_not_given_back() -> None:
    values = MemoryValues()
    lease = values.lock("shop", "l", "me", now=1_000, ttl_ms=500)
    assert lease is not None
    assert values.unlock("shop", "l", lease.token, now=1_500) is False
    assert values.unlock("shop", "l", lease.token, now=1_499) is True
    assert values.unlock("shop", "l", lease.token, now=1_499) is False
