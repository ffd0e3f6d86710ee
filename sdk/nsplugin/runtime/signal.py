"""The abort signal of an attempt."""

from __future__ import annotations

from nsplugin.runtime.calls import Call


class Signal:
    """Set when the attempt's time is over (spec/nextskin.md X2). May be looked at from any thread."""

    __slots__ = ("_over", "reason")

    def __init__(self) -> None:
        self.reason: str | None = None
        self._over: Call[None] = Call("ctx.signal.wait")

    @property
    def aborted(self) -> bool:
        """Whether the attempt was given up: no result of it counts any more."""
        return self._over.done()

    def wait(self) -> Call[None]:
        """Awaitable until the signal is set; ``.result(timeout)`` in a sync handler."""
        return self._over

    def abort(self, reason: str) -> None:
        """Set the signal; the first reason stays."""
        if not self._over.done():
            self.reason = reason
            self._over.resolve(None)

    def __repr__(self) -> str:
        return f"<signal: {self.reason or 'not aborted'}>"
