"""Options that several commands share, and the types of their values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import click

from nsplugin_cli.report import FORMATS

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


class Seconds(click.FloatRange):
    """A number of seconds within limits. ``nan`` compares with nothing, and so lies within none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if seconds != seconds:
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        return seconds


def instant(value: str) -> datetime:
    """A point in time with its offset (an option's type), as ``datetime`` in UTC."""
    example = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise click.BadParameter(f"{value!r} has no offset: end it with Z for UTC, as in {example}")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{value!r} is not a time in ISO 8601, such as {example}") from None


FORMAT: Final = click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How to print the report.",
)
COLOR: Final = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour the text; auto is on a terminal, NO_COLOR and FORCE_COLOR count.",
)
STRICT: Final = click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
DEBUG: Final = click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback when nsplugin itself fails.")


def shared(*decorators: Callable[[Any], Any]) -> Callable[[CommandT], CommandT]:
    """These decorators and ``--debug`` as one."""

    def apply(command: CommandT) -> CommandT:
        for decorator in (DEBUG, *reversed(decorators)):
            command = decorator(command)
        return command

    return apply
