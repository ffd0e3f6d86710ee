"""What a definer raises: one error that carries every problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from nsplugin.rules import Problem

_LISTED: Final = 50
"""How many problems the text of an error lists; ``problems`` always has all."""


class DefinitionError(Exception):
    """A plugin or job was defined in a way that its platform would refuse.

    ``problems``: every problem found, each with ``code``, ``name``, ``severity``, ``pointer`` (RFC 6901), ``message`` and
    ``hint``. ``str(error)`` lists them for a person. ``subject`` says what was being defined.
    """

    problems: tuple[Problem, ...]
    subject: str

    def __init__(self, problems: Iterable[Problem], subject: str = "the definition") -> None:
        self.problems = tuple(problems)
        self.subject = subject
        super().__init__(self.problems, subject)

    def __str__(self) -> str:
        return listing(self.problems, self.subject)


def listing(problems: tuple[Problem, ...], subject: str) -> str:
    """The problems as a person reads them below a traceback: one paragraph each, the hint on its own line."""
    return "\n".join(_lines(problems, subject))


def plain(problem: Problem) -> dict[str, Any]:
    """A problem as plain JSON data: code, name, severity, pointer, message and hint."""
    return {key: getattr(problem, key) for key in ("code", "name", "severity", "pointer", "message", "hint")}


def _lines(problems: tuple[Problem, ...], subject: str) -> Iterator[str]:
    count = len(problems)
    yield f"{subject}: {count} problem{'' if count == 1 else 's'}"
    for problem in problems[:_LISTED]:
        where = f"{_printable(problem.pointer)}: " if problem.pointer else ""
        yield f"  {problem.code} {where}{problem.message}"
        if problem.hint:
            yield f"      {problem.hint}"
    if count > _LISTED:
        yield f"  and {count - _LISTED} more"


def _printable(pointer: str) -> str:
    return pointer if pointer.isprintable() else ascii(pointer)[1:-1]
