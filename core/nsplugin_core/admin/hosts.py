"""What the pages say of a plugin's host: nothing while it is well."""

from __future__ import annotations

from collections.abc import Callable

from nsplugin_core.admin.wording import duration
from nsplugin_core.host.keeper import HostStatus

HostNotice = Callable[[str], str | None]
"""A plugin's id to a sentence or two."""


def no_notice(plugin: str) -> str | None:
    """For a core whose hosts are not in this process."""
    return None


def notice_of(status: Callable[[str], HostStatus]) -> HostNotice:
    """The notices of hosts that are in this process (spec/core.md Q3)."""
    return lambda plugin: _sentence(status(plugin))


def _sentence(status: HostStatus) -> str | None:
    if status.held and status.state in ("paused", "stopped"):
        return f"The host of this plugin is not started now: {status.held}. Its tasks wait, and no attempt is spent."
    if status.state != "paused":
        return None
    again = f"It is started again in {duration(max(1, round(status.resumes_in_s)) * 1000)}." if status.resumes_in_s > 0 else ""
    often = f"{status.exits} times in a row" if status.exits > 1 else "once"
    reason = f": {status.reason.rstrip('.')}" if status.reason else ""
    effect = "Nothing of it runs meanwhile, and no attempt is spent."
    return f"The host of this plugin has exited {often}{reason}. {effect} {again}".strip()
