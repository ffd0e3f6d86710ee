"""Cron schedules: grammar, fire times under clock changes, time zones, and schedules in words. Spec: ``spec/cron.md``.

Names are imported when they are first used: who judges an expression without a zone needs the grammar alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsplugin.lazy import lazily

if TYPE_CHECKING:
    from nsplugin.cron.calendar import Calendar as Calendar
    from nsplugin.cron.calendar import Policy as Policy
    from nsplugin.cron.effects import ClockEffect as ClockEffect
    from nsplugin.cron.effects import Fire as Fire
    from nsplugin.cron.grammar import CronError as CronError
    from nsplugin.cron.grammar import CronFault as CronFault
    from nsplugin.cron.grammar import Expression as Expression
    from nsplugin.cron.grammar import faults as faults
    from nsplugin.cron.grammar import never_fires as never_fires
    from nsplugin.cron.grammar import normalise as normalise
    from nsplugin.cron.grammar import parse as parse
    from nsplugin.cron.moments import isoformat as isoformat
    from nsplugin.cron.moments import local as local
    from nsplugin.cron.moments import to_datetime as to_datetime
    from nsplugin.cron.moments import to_minute as to_minute
    from nsplugin.cron.words import describe as describe
    from nsplugin.cron.zones import Zone as Zone
    from nsplugin.cron.zones import ZoneError as ZoneError
    from nsplugin.cron.zones import zone as zone
    from nsplugin.cron.zones import zone_names as zone_names

_HOMES = {
    "Calendar": "nsplugin.cron.calendar",
    "ClockEffect": "nsplugin.cron.effects",
    "CronError": "nsplugin.cron.grammar",
    "CronFault": "nsplugin.cron.grammar",
    "Expression": "nsplugin.cron.grammar",
    "Fire": "nsplugin.cron.effects",
    "Policy": "nsplugin.cron.calendar",
    "Zone": "nsplugin.cron.zones",
    "ZoneError": "nsplugin.cron.zones",
    "describe": "nsplugin.cron.words",
    "faults": "nsplugin.cron.grammar",
    "isoformat": "nsplugin.cron.moments",
    "local": "nsplugin.cron.moments",
    "never_fires": "nsplugin.cron.grammar",
    "normalise": "nsplugin.cron.grammar",
    "parse": "nsplugin.cron.grammar",
    "to_datetime": "nsplugin.cron.moments",
    "to_minute": "nsplugin.cron.moments",
    "zone": "nsplugin.cron.zones",
    "zone_names": "nsplugin.cron.zones",
}
"""Where each name is defined."""

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


__getattr__ = lazily(__name__, _HOMES)
