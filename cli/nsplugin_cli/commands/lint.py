"""``nsplugin lint``: what an author runs on every save."""

from __future__ import annotations

from typing import Any

import click

from nsplugin_cli.commands import linting
from nsplugin_cli.commands.options import COLOR, FORMAT, STRICT, shared


@click.command("lint", short_help="Judge plugin sources without running them.")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@click.option("--select", default="", metavar="RULES", help="Only these: codes, beginnings of codes or names, with commas.")
@click.option("--ignore", default="", metavar="RULES", help="Not these.")
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, in place.")
@click.option("--diff", is_flag=True, help="Show what --fix changes; without --fix, change nothing.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of listing them.")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes; Ctrl-C ends it.")
@click.option("--cache/--no-cache", default=True, help="Whether to keep verdicts, in .nsplugin_cache.", show_default=True)
@click.option("--stdin-filename", "name", type=click.Path(), metavar="FILE", help="What the text of - is called.")
@shared(STRICT, FORMAT, COLOR)
def command(**asked: Any) -> int:
    """Find what build finds, and what only the source shows, without executing a line of it.

    PATH is a file or a folder; without one, the current folder. - is standard input. Below a folder, what git ignores is
    left out, and so are hidden folders and build, dist, venv, node_modules, site-packages and __pycache__.
    """
    return linting.run(linting.Call(**asked))
