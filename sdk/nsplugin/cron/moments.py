"""Minutes since the epoch, and what people and other code write instead. Imports ``datetime`` only when asked for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsplugin.cron.years import MINUTES_A_DAY, civil

if TYPE_CHECKING:
    from datetime import datetime

    from nsplugin.cron.zones import Zone


def to_minute(moment: datetime) -> int:
    """The whole minute since 1970-01-01T00:00Z that holds an aware datetime. Raises ``ValueError`` for a naive one."""
    from datetime import UTC, datetime, timedelta

    if moment.utcoffset() is None:
        raise ValueError("a naive datetime is no instant: give it a tzinfo")
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(minutes=1)


def to_datetime(minute: int) -> datetime:
    """The aware UTC datetime of a minute of the years 1 to 9999. Raises ``OverflowError`` for another one."""
    from datetime import UTC

    return _naive(minute).replace(tzinfo=UTC)


def _naive(minute: int) -> datetime:
    from datetime import datetime, timedelta

    return datetime(1970, 1, 1) + timedelta(minutes=minute)


def isoformat(minute: int) -> str:
    """``2026-03-08T07:00Z``."""
    return f"{date_of(minute)}T{time_of(minute)}Z"


def local(minute: int, zone: Zone) -> tuple[datetime, str]:
    """What the zone's clock shows at a minute: a naive datetime, and its name (``EDT``) or offset (``UTC+07:00``)."""
    segment = zone.segment(minute)
    return _naive(minute + segment.offset), segment.label if segment.label.isalpha() else utc_offset(segment.offset)


def date_of(minute: int) -> str:
    """The date of a minute: ``2026-03-08``."""
    year, month, day = civil(minute // MINUTES_A_DAY)
    return f"{year:04}-{month:02}-{day:02}"


def time_of(minute: int) -> str:
    """The time of the day of a minute: ``07:00``."""
    return "{:02}:{:02}".format(*divmod(minute % MINUTES_A_DAY, 60))


def utc_offset(minutes: int) -> str:
    """``UTC+07:00``; ``UTC`` for none."""
    return "UTC{}{:02}:{:02}".format("-" if minutes < 0 else "+", *divmod(abs(minutes), 60)) if minutes else "UTC"
