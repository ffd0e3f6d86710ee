"""Keeps the hosts in step with what is installed: new plugins, upgrades, and those that were switched off or removed.

It also stands between dispatcher and hosts, so that no attempt runs on a version older than the one it was claimed for.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from nsplugin_core.attempts import Attempt, Deliver, HostPool
from nsplugin_core.host.capabilities.secrets import from_environment
from nsplugin_core.host.settings import PluginSource
from nsplugin_core.store.protocol import Store
from nsplugin_core.store.records import PluginRecord

EVERY_MS: Final = 250
_logger: Final = logging.getLogger("nsplugin.core")
Version = tuple[str, int, str]


class Pool(HostPool, Protocol):
    """Hosts that are told of plugins."""

    def put(self, source: PluginSource) -> None:
        """Run this plugin, or this version of it."""
        ...

    def remove(self, plugin: str) -> None:
        """Run this plugin no more."""
        ...


class Roster:
    """A loop's body: compares the store with the hosts. A plugin whose code is not on this machine is left to others.

    Towards the dispatcher it is the pool (:class:`nsplugin_core.attempts.HostPool`).
    """

    def __init__(self, store: Store, pool: Pool, environment: Mapping[str, str] = os.environ) -> None:
        self._store, self._pool, self._environment = store, pool, environment
        self._running: dict[str, Version] = {}
        self._elsewhere: dict[str, str] = {}
        self._platforms: dict[str, str] = {}
        self._seen: list[PluginRecord] = []
        self._lock = threading.Lock()

    def run_once(self, now_ms: int) -> int:
        """One look; returns 0: there is nothing more to do until something changes."""
        with self._lock:
            records = self._store.registry.plugins()
            if records != self._seen or self._elsewhere:
                self._follow(records)
                self._seen = records
        return 0

    def free(self, plugin: str) -> int:
        """See :class:`HostPool`."""
        return self._pool.free(plugin)

    def cancel(self, task_id: str, claim: int) -> None:
        """See :class:`HostPool`."""
        self._pool.cancel(task_id, claim)

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        """Start attempts; those of a version that is not known here yet make for a look first (spec/cogover.md D9)."""
        known = {plugin: version for plugin, (_, version, _) in self._running.copy().items()}
        if any(attempt.version > known.get(attempt.plugin, attempt.version) for attempt in attempts):
            self.run_once(0)
        self._pool.start(attempts, deliver)

    def platform(self, plugin: str) -> str:
        """The platform of an installed plugin."""
        if plugin not in self._platforms:
            self.run_once(0)
        return self._platforms[plugin]

    @property
    def elsewhere(self) -> Mapping[str, str]:
        """The enabled plugins that don't run here, and why."""
        return dict(self._elsewhere)

    def _follow(self, records: list[PluginRecord]) -> None:
        self._platforms = {record.id: record.platform for record in records}
        wanted = {record.id: record for record in records if record.enabled}
        self._elsewhere = {plugin: why for plugin, why in self._elsewhere.items() if plugin in wanted}
        for plugin in [plugin for plugin in self._running if plugin not in wanted]:
            self._stop(plugin)
        for record in wanted.values():
            try:
                self._place(record)
            except Exception as error:
                self._leave(record.id, f"the core failed over it: {error}", error)

    def _leave(self, plugin: str, why: str, error: Exception | None = None) -> None:
        """To others, or until the next look; a fault of ours has a traceback, once."""
        if self._elsewhere.get(plugin) != why:
            level = logging.WARNING if error is None else logging.ERROR
            _logger.log(level, "plugin %s does not run here: %s", plugin, why, exc_info=error)
        self._elsewhere[plugin] = why

    def _place(self, record: PluginRecord) -> None:
        why = _missing(record)
        if why is not None:
            self._leave(record.id, why)
            if record.id in self._running:
                self._stop(record.id)
            return
        version = (record.digest, record.updated_at, record.folder or "")
        if self._running.get(record.id) != version:
            self._pool.put(self._source(record))
            self._running[record.id] = version
            _logger.info("plugin %s %s runs from %s", record.id, record.version or "", record.folder)
        self._elsewhere.pop(record.id, None)

    def _stop(self, plugin: str) -> None:
        self._pool.remove(plugin)
        del self._running[plugin]
        _logger.info("plugin %s runs here no more", plugin)

    def _source(self, record: PluginRecord) -> PluginSource:
        manifest: dict[str, Any] = json.loads(record.manifest)
        return PluginSource(
            id=record.id,
            platform=record.platform,
            directory=Path(record.folder or ""),
            entry=manifest["entry"],
            manifest=manifest,
            secrets=from_environment(record.id, self._environment),
            allow_internal_system=record.internal_system,
        )


def _missing(record: PluginRecord) -> str | None:
    if record.folder is None:
        return "nobody said where its code lies: install it again with --code FOLDER"
    try:
        there = Path(record.folder).is_dir()
    except OSError as error:
        return f"folder {record.folder} can't be looked at: {error.strerror}"
    return None if there else f"there is no folder {record.folder} on this machine"
