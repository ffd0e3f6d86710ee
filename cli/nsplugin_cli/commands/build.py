"""``nsplugin build``: from source to manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from nsplugin_cli.commands.options import COLOR, FORMAT, STRICT, Seconds, shared
from nsplugin_cli.showing import show


@click.command("build", short_help="Run the plugin's definition, judge it and write its manifest.")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Write the manifest to this file, or into this folder.")
@click.option("--stdout", is_flag=True, help="Print the manifest and write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; fail when the manifest on disk is not up to date.")
@click.option(
    "--timeout",
    type=Seconds(0, 3600, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for importing one plugin.",
)
@shared(STRICT, FORMAT, COLOR)
def command(
    paths: tuple[Path, ...],
    out: Path | None,
    stdout: bool,
    check: bool,
    timeout: float,
    strict: bool,
    form: str,
    color: Any,
) -> int:
    """Import the plugin in a process of its own, judge its definition and write its manifest.

    PATH is a plugin's folder, project file or entry; without one, the current folder. A folder that is no plugin's means
    every plugin below it. To import a plugin is to run its code: use lint on what you do not trust.

    Of what the project file or a comment ignores, warnings are left out. Errors are not: no host would take such a manifest.
    """
    from nsplugin_cli import destinations, pipeline, terminal

    mode = destinations.mode(check=check, stdout=stdout, form=form, out=out)
    report = pipeline.build(paths or (Path(),), mode=mode, out=out, seconds=timeout)
    for plugin in report.plugins if stdout else ():
        terminal.write_bytes(plugin.content or "")
    show(report, form, color, to_stderr=stdout)
    return report.exit_code(strict=strict)
