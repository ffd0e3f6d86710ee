"""``nsplugin lint``: what an author runs on every save."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsplugin_cli import terminal
from nsplugin_cli.commands.options import COLOR, FORMAT, STRICT, shared, show
from nsplugin_cli.diagnostic import WrongCall

if TYPE_CHECKING:
    from nsplugin_cli.lint.fixing import Mended
    from nsplugin_cli.lint.run import Options, Outcome


@click.command("lint", short_help="Judge plugin sources without running them.")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--select", default="", metavar="RULES", help="Only these: codes, beginnings of codes or names, with commas.")
@click.option("--ignore", default="", metavar="RULES", help="Not these.")
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, in place.")
@click.option("--diff", is_flag=True, help="Show what --fix changes; without --fix, change nothing.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of listing them.")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes; Ctrl-C ends it.")
@click.option("--cache/--no-cache", default=True, help="Whether to keep verdicts, in .nsplugin_cache.", show_default=True)
@click.option("--stdin-filename", "name", type=click.Path(path_type=Path), metavar="FILE", help="What the text of - is called.")
@shared(STRICT, FORMAT, COLOR)
def command(paths: tuple[Path, ...], select: str, ignore: str, cache: bool, name: Path | None, watch: bool, **how: Any) -> int:
    """Find what build finds, and what only the source shows, without executing a line of it.

    PATH is a file or a folder; without one, the current folder. - is standard input. Below a folder, what git ignores is
    left out, and so are hidden folders and build, dist, venv, node_modules, site-packages and __pycache__.
    """
    from nsplugin_cli.lint import run
    from nsplugin_cli.lint.examining import MAX_BYTES

    stdin = sys.stdin.buffer.read(MAX_BYTES + 1) if paths == (Path("-"),) else None
    if stdin is not None and len(stdin) > MAX_BYTES and how["fix"]:
        raise WrongCall(f"standard input has more than {MAX_BYTES:,} bytes, the most that is read: nothing was mended")
    asked = run.options(paths, select=select, ignore=ignore, cache=cache, stdin=stdin, name=name)
    _check(asked, watch=watch, **how)
    code = _once(asked, **how)
    if watch:
        from nsplugin_cli.lint.watching import changes

        for _ in changes(asked.paths):
            terminal.say("\nlinting again")
            try:
                code = _once(asked, **how)
            except WrongCall as error:  # a project file in the middle of being changed
                terminal.say(f"Error: {error}")
    return code


def _check(asked: Options, *, watch: bool, fix: bool, statistics: bool, diff: bool, form: str, **_: Any) -> None:
    if fix and asked.stdin is not None and (statistics or diff or form != "text"):
        raise click.UsageError("--fix - prints the mended text alone: leave out --format, --diff and --statistics")
    if watch and (asked.stdin is not None or form != "text"):
        raise click.UsageError("--watch is for a person and for files: leave out --format, and name files or folders")
    if statistics and form not in ("text", "json"):
        raise click.UsageError(f"--statistics has no {form} form: it is text or json")
    if diff and form != "text":
        raise click.UsageError("--diff is text: leave out --format")


def _once(asked: Options, *, fix: bool, diff: bool, statistics: bool, strict: bool, form: str, color: Any) -> int:
    from nsplugin_cli.lint import run

    outcome = run.lint(asked)
    mended = _mend(asked, outcome, fix=fix, diff=diff) if fix or diff else []
    if mended and fix:
        outcome = run.lint(run.after(asked, mended))
    if statistics:
        _count(outcome, form)
    elif fix or not diff:
        show(outcome.report, form, color, to_stderr=fix and asked.stdin is not None)
    return max(_remarks(outcome), outcome.report.exit_code(strict=strict), int(bool(mended) and not fix))


def _mend(asked: Options, outcome: Outcome, *, fix: bool, diff: bool) -> list[Mended]:
    """Show, or make, the changes."""
    from nsplugin_cli import sources
    from nsplugin_cli.lint import fixing, run
    from nsplugin_cli.report.text import count

    mended = run.mend(asked, outcome)
    for each in mended if diff else ():
        terminal.write_bytes(fixing.difference(each, sources.shown(Path(each.path))))
    sys.stdout.flush()
    if fix and asked.stdin is not None:
        sys.stdout.buffer.write(mended[0].after if mended else asked.stdin)
    if fix and asked.stdin is None:
        refused = [(each, fixing.write(each)) for each in mended]
        for each, why in refused:
            if why is not None:
                terminal.say(f"{sources.shown(Path(each.path))} was not mended: {why}")
        mended = [each for each, why in refused if why is None]
        if refused and not mended:
            return mended
    findings, files = count(sum(each.findings for each in mended), "finding"), count(len(mended), "file")
    terminal.say(f"{'mended' if fix else 'would mend'} {findings} in {files}" if mended else "nothing that is safe to mend")
    return mended


def _count(outcome: Outcome, form: str) -> None:
    from nsplugin_cli.report import statistics

    terminal.write_bytes((statistics.render_json if form == "json" else statistics.render_text)(outcome.report))


def _remarks(outcome: Outcome) -> int:
    """Say which files were not judged; 2 when that is so for want of an extra."""
    from nsplugin_cli.report.text import count
    from nsplugin_cli.sources import shown

    if not outcome.tasks:
        besides = "besides what git ignores, hidden folders, and such as build and dist"
        terminal.say(f"there is no source to lint: no Python, TypeScript or JavaScript {besides}")
    for path, why in outcome.unread:
        terminal.say(f"{shown(Path(path))} was skipped: {why}")
    if outcome.lacking:
        files = count(outcome.lacking, "TypeScript file")
        terminal.say(f'{files} not read; to lint TypeScript: pip install "nsplugin[typescript]"')
    return 2 if outcome.lacking else 0
