"""What an author defined, frozen, and its way into a raw manifest."""

from nsplugin.definition.assembly import Assembled, assemble
from nsplugin.definition.call_site import CallSite
from nsplugin.definition.collect import Collected, collecting
from nsplugin.definition.job import JobDefinition, define_job
from nsplugin.definition.parts import Cron, Job, Route, Schedule
from nsplugin.definition.plugin import Plugin, define_plugin

__all__ = [
    "Assembled",
    "CallSite",
    "Collected",
    "Cron",
    "Job",
    "JobDefinition",
    "Plugin",
    "Route",
    "Schedule",
    "assemble",
    "collecting",
    "define_job",
    "define_plugin",
]
