"""What is known of a handler without calling it: from a function object here, from source in the static readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter that a call by name can reach, or (``positional_only``) cannot."""

    name: str
    required: bool
    positional_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A handler as the rules see it. ``described`` names it for a person (``function expire``, ``the string "x"``).

    ``parameters`` is ``None`` when nothing is known of them; ``any_name`` says that ``**kwargs`` takes every name.
    """

    described: str
    callable: bool
    parameters: tuple[Parameter, ...] | None = None
    any_name: bool = False
    missing: bool = False


def describe(value: Any) -> Handler:
    """What is known of ``value`` as a handler. Never calls it and never raises."""
    raise NotImplementedError
