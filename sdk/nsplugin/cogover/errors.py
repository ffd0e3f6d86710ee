"""The errors of Cogover's APIs, each with a ``code`` that programs read and ``details``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from nsplugin.errors import DefinitionError, listing, plain

if TYPE_CHECKING:
    from nsplugin.rules import Problem


class CogoverApiError(Exception):
    """A call that the platform refused. ``code`` is stable (``JOBS_DISABLED``), ``details`` is plain JSON data."""

    code: str
    message: str
    details: dict[str, Any]

    def __init__(self, code: str, message: str = "", details: Mapping[str, Any] | None = None) -> None:
        self.code = code
        self.message = message
        self.details = dict(details or {})
        Exception.__init__(self, code, message, self.details)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


class _FixedCodeError(CogoverApiError):
    """An error whose class decides the code."""

    CODE: ClassVar[str]

    def __init__(self, message: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(self.CODE, message, details)
        self.args = (self.message, self.details)


class ValidationError(_FixedCodeError, DefinitionError):
    """A value that the platform does not take: a job's configuration, an undeclared key, a payload that is no JSON.

    Raised by ``define_job`` with every problem in ``problems`` (and as plain data in ``details["problems"]``), and by
    ``enqueue`` with a message.
    """

    CODE = "VALIDATION_ERROR"

    def __init__(
        self,
        message: str = "",
        details: Mapping[str, Any] | None = None,
        problems: Iterable[Problem] = (),
    ) -> None:
        found = tuple(problems)
        super().__init__(message, details or ({"problems": [plain(problem) for problem in found]} if found else None))
        self.problems = found
        self.subject = message
        self.args = (self.message, self.details, found)

    def __str__(self) -> str:
        return listing(self.problems, self.message) if self.problems else super().__str__()


class PermissionDeniedError(_FixedCodeError):
    """The run's identity may not do this; ``details["reason"]`` says why (``IDENTITY_NOT_GRANTED``)."""

    CODE = "PERMISSION_DENIED"


class RateLimitError(_FixedCodeError):
    """Too many at once: enqueues of one invocation, unfinished runs of a project."""

    CODE = "RATE_LIMITED"


class RetryableError(_FixedCodeError):
    """Raise it from a handler when a passing cause made it fail: the run is tried again later.

    Any other error ends the run as failed at once.
    """

    CODE = "RETRYABLE"


class NotFoundError(_FixedCodeError):
    """What was asked for does not exist, or is not visible to the run's identity."""

    CODE = "NOT_FOUND"


class StateConflictError(_FixedCodeError):
    """The stored value changed since the version that a conditional write named."""

    CODE = "STATE_CONFLICT"


class LockUnavailableError(_FixedCodeError):
    """Somebody else holds the lock."""

    CODE = "LOCK_UNAVAILABLE"


class LockLostError(_FixedCodeError):
    """The lock's lease ran out before it was released."""

    CODE = "LOCK_LOST"
