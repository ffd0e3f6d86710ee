"""Define background jobs of Cogover projects: ``define_job``, its errors, and the types of what handlers get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsplugin.lazy import lazily

if TYPE_CHECKING:
    from nsplugin.cogover.context import EnqueueResult as EnqueueResult
    from nsplugin.cogover.context import Invocation as Invocation
    from nsplugin.cogover.context import JobContext as JobContext
    from nsplugin.cogover.context import JobInfo as JobInfo
    from nsplugin.cogover.context import Jobs as Jobs
    from nsplugin.cogover.context import Lock as Lock
    from nsplugin.cogover.context import Locks as Locks
    from nsplugin.cogover.context import State as State
    from nsplugin.cogover.context import StateEntry as StateEntry
    from nsplugin.cogover.errors import CogoverApiError as CogoverApiError
    from nsplugin.cogover.errors import LockLostError as LockLostError
    from nsplugin.cogover.errors import LockUnavailableError as LockUnavailableError
    from nsplugin.cogover.errors import NotFoundError as NotFoundError
    from nsplugin.cogover.errors import PermissionDeniedError as PermissionDeniedError
    from nsplugin.cogover.errors import RateLimitError as RateLimitError
    from nsplugin.cogover.errors import RetryableError as RetryableError
    from nsplugin.cogover.errors import StateConflictError as StateConflictError
    from nsplugin.cogover.errors import ValidationError as ValidationError
    from nsplugin.cogover.records import Condition as Condition
    from nsplugin.cogover.records import Data as Data
    from nsplugin.cogover.records import DataObject as DataObject
    from nsplugin.cogover.records import Field as Field
    from nsplugin.cogover.records import Fields as Fields
    from nsplugin.cogover.records import Page as Page
    from nsplugin.cogover.records import Record as Record
    from nsplugin.cogover.records import Records as Records
    from nsplugin.cogover.records import Schema as Schema
    from nsplugin.cogover.services import Agents as Agents
    from nsplugin.cogover.services import Crypto as Crypto
    from nsplugin.cogover.services import Email as Email
    from nsplugin.cogover.services import Limits as Limits
    from nsplugin.cogover.services import Notifications as Notifications
    from nsplugin.cogover.services import Org as Org
    from nsplugin.cogover.services import Processes as Processes
    from nsplugin.cogover.services import Secrets as Secrets
    from nsplugin.cogover.services import Usage as Usage
    from nsplugin.context import Call as Call
    from nsplugin.context import Json as Json
    from nsplugin.context import Log as Log
    from nsplugin.definition.job import JobDefinition as JobDefinition
    from nsplugin.definition.job import define_job as define_job
    from nsplugin.definition.parts import Schedule as Schedule

__all__ = [
    "Agents",
    "Call",
    "CogoverApiError",
    "Condition",
    "Crypto",
    "Data",
    "DataObject",
    "Email",
    "EnqueueResult",
    "Field",
    "Fields",
    "Invocation",
    "JobContext",
    "JobDefinition",
    "JobInfo",
    "Jobs",
    "Json",
    "Limits",
    "Lock",
    "LockLostError",
    "LockUnavailableError",
    "Locks",
    "Log",
    "NotFoundError",
    "Notifications",
    "Org",
    "Page",
    "PermissionDeniedError",
    "Processes",
    "RateLimitError",
    "Record",
    "Records",
    "RetryableError",
    "Schedule",
    "Schema",
    "Secrets",
    "State",
    "StateConflictError",
    "StateEntry",
    "Usage",
    "ValidationError",
    "define_job",
]

_PUBLIC = {
    "Agents": "nsplugin.cogover.services",
    "Call": "nsplugin.context",
    "CogoverApiError": "nsplugin.cogover.errors",
    "Condition": "nsplugin.cogover.records",
    "Crypto": "nsplugin.cogover.services",
    "Data": "nsplugin.cogover.records",
    "DataObject": "nsplugin.cogover.records",
    "Email": "nsplugin.cogover.services",
    "EnqueueResult": "nsplugin.cogover.context",
    "Field": "nsplugin.cogover.records",
    "Fields": "nsplugin.cogover.records",
    "Invocation": "nsplugin.cogover.context",
    "JobContext": "nsplugin.cogover.context",
    "JobDefinition": "nsplugin.definition.job",
    "JobInfo": "nsplugin.cogover.context",
    "Jobs": "nsplugin.cogover.context",
    "Json": "nsplugin.context",
    "Limits": "nsplugin.cogover.services",
    "Lock": "nsplugin.cogover.context",
    "LockLostError": "nsplugin.cogover.errors",
    "LockUnavailableError": "nsplugin.cogover.errors",
    "Locks": "nsplugin.cogover.context",
    "Log": "nsplugin.context",
    "NotFoundError": "nsplugin.cogover.errors",
    "Notifications": "nsplugin.cogover.services",
    "Org": "nsplugin.cogover.services",
    "Page": "nsplugin.cogover.records",
    "PermissionDeniedError": "nsplugin.cogover.errors",
    "Processes": "nsplugin.cogover.services",
    "RateLimitError": "nsplugin.cogover.errors",
    "Record": "nsplugin.cogover.records",
    "Records": "nsplugin.cogover.records",
    "RetryableError": "nsplugin.cogover.errors",
    "Schedule": "nsplugin.definition.parts",
    "Schema": "nsplugin.cogover.records",
    "Secrets": "nsplugin.cogover.services",
    "State": "nsplugin.cogover.context",
    "StateConflictError": "nsplugin.cogover.errors",
    "StateEntry": "nsplugin.cogover.context",
    "Usage": "nsplugin.cogover.services",
    "ValidationError": "nsplugin.cogover.errors",
    "define_job": "nsplugin.definition.job",
}
"""Where each public name is defined."""

__getattr__ = lazily(__name__, _PUBLIC)


def __dir__() -> list[str]:
    return sorted(__all__)
