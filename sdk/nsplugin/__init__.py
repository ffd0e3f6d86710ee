"""Define plugins whose background jobs NextSkin runs, and check manifests before they are installed.

Everything an author or a host needs is importable from here, and nothing else is public; Cogover's names are in
:mod:`nsplugin.cogover`. Names are imported when they are first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsplugin.lazy import lazily

if TYPE_CHECKING:
    from nsplugin.context import Call as Call
    from nsplugin.context import Context as Context
    from nsplugin.context import Jobs as Jobs
    from nsplugin.context import Json as Json
    from nsplugin.context import KeyValue as KeyValue
    from nsplugin.context import Log as Log
    from nsplugin.context import Request as Request
    from nsplugin.context import Response as Response
    from nsplugin.context import Signal as Signal
    from nsplugin.definition.parts import Cron as Cron
    from nsplugin.definition.parts import Job as Job
    from nsplugin.definition.parts import Route as Route
    from nsplugin.definition.plugin import Plugin as Plugin
    from nsplugin.definition.plugin import define_plugin as define_plugin
    from nsplugin.errors import DefinitionError as DefinitionError
    from nsplugin.preinstall import Report as Report
    from nsplugin.preinstall import check_manifest as check_manifest
    from nsplugin.rules import Problem as Problem
    from nsplugin.runtime.faults import CallError as CallError

_PUBLIC = {
    "Call": "nsplugin.context",
    "CallError": "nsplugin.runtime.faults",
    "Context": "nsplugin.context",
    "Cron": "nsplugin.definition.parts",
    "DefinitionError": "nsplugin.errors",
    "Job": "nsplugin.definition.parts",
    "Jobs": "nsplugin.context",
    "Json": "nsplugin.context",
    "KeyValue": "nsplugin.context",
    "Log": "nsplugin.context",
    "Plugin": "nsplugin.definition.plugin",
    "Problem": "nsplugin.rules",
    "Report": "nsplugin.preinstall",
    "Request": "nsplugin.context",
    "Response": "nsplugin.context",
    "Route": "nsplugin.definition.parts",
    "Signal": "nsplugin.context",
    "check_manifest": "nsplugin.preinstall",
    "define_plugin": "nsplugin.definition.plugin",
}
"""Where each public name is defined."""

__all__ = [
    "Call",
    "CallError",
    "Context",
    "Cron",
    "DefinitionError",
    "Job",
    "Jobs",
    "Json",
    "KeyValue",
    "Log",
    "Plugin",
    "Problem",
    "Report",
    "Request",
    "Response",
    "Route",
    "Signal",
    "check_manifest",
    "define_plugin",
]


__getattr__ = lazily(__name__, _PUBLIC)


def __dir__() -> list[str]:
    return sorted(__all__)
