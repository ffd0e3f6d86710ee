"""Arguments of a call against its parameters: what ``TypeError`` would say, as problems that can stand beside others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nsplugin.pointers import join
from nsplugin.record import field, record

if TYPE_CHECKING:
    from nsplugin.rules import Problem


@record(kw_only=False)
class Argument:
    """A parameter of a definer and the manifest's key for it."""

    name: str
    key: str
    positional: bool = False


CONFIG = Argument("config", "config", positional=True)
"""The one mapping that a definer takes in place of keyword arguments."""


@record(kw_only=False, frozen=False)
class Bound:
    """Arguments that found their parameter, by the manifest's keys; keywords that did not; what is wrong with the call."""

    given: dict[str, Any] = field(default_factory=dict)
    unknown: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


@record(kw_only=False)
class Signature:
    """What can be called, its parameters, and how to write the call."""

    name: str
    arguments: tuple[Argument, ...]
    example: str = ""

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Bound:
        """What was given, by the manifest's keys, and what is wrong with the call itself."""
        places = [argument for argument in self.arguments if argument.positional]
        meant = places if CONFIG in places else self.arguments
        bound = Bound(given={item.key: value for item, value in zip(meant, args, strict=False)})
        if len(args) > len(places):
            bound.problems.append(self._too_many(len(args), places))
            if not isinstance(args[0], Mapping):
                bound.given.pop(CONFIG.key, None)  # an id by position, most likely: that is the one fault
        known = {argument.name: argument.key for argument in self.arguments}
        for name, value in kwargs.items():
            key = known.get(name)
            if key is None:
                bound.unknown[name] = value
            elif key in bound.given:
                bound.problems.append(self._twice(name, key))
            else:
                bound.given[key] = value
        return bound

    def nearest(self, name: str, synonyms: Mapping[str, str]) -> Argument | None:
        """The parameter that an unknown keyword was meant to be, ``None`` when nothing says which."""
        from nsplugin.nearest import closest, look_up

        by_key = {argument.key: argument for argument in self.arguments}
        by_name = {argument.name: argument for argument in self.arguments}
        meant = by_key.get(look_up(name, synonyms) or name)
        return meant or by_name.get(closest(name, by_name) or "")

    def _too_many(self, count: int, places: list[Argument]) -> Problem:
        takes = " and ".join(f"`{argument.name}`" for argument in places)
        by_name = ", ".join(f"{item.name}=…" for item in self.arguments if not item.positional)
        message = f"{self.name} takes only {takes} by position, and got {count} arguments"
        return _problem("", message, f"give the others by name: {by_name}")

    def _twice(self, name: str, key: str) -> Problem:
        return _problem(join("", key), f"{self.name} was given `{name}` twice", "give it once")


def _problem(pointer: str, message: str, hint: str) -> Problem:
    """An argument without a place is an unknown key. (The rules are imported only when something is wrong.)"""
    from nsplugin.findings import problem

    return problem("NSP006", pointer, message, hint)
