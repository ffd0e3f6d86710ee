"""Cron schedules: grammar, fire times under clock changes, time zones, and schedules in words. Spec: ``spec/cron.md``."""

from __future__ import annotations

from nsplugin.cron.calendar import Calendar, Policy
from nsplugin.cron.effects import ClockEffect, Fire
from nsplugin.cron.grammar import CronError, CronFault, Expression, faults, never_fires, normalise, parse
from nsplugin.cron.moments import isoformat, local, to_datetime, to_minute
from nsplugin.cron.words import describe
from nsplugin.cron.zones import Zone, ZoneError, zone, zone_names

__all__ = [
    "Calendar",
    "ClockEffect",
    "CronError",
    "CronFault",
    "Expression",
    "Fire",
    "Policy",
    "Zone",
    "ZoneError",
    "describe",
    "faults",
    "isoformat",
    "local",
    "never_fires",
    "normalise",
    "parse",
    "to_datetime",
    "to_minute",
    "zone",
    "zone_names",
]
