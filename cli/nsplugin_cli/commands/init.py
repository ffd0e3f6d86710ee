"""``nsplugin init``: a working plugin repository."""

from __future__ import annotations

from pathlib import Path

import click

from nsplugin.platforms import NAMES, load
from nsplugin_cli.commands.options import shared


@click.command("init", short_help="Make a working plugin repository.")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--platform", required=True, type=click.Choice(NAMES), help="Where the plugin will run.")
@click.option("--id", "plugin_id", metavar="ID", help="The plugin's id; default: the folder's name.")
@shared()
def command(folder: Path, platform: str, plugin_id: str | None) -> int:
    """Make a plugin repository in DIR that builds and passes its test at once. Nothing that exists is overwritten."""
    from nsplugin_cli import scaffold

    target = load(platform)
    if plugin_id is not None and not target.plugin_id.matches(plugin_id):
        raise click.BadParameter(f"{plugin_id!r} is no plugin id: {target.plugin_id.form}", param_hint="--id")
    texts = scaffold.files(target, plugin_id or scaffold.id_of(folder.resolve(), target))
    scaffold.write(folder, texts)
    click.echo(f"Made {len(texts)} files in {folder}: {', '.join(sorted(texts))}")
    click.echo(f"Next: {'' if folder == Path() else f'cd {folder} && '}nsplugin build")
    return 0
