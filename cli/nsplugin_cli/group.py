"""The click group: commands load only when they are called."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from io import StringIO
from typing import Any, Final

import click

from nsplugin_cli import WRONG_CALL, __version__, terminal

COMMANDS: Final = {
    "init": "Make a working plugin repository.",
    "build": "Run the plugin's definition, judge it and write its manifest.",
    "check": "Judge manifests before installation; show when schedules fire.",
    "lint": "Judge plugin sources in Python and TypeScript without running them.",
    "diff": "Say what an upgrade changes for a host, breaking changes first.",
    "next": "Say a schedule in words and list its next fire times.",
    "dev": "Run a plugin with its routes, schedules and administration page here.",
    "simulate": "Run a plugin's jobs and schedules for days, in seconds.",
    "plan": "Show when a job's attempts are made if they fail.",
    "explain": "Explain a rule: what it finds, why, a bad and a good example.",
    "rules": "List all rules.",
    "schema": "Print a published JSON Schema.",
    "serve": "Run a core: many plugins on one database.",
    "install": "Take a plugin into a core.",
    "upgrade": "Move an installed plugin to another version.",
    "enable": "Go on with a plugin's tasks and schedules.",
    "disable": "Start no more of a plugin's tasks, and keep them.",
    "uninstall": "Remove a plugin with its tasks and data.",
    "jobs": "List, show and enqueue tasks; list schedules.",
    "dead": "List, show, retry and delete dead letters.",
}


class LazyGroup(click.Group):
    """A group that knows its commands' names and one-line helps, and imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"nsplugin_cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command {args[0]!r}{_did_you_mean(args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # of no standard output: click would end with 1, and say nothing
            raise ConnectionError(str(error)) from error


def _did_you_mean(name: str) -> str:
    from nsplugin.nearest import closest

    meant = closest(name, COMMANDS)
    return f"; did you mean {meant!r}?" if meant else f"; the commands are {', '.join(COMMANDS)}"


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="nsplugin %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback when nsplugin itself fails.")
def cli(debug: bool) -> None:
    """Write, build and check plugins that declare background work and cron.

    Exit codes: 0 fine, 1 findings, 2 wrong call or configuration, 3 a bug in nsplugin.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Raises what the command raises; ``KeyboardInterrupt`` at a prompt too."""
    try:
        return int(cli.main(list(arguments), prog_name="nsplugin", standalone_mode=False) or 0)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        terminal.say(shown.getvalue().removesuffix("\n"))
        return WRONG_CALL
