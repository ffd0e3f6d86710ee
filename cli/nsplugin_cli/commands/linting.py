"""What ``nsplugin lint`` does once its call is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from nsplugin.record import record
from nsplugin_cli import terminal
from nsplugin_cli.diagnostic import WrongCall
from nsplugin_cli.showing import show

if TYPE_CHECKING:
    from nsplugin_cli.lint.fixing import Mended
    from nsplugin_cli.lint.run import Options, Outcome

_FLAGS: Final = {"--no-cache": ("cache", False), "--strict": ("strict", True), "--fix": ("fix", True)}
"""What a save and a commit hook ask for besides paths."""


@record
class Call:
    """The options of ``nsplugin lint``, each called as the command's parameter is."""

    paths: tuple[str, ...] = ()
    select: str = ""
    ignore: str = ""
    fix: bool = False
    diff: bool = False
    statistics: bool = False
    watch: bool = False
    cache: bool = True
    name: str | None = None
    strict: bool = False
    form: str = "text"
    color: terminal.Color = "auto"

    @property
    def is_stdin(self) -> bool:
        """Whether it is the text on standard input that is linted."""
        return self.paths == ("-",)


def plain(words: Sequence[str]) -> Call | None:
    """The call of these words if they are paths and simple flags alone: what any other words mean, click says."""
    given: dict[str, Any] = {}
    for word in words:
        if word.startswith("-"):
            if word not in _FLAGS:
                return None
            name, value = _FLAGS[word]
            given[name] = value
    return Call(paths=tuple(word for word in words if word not in _FLAGS), **given)


def run(call: Call) -> int:
    """Lint, show what was found, and return the exit code. Raises :class:`WrongCall` for a call that cannot work."""
    from nsplugin_cli.lint import run

    asked = run.options(
        call.paths, select=call.select, ignore=call.ignore, cache=call.cache, stdin=_stdin(call), name=call.name
    )
    _check(call)
    code = _once(call, asked)
    if call.watch:
        from nsplugin_cli.lint.watching import changes

        for _ in changes(asked.paths):
            terminal.say("\nlinting again")
            try:
                code = _once(call, asked)
            except WrongCall as error:  # a project file in the middle of being changed
                from nsplugin_cli.report.frame import visible

                terminal.say(f"Error: {visible(str(error))}")
    return code


def _stdin(call: Call) -> bytes | None:
    """The text on standard input where that is what is linted."""
    if not call.is_stdin:
        return None
    from nsplugin_cli.lint.examining import MAX_BYTES

    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES and call.fix:
        raise WrongCall(f"standard input has more than {MAX_BYTES:,} bytes, the most that is read: nothing was mended")
    return data


def _check(call: Call) -> None:
    if call.fix and call.is_stdin and (call.statistics or call.diff or call.form != "text"):
        raise _usage("--fix - prints the mended text alone: leave out --format, --diff and --statistics")
    if call.watch and (call.is_stdin or call.form != "text"):
        raise _usage("--watch is for a person and for files: leave out --format, and name files or folders")
    if call.statistics and call.form not in ("text", "json"):
        raise _usage(f"--statistics has no {call.form} form: it is text or json")
    if call.diff and call.form != "text":
        raise _usage("--diff is text: leave out --format")


def _usage(message: str) -> Exception:
    from click import UsageError

    return UsageError(message)


def _once(call: Call, asked: Options) -> int:
    from nsplugin_cli.lint import run

    outcome = run.lint(asked)
    mended = _mend(call, asked, outcome) if call.fix or call.diff else []
    if mended and call.fix:
        outcome = run.lint(run.after(asked, mended))
    if call.statistics:
        _count(outcome, call.form)
    elif call.fix or not call.diff:
        show(outcome.report, call.form, call.color, to_stderr=call.fix and call.is_stdin)
    return max(_remarks(outcome), outcome.report.exit_code(strict=call.strict), int(bool(mended) and not call.fix))


def _mend(call: Call, asked: Options, outcome: Outcome) -> list[Mended]:
    """Show, or make, the changes."""
    from nsplugin_cli import sources
    from nsplugin_cli.lint import fixing, run
    from nsplugin_cli.report.frame import visible
    from nsplugin_cli.report.text import count

    found = run.mend(asked, outcome)
    mended = _own(asked, outcome, found)
    for each in mended if call.diff else ():
        patch = fixing.difference(each, visible(sources.shown(each.path)))
        terminal.write_bytes(terminal.harmless(patch.replace("\r\n", "\n")) if sys.stdout.isatty() else patch)
    sys.stdout.flush()
    if call.fix and asked.stdin is not None:
        sys.stdout.buffer.write(mended[0].after if mended else asked.stdin)
    elif call.fix:
        mended = _left((each, fixing.write(each)) for each in mended)
    if found and not mended:
        return mended
    findings, files = count(sum(each.findings for each in mended), "finding"), count(len(mended), "file")
    did = "mended" if call.fix else "would mend"
    terminal.say(f"{did} {findings} in {files}" if mended else "nothing that is safe to mend")
    return mended


def _own(asked: Options, outcome: Outcome, mended: list[Mended]) -> list[Mended]:
    """Each file once, without those that a link below a folder leads out to."""
    from nsplugin_cli.lint import fixing

    if asked.stdin is not None:
        return mended
    named = {os.path.abspath(path) for path in asked.paths}
    whys = (None if each.path in named else fixing.leads_out(each.path, outcome.tasks[each.path].root) for each in mended)
    return fixing.once(_left(zip(mended, whys, strict=True)))


def _left(judged: Iterable[tuple[Mended, str | None]]) -> list[Mended]:
    """Those that nothing speaks against; of the others, say what does."""
    from nsplugin_cli import sources
    from nsplugin_cli.report.frame import visible

    left = []
    for each, why in judged:
        if why is None:
            left.append(each)
        else:
            terminal.say(f"{visible(sources.shown(each.path))} was not mended: {visible(why)}")
    return left


def _count(outcome: Outcome, form: str) -> None:
    from nsplugin_cli.report import statistics

    terminal.write_bytes((statistics.render_json if form == "json" else statistics.render_text)(outcome.report))


def _remarks(outcome: Outcome) -> int:
    """Say which files were not judged; 2 when that is so for want of an extra."""
    from nsplugin_cli.report.frame import visible
    from nsplugin_cli.report.text import count
    from nsplugin_cli.sources import shown

    if not outcome.tasks:
        besides = "besides what git ignores, hidden folders, and such as build and dist"
        terminal.say(f"there is no source to lint: no Python, TypeScript or JavaScript {besides}")
    for path, why in outcome.unread:
        terminal.say(f"{visible(shown(path))} was skipped: {visible(why)}")
    if outcome.lacking:
        files = count(outcome.lacking, "TypeScript file")
        terminal.say(f'{files} not read; to lint TypeScript: pip install "nsplugin[typescript]"')
    return 2 if outcome.lacking else 0
