"""Define background jobs of Cogover projects: ``define_job``, its errors, and the types of what handlers get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsplugin.lazy import lazily

if TYPE_CHECKING:
    from nsplugin.cogover.context import Data as Data
    from nsplugin.cogover.context import EnqueueResult as EnqueueResult
    from nsplugin.cogover.context import Invocation as Invocation
    from nsplugin.cogover.context import JobContext as JobContext
    from nsplugin.cogover.context import JobInfo as JobInfo
    from nsplugin.cogover.context import Jobs as Jobs
    from nsplugin.cogover.context import Lock as Lock
    from nsplugin.cogover.context import Locks as Locks
    from nsplugin.cogover.context import Secrets as Secrets
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
    from nsplugin.context import Call as Call
    from nsplugin.context import Json as Json
    from nsplugin.context import Log as Log
    from nsplugin.definition.job import JobDefinition as JobDefinition
    from nsplugin.definition.job import define_job as define_job
    from nsplugin.definition.parts import Schedule as Schedule

__all__ = [
    "Call",
    "CogoverApiError",
    "Data",
    "EnqueueResult",
    "Invocation",
    "JobContext",
    "JobDefinition",
    "JobInfo",
    "Jobs",
    "Json",
    "Lock",
    "LockLostError",
    "LockUnavailableError",
    "Locks",
    "Log",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "RetryableError",
    "Schedule",
    "Secrets",
    "State",
    "StateConflictError",
    "StateEntry",
    "ValidationError",
    "define_job",
]

_PUBLIC = {
    "Call": "nsplugin.context",
    "CogoverApiError": "nsplugin.cogover.errors",
    "Data": "nsplugin.cogover.context",
    "EnqueueResult": "nsplugin.cogover.context",
    "Invocation": "nsplugin.cogover.context",
    "JobContext": "nsplugin.cogover.context",
    "JobDefinition": "nsplugin.definition.job",
    "JobInfo": "nsplugin.cogover.context",
    "Jobs": "nsplugin.cogover.context",
    "Json": "nsplugin.context",
    "Lock": "nsplugin.cogover.context",
    "LockLostError": "nsplugin.cogover.errors",
    "LockUnavailableError": "nsplugin.cogover.errors",
    "Locks": "nsplugin.cogover.context",
    "Log": "nsplugin.context",
    "NotFoundError": "nsplugin.cogover.errors",
    "PermissionDeniedError": "nsplugin.cogover.errors",
    "RateLimitError": "nsplugin.cogover.errors",
    "RetryableError": "nsplugin.cogover.errors",
    "Schedule": "nsplugin.definition.parts",
    "Secrets": "nsplugin.cogover.context",
    "State": "nsplugin.cogover.context",
    "StateConflictError": "nsplugin.cogover.errors",
    "StateEntry": "nsplugin.cogover.context",
    "ValidationError": "nsplugin.cogover.errors",
    "define_job": "nsplugin.definition.job",
}
"""Where each public name is defined."""

__getattr__ = lazily(__name__, _PUBLIC)


def __dir__() -> list[str]:
    return sorted(__all__)
