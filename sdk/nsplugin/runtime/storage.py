"""``kv`` (NextSkin) and ``state`` (Cogover): JSON values that a plugin keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from nsplugin.record import record
from nsplugin.runtime.calls import Call
from nsplugin.runtime.enqueueing import INVALID
from nsplugin.runtime.faults import Fault, raised
from nsplugin.runtime.invocation import Run

if TYPE_CHECKING:
    from nsplugin.cogover.context import StateEntry

NAMESPACE: Final = "default"
_TRIES: Final = 20


class KeyValues:
    """Values by key, the plugin's own. Needs the capability that the platform names for it."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def get(self, key: str) -> Call[Any]:
        """The value, or ``None`` when there is none."""
        return self._run.caller.call("kv.get", {"key": key})

    def set(self, key: str, value: Any, *, ttl_sec: int | None = None) -> Call[None]:
        """Write a JSON value; with ``ttl_sec`` it is gone after so many seconds. Raises at once when those are out of range."""
        ttl_ms = None if ttl_sec is None else _seconds(self._run, ttl_sec) * 1000
        return self._run.caller.call("kv.set", {"key": key, "value": value, "ttl_ms": ttl_ms})

    def delete(self, key: str) -> Call[None]:
        """Delete a value. Deleting what does not exist succeeds, so that a job may be repeated (spec/nextskin.md X1)."""
        return self._run.caller.call("kv.delete", {"key": key})

    def list(self, prefix: str = "", *, after: str = "", limit: int = 100) -> Call[list[str]]:
        """Keys with that prefix in order, those after ``after``, at most ``limit`` (1–1000)."""
        return self._run.caller.call("kv.list", {"prefix": prefix, "after": after, "limit": limit})


def _seconds(run: Run, value: object) -> int:
    """A lifetime, judged by the name and in the unit that the author wrote."""
    most = run.platform.storage.ttl_max_ms // 1000
    if type(value) is int and 1 <= value <= most:
        return value
    fault = Fault(INVALID, f"kv.set: ttl_sec must be a whole number of seconds from 1 to {most}", argument="ttl_sec")
    raise raised(fault, run.platform.context.errors)


@record
class Page:
    """Items, and where to go on; ``next_cursor`` is ``None`` on the last page."""

    items: list[Any]
    next_cursor: str | None = None


class State:
    """A project's values under namespaces, with growing versions, lifetimes and conditional writes."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def get(self, key: str, *, namespace: str = NAMESPACE) -> Call[StateEntry | None]:
        """The value of a key with its version, ``None`` when there is none or it expired."""
        return self._call("get", namespace, {"key": key}, _entry)

    def set(
        self,
        key: str,
        value: Any,
        *,
        namespace: str = NAMESPACE,
        ttl_ms: int | None = None,
        if_version: int | None = None,
    ) -> Call[StateEntry]:
        """Store JSON data. With ``if_version`` only over that version (0: over nothing), else ``StateConflictError``."""
        arguments = {"key": key, "value": value, "ttl_ms": ttl_ms, "if_version": if_version}
        return self._call("set", namespace, arguments, _entry)

    def delete(self, key: str, *, namespace: str = NAMESPACE, if_version: int | None = None) -> Call[bool]:
        """Remove a key; whether it existed. With ``if_version`` only that version, else ``StateConflictError``."""
        return self._call("delete", namespace, {"key": key, "if_version": if_version}, None)

    def list(self, prefix: str = "", *, namespace: str = NAMESPACE, cursor: str | None = None, limit: int = 100) -> Call[Page]:
        """Keys with that prefix, in order, at most ``limit`` (1–1000) a page."""
        return self._call("list", namespace, {"prefix": prefix, "cursor": cursor or "", "limit": limit}, _page)

    def update(
        self, key: str, change: Callable[[Any], Any], *, namespace: str = NAMESPACE, ttl_ms: int | None = None
    ) -> Call[StateEntry]:
        """Store ``change(value now, or None)``, computed anew whenever somebody else wrote in between."""
        return self._run.caller.spawn("state.update", self._update(key, change, namespace, ttl_ms))

    async def _update(self, key: str, change: Callable[[Any], Any], namespace: str, ttl_ms: int | None) -> StateEntry:
        for left in reversed(range(_TRIES)):
            now = await self.get(key, namespace=namespace)
            value = change(None if now is None else now.value)
            version = 0 if now is None else now.version
            try:
                return await self.set(key, value, namespace=namespace, ttl_ms=ttl_ms, if_version=version)
            except Exception as error:
                if not left or getattr(error, "code", None) != "STATE_CONFLICT":
                    raise
        raise AssertionError("unreachable")

    def _call(
        self, method: str, namespace: str, arguments: Mapping[str, Any], convert: Callable[[Any], Any] | None
    ) -> Call[Any]:
        return self._run.caller.call(f"state.{method}", {"namespace": namespace, **arguments}, convert)


def _entry(answer: Any) -> StateEntry | None:
    from nsplugin.cogover.context import StateEntry

    return None if answer is None else StateEntry(**answer)


def _page(answer: Any) -> Page:
    return Page(items=answer["keys"], next_cursor=answer["next_cursor"])
