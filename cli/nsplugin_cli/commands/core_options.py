"""What the commands of a core share: the database, the way it is opened, and how refusals are told."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from nsplugin.nearest import closest
from nsplugin_cli import terminal
from nsplugin_cli.diagnostic import WrongCall

if TYPE_CHECKING:
    from nsplugin_core.operations import Operations

DEFAULT: Final = "sqlite:///.nsplugin/core.db"
IGNORED: Final = "# made by nsplugin: a local core's data\n*\n"
_PASSWORD: Final = re.compile(r"(?<=://)([^/@\s]*):[^/@\s]*@")
_EXTRAS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("structlog", "prometheus_client", "starlette", "uvicorn", "jinja2", "multipart", "python_multipart"), "core"
    ),
    **dict.fromkeys(("psycopg", "psycopg_pool"), "postgres"),
}

DATABASE: Final = click.option(
    "--database",
    envvar="NSPLUGIN_DATABASE",
    default=DEFAULT,
    show_default=True,
    show_envvar=True,
    metavar="URL",
    help="sqlite:///path/core.db or postgresql://user@host/database.",
)
FORMAT: Final = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print it."
)

YES: Final = click.option("--yes", is_flag=True, help="Don't ask.")


class SpellingGroup(click.Group):
    """A group of commands that knows what a misspelt name was meant to be."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            meant = closest(args[0], self.commands)
            hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(self.commands)}"
            raise click.UsageError(f"{ctx.info_name} has no command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


def confirm(what: str) -> None:
    """Ask for what cannot be undone. A script must not stop at a prompt: without a terminal, --yes is needed."""
    if not sys.stdin.isatty():
        raise WrongCall(f"{what}: add --yes")
    click.confirm(f"{what[0].upper()}{what[1:]}. Go on?", abort=True, err=True)


@contextmanager
def core(url: str, *, create: bool = False) -> Iterator[Operations]:
    """The operations on a database, which must be there unless ``create``. What they refuse becomes a wrong call."""
    with refusals():
        from nsplugin_core.clock import SystemClock
        from nsplugin_core.operations import Operations
        from nsplugin_core.store import open_store

        prepare(url, create=create)
        store = open_store(url)
        try:
            yield Operations.on(store, SystemClock())
        finally:
            store.close()


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what a core refuses, and a missing extra, into :class:`WrongCall`."""
    try:
        from nsplugin_core.operations import NotFound, Unacceptable
        from nsplugin_core.store.errors import StoreError

        try:
            yield
        except (NotFound, Unacceptable, StoreError) as error:
            raise WrongCall(_PASSWORD.sub(r"\1:•••@", str(error))) from error
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise WrongCall(f"this command needs more packages: pip install 'nsplugin[{extra}]'") from error


def prepare(url: str, *, create: bool) -> None:
    """Make the folder of the default database, or see that a database file is there. Raises :class:`WrongCall`."""
    path = file_of(url)
    if path is None or os.path.exists(path):
        return
    if not create:
        raise WrongCall(f"there is no database {path}: `nsplugin install` makes it, or name another one with --database")
    if url == DEFAULT:
        try:
            path.parent.mkdir(exist_ok=True)
            (path.parent / ".gitignore").write_text(IGNORED, encoding="utf-8")
        except OSError as error:
            raise WrongCall(f"cannot make the folder {path.parent}: {error.strerror}; or name a --database") from error


def file_of(url: str) -> Path | None:
    """The file of an SQLite database; ``None`` for any other."""
    if url.startswith("sqlite://"):
        url = url.removeprefix("sqlite://").removeprefix("/")
    return None if "://" in url or url == ":memory:" else Path(url)


def show_json(command: str, **values: Any) -> None:
    """Print views as one JSON object."""
    from nsplugin_cli.report import records
    from nsplugin_core.views import plain

    terminal.write_bytes(records.render_json(command, {name: plain(value) for name, value in values.items()}))
