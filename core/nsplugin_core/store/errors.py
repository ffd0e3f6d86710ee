"""What a store can refuse. Each message says what, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence


class StoreError(Exception):
    """Any refusal or failure of a store."""


class StoreUnavailable(StoreError):
    """The database can't be reached, or stayed busy. The call may be made again; what it wrote may or may not be there."""


class StoreBusy(StoreUnavailable):
    """Others were in the way, again and again; nothing was written."""


class NewerSchema(StoreError):
    """The database was made by a newer version."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"the database has schema version {found}, this nsplugin knows versions up to {known}:"
            " upgrade nsplugin, or use another database"
        )


class UnknownPlugin(StoreError):
    """No plugin of that id is installed."""

    def __init__(self, plugin: str) -> None:
        super().__init__(f"no plugin {plugin!r} is installed here; `nsplugin install` installs one")
        self.plugin = plugin


class UnknownJob(StoreError):
    """The installed version of the plugin declares no such job."""

    def __init__(self, plugin: str, job: str, declared: Sequence[str]) -> None:
        known = ", ".join(sorted(declared)) or "none"
        super().__init__(f"plugin {plugin!r} declares no job {job!r} (declared: {known})")
        self.plugin, self.job, self.declared = plugin, job, tuple(declared)


class TooManyUnfinished(StoreError):
    """The project has as many tasks waiting or running as it may (spec/cogover.md E8)."""

    def __init__(self, plugin: str, limit: int) -> None:
        super().__init__(
            f"project {plugin!r} has {limit} tasks waiting or running, as many as it may; try again when some are done"
        )
        self.plugin, self.limit = plugin, limit
