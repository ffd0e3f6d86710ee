"""What the platform refuses: as data between processes, as exceptions on either side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


class Fault(Exception):
    """A call that is refused, as the answering side raises it. ``code`` is stable, ``details`` plain JSON data."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, details

    def __reduce__(self) -> tuple[Any, ...]:
        """Exceptions are pickled by their ``args``, and those have no code."""
        return _restored, (self.code, self.message, self.details)

    def plain(self) -> dict[str, Any]:
        """The fault as a message carries it."""
        return {"code": self.code, "message": self.message, "details": self.details}


class CallError(Exception):
    """A call of ``ctx`` that was refused. ``code`` is for programs, ``str(error)`` for people, ``details`` plain JSON data."""

    code: str
    message: str
    details: dict[str, Any]

    def __init__(self, code: str, message: str = "", details: Mapping[str, Any] | None = None) -> None:
        self.code, self.message, self.details = code, message, dict(details or {})
        super().__init__(code, message, self.details)

    def __str__(self) -> str:
        return self.message or self.code


def _restored(code: str, message: str, details: Mapping[str, Any]) -> Fault:
    return Fault(code, message, **details)


def failed(method: str, error: Exception) -> Fault:
    """What the plugin is told when the platform, or a provider, failed at its call: not why, which is for the log."""
    if isinstance(error, Fault):
        return error
    return Fault("INTERNAL", f"{method}: the platform failed ({type(error).__name__}); its log says more")


def not_carried(error: Exception) -> Fault:
    """What the plugin is told when the answer to its call is no JSON: that is the provider's failure."""
    return Fault("INTERNAL", f"the platform's answer is no JSON ({error})")


def raised(fault: Fault, family: str) -> Exception:
    """The exception that an author's code sees, of the family that the platform file names."""
    return _FAMILIES[family](fault.code, fault.message, fault.details)


def _api_error(code: str, message: str, details: Mapping[str, Any]) -> Exception:
    from nsplugin.cogover import errors

    fixed = (
        errors.ValidationError,
        errors.PermissionDeniedError,
        errors.RateLimitError,
        errors.RetryableError,
        errors.NotFoundError,
        errors.StateConflictError,
        errors.LockUnavailableError,
        errors.LockLostError,
    )
    for kind in fixed:
        if code == kind.CODE:
            return kind(message, details)
    return errors.CogoverApiError(code, message, details)


_FAMILIES: Final[Mapping[str, Callable[[str, str, Mapping[str, Any]], Exception]]] = {
    "call": CallError,
    "api": _api_error,
}
