"""``nsplugin init``: a working plugin repository."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from nsplugin.platforms import NAMES, Platform, load
from nsplugin.wording import clipped
from nsplugin_cli.commands.options import shared


@click.command("init", short_help="Make a working plugin repository.")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--platform", required=True, type=click.Choice(NAMES), help="Where the plugin will run.")
@click.option("--id", "plugin_id", metavar="ID", help="The plugin's id; default: the folder's name.")
@shared()
def command(folder: Path, platform: str, plugin_id: str | None) -> int:
    """Make a plugin repository in DIR that builds and passes its test at once. Nothing that exists is overwritten.

    What is there already of README.md and the files whose names begin with a dot is left as it is.
    """
    from nsplugin_cli import scaffold

    target = load(platform)
    if plugin_id is not None:
        _check_id(plugin_id, target)
    texts = scaffold.files(target, plugin_id or scaffold.id_of(folder.resolve(), target))
    kept = scaffold.write(folder, texts)
    made = sorted(texts.keys() - kept)
    click.echo(f"Made {len(made)} files in {folder}: {', '.join(made)}")
    if kept:
        click.echo(f"Left as they are: {', '.join(kept)}")
    click.echo(f"Next: {'' if folder == Path() else f'cd {shlex.quote(str(folder))} && '}nsplugin build")
    return 0


def _check_id(plugin_id: str, platform: Platform) -> None:
    limit = platform.plugin_id
    if not limit.matches(plugin_id):
        raise click.BadParameter(f"{clipped(plugin_id)!r} is no plugin id; it must {limit.form}", param_hint="--id")
    if len(plugin_id) > limit.max_length:
        message = f"a plugin id has at most {limit.max_length} characters, and this one has {len(plugin_id):,}"
        raise click.BadParameter(message, param_hint="--id")
