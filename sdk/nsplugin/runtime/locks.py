"""``locks``: leases on names, with fencing tokens."""

from __future__ import annotations

from typing import Any, Final

from nsplugin.runtime.calls import Call
from nsplugin.runtime.invocation import Run

_PAUSE_S: Final = 0.2
"""How often a waiting caller looks whether the lock is free."""


class Lock:
    """A lock that is held until ``expires_at`` (Unix ms). A context manager, ``async with`` or (sync) ``with``.

    ``token`` grows with each holder of the name: hand it on, so that what comes from an earlier holder can be refused.
    """

    __slots__ = ("_run", "expires_at", "name", "token")

    def __init__(self, run: Run, name: str, token: int, expires_at: int) -> None:
        self._run = run
        self.name, self.token, self.expires_at = name, token, expires_at

    def renew(self, lease_ms: int) -> Call[None]:
        """Hold the lock for so many milliseconds from now. Raises ``LockLostError`` when the lease had run out."""
        arguments = {"name": self.name, "token": self.token, "lease_ms": lease_ms}
        return self._run.caller.call("locks.renew", arguments, self._renewed)

    def release(self) -> Call[None]:
        """Give the lock back. Raises ``LockLostError`` when the lease had run out."""
        return self._run.caller.call("locks.release", {"name": self.name, "token": self.token})

    def _renewed(self, answer: Any) -> None:
        self.expires_at = answer["expires_at"]

    async def __aenter__(self) -> Lock:
        return self

    async def __aexit__(self, kind: object, *error: object) -> None:
        released = self._left(kind)
        if kind is None:
            await released

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        released = self._left(kind)
        if kind is None:
            released.result()

    def _left(self, kind: object) -> Call[None]:
        """After an error in the block, that error says more than a lost lease."""
        released = self.release()
        released.observed = kind is not None
        return released

    def __repr__(self) -> str:
        return f"<lock {self.name!r}, token {self.token}>"


class Locks:
    """A project's locks: whoever holds a name keeps everybody else off it until the lease ends."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def acquire(self, name: str, *, lease_ms: int, wait_ms: int = 0) -> Call[Lock]:
        """Take a lock for so many milliseconds, waiting for it at most ``wait_ms``. Raises ``LockUnavailableError``."""
        if wait_ms > 0:
            return self._run.caller.spawn("locks.acquire", self._wait(name, lease_ms, wait_ms))
        return self._run.caller.call("locks.acquire", {"name": name, "lease_ms": lease_ms}, self._lock)

    async def _wait(self, name: str, lease_ms: int, wait_ms: int) -> Lock:
        left = wait_ms / 1000
        while True:
            try:
                return await self.acquire(name, lease_ms=lease_ms)
            except Exception as error:
                if getattr(error, "code", None) != "LOCK_UNAVAILABLE" or left <= 0:
                    raise
            await self._run.caller.sleep(min(left, _PAUSE_S))
            left -= _PAUSE_S

    def _lock(self, answer: Any) -> Lock:
        return Lock(self._run, answer["name"], answer["token"], answer["expires_at"])
