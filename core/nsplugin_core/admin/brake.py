"""How long whoever sent a wrong token waits for the answer: longer each time, by client.

The right token is let in whatever happened before, so nobody can lock its owner out by guessing beside them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from typing import Final

FIRST_S: Final = 0.5
"""A person does not notice, a program that guesses does."""
FREE: Final = 3
"""So many mistakes cost no more than the first; then each costs twice the one before."""
LONGEST_S: Final = 30.0
FORGET_S: Final = 900.0
MOST_CLIENTS: Final = 1_000
MOST_WAITING: Final = 20
"""Answers that are held back hold connections, of which others need some: beyond these nobody waits longer than at first."""


class Brake:
    """Counts wrong tokens by client, in memory. ``now`` is a clock in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._wrong: dict[str, tuple[int, float]] = {}
        self._waiting = 0

    async def hold(self, client: str | None) -> None:
        """Wait before a wrong token is answered."""
        seconds = self.after_wrong(client)
        self._waiting += 1
        try:
            await asyncio.sleep(seconds if self._waiting <= MOST_WAITING else FIRST_S)
        finally:
            self._waiting -= 1

    def after_wrong(self, client: str | None) -> float:
        """Note a wrong token; the seconds that its sender waits for the answer."""
        who, now = _neighbourhood(client), self._now()
        count, at = self._wrong.pop(who, (0, now))
        count = 1 if now - at > FORGET_S else count + 1
        self._wrong[who] = count, now
        if len(self._wrong) > MOST_CLIENTS:
            del self._wrong[next(iter(self._wrong))]
        return min(LONGEST_S, FIRST_S * 2.0 ** min(max(0, count - FREE), 10))


def _neighbourhood(client: str | None) -> str:
    """One machine has as many IPv6 addresses as it likes, of one network of 64 bits."""
    try:
        address = ip_address(client or "")
    except ValueError:
        return client or ""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return address.exploded[:19]
    return str(address)
