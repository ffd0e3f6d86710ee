"""``nsplugin schema``: the published JSON Schemas."""

from __future__ import annotations

import click

from nsplugin_cli import terminal
from nsplugin_cli.commands.options import shared


@click.command("schema", short_help="Print a published JSON Schema.")
@click.argument("name", metavar="[NAME]", required=False)
@shared()
def command(name: str | None) -> int:
    """Print the JSON Schema of that name; without one, list the names."""
    import nsplugin_schemas
    from nsplugin.nearest import closest
    from nsplugin_cli.diagnostic import WrongCall

    names = nsplugin_schemas.names()
    if name is None:
        click.echo("\n".join(names))
        return 0
    if name not in names:
        meant = closest(name, names)
        hint = f"did you mean {meant}?" if meant else f"the names are {', '.join(names)}"
        raise WrongCall(f"there is no schema {name!r}; {hint}")
    terminal.write_bytes(nsplugin_schemas.text(name))
    return 0
