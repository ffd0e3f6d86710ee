"""Answers ``kv``, ``state`` and ``locks``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from nsplugin.runtime.arguments import Arguments
from nsplugin.runtime.faults import Fault

if TYPE_CHECKING:
    from nsplugin.runtime.desk import Desk, Visit

KV: Final = ""
"""The namespace of NextSkin's kv; none of Cogover's can have this name."""
_MAX_PAGE: Final = 1_000
_MAX_NAMESPACE: Final = 64


def _key(desk: Desk, arguments: Arguments) -> str:
    return arguments.text("key", desk.platform.storage.key_max_length)


def _namespace(arguments: Arguments) -> str:
    return arguments.text("namespace", _MAX_NAMESPACE)


def _expires(desk: Desk, arguments: Arguments, now: int) -> int | None:
    ttl = arguments.optional_integer("ttl_ms", 1, desk.platform.storage.ttl_max_ms)
    return None if ttl is None else now + ttl


def _kv_get(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    entry = desk.services.values.entry(visit.facts.plugin, KV, _key(desk, arguments), now=desk.services.now())
    return None if entry is None else json.loads(entry.value)


def _kv_set(desk: Desk, visit: Visit, arguments: Arguments) -> None:
    now, value = desk.services.now(), arguments.json("value", desk.platform.storage.value_max_bytes)
    key, expires_at = _key(desk, arguments), _expires(desk, arguments, now)
    desk.services.values.put(visit.facts.plugin, KV, key, value, now=now, expires_at=expires_at)


def _kv_delete(desk: Desk, visit: Visit, arguments: Arguments) -> None:
    desk.services.values.remove(visit.facts.plugin, KV, _key(desk, arguments), now=desk.services.now())


def _keys(desk: Desk, visit: Visit, arguments: Arguments, namespace: str, after: str, more: int = 0) -> list[str]:
    """At most ``limit`` keys, and so many more. ``after``: the argument with the last key of the page before."""
    most = desk.platform.storage.key_max_length
    entries = desk.services.values.entries(
        visit.facts.plugin,
        namespace,
        now=desk.services.now(),
        prefix=arguments.text("prefix", most, least=0),
        after=arguments.text(after, most, least=0),
        limit=arguments.integer("limit", 1, _MAX_PAGE) + more,
    )
    return [entry.key for entry in entries]


def _kv_list(desk: Desk, visit: Visit, arguments: Arguments) -> list[str]:
    return _keys(desk, visit, arguments, KV, "after")


def _state_get(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    values, now = desk.services.values, desk.services.now()
    entry = values.entry(visit.facts.plugin, _namespace(arguments), _key(desk, arguments), now=now)
    if entry is None:
        return None
    return {"value": json.loads(entry.value), "version": entry.version, "expires_at": entry.expires_at}


def _state_set(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    now, value = desk.services.now(), arguments.json("value", desk.platform.storage.value_max_bytes)
    plugin, namespace, key = visit.facts.plugin, _namespace(arguments), _key(desk, arguments)
    expected, expires_at = arguments.optional_integer("if_version", 0, 2**53), _expires(desk, arguments, now)
    values = desk.services.values
    version = values.put(plugin, namespace, key, value, now=now, expires_at=expires_at, expected=expected)
    if version is None:
        raise _conflict(desk, plugin, namespace, key, expected)
    return {"value": arguments.values["value"], "version": version, "expires_at": expires_at}


def _state_delete(desk: Desk, visit: Visit, arguments: Arguments) -> bool:
    now, values = desk.services.now(), desk.services.values
    plugin, namespace, key = visit.facts.plugin, _namespace(arguments), _key(desk, arguments)
    expected = arguments.optional_integer("if_version", 0, 2**53)
    removed = values.remove(plugin, namespace, key, now=now, expected=expected)
    if not removed and expected is not None and values.entry(plugin, namespace, key, now=now) is not None:
        raise _conflict(desk, plugin, namespace, key, expected)
    return removed


def _conflict(desk: Desk, plugin: str, namespace: str, key: str, expected: int | None) -> Fault:
    entry = desk.services.values.entry(plugin, namespace, key, now=desk.services.now())
    version = 0 if entry is None else entry.version
    text = f"state: {key!r} has version {version}, not {expected}: somebody else wrote it; read it again"
    return Fault("STATE_CONFLICT", text, key=key, version=version)


def _state_list(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    limit, keys = arguments.values["limit"], _keys(desk, visit, arguments, _namespace(arguments), "cursor", more=1)
    return {"keys": keys[:limit], "next_cursor": keys[limit - 1] if len(keys) > limit else None}


def _lock_name(desk: Desk, arguments: Arguments) -> str:
    return arguments.text("name", desk.platform.storage.key_max_length)


def _lease_ms(desk: Desk, arguments: Arguments) -> int:
    return arguments.integer("lease_ms", 1, desk.platform.storage.lease_max_ms)


def _acquire(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    facts, name, now = visit.facts, _lock_name(desk, arguments), desk.services.now()
    lease = desk.services.values.lock(facts.plugin, name, facts.id, now=now, ttl_ms=_lease_ms(desk, arguments))
    if lease is None:
        raise Fault("LOCK_UNAVAILABLE", f"locks: {name!r} is held already, by another run or by this one", name=name)
    return {"name": name, "token": lease.token, "expires_at": lease.expires_at}


def _renew(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    name, token = _lock_name(desk, arguments), arguments.integer("token", 0, 2**63)
    lease_ms = _lease_ms(desk, arguments)
    lease = desk.services.values.renew(visit.facts.plugin, name, token, now=desk.services.now(), ttl_ms=lease_ms)
    if lease is None:
        raise _lost(name)
    return {"expires_at": lease.expires_at}


def _release(desk: Desk, visit: Visit, arguments: Arguments) -> None:
    name, token = _lock_name(desk, arguments), arguments.integer("token", 0, 2**63)
    if not desk.services.values.unlock(visit.facts.plugin, name, token, now=desk.services.now()):
        raise _lost(name)


def _lost(name: str) -> Fault:
    return Fault("LOCK_LOST", f"locks: the lease of {name!r} ran out; another run may hold it now", name=name)


METHODS: Final[Mapping[str, Callable[[Desk, Visit, Arguments], Any]]] = {
    "kv.get": _kv_get,
    "kv.set": _kv_set,
    "kv.delete": _kv_delete,
    "kv.list": _kv_list,
    "state.get": _state_get,
    "state.set": _state_set,
    "state.delete": _state_delete,
    "state.list": _state_list,
    "locks.acquire": _acquire,
    "locks.renew": _renew,
    "locks.release": _release,
}
