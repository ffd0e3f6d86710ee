"""One command line from its words to its exit code: every way of ending has its own (spec/cli.md)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

from nsplugin_cli import INTERRUPTED, WRONG_CALL, __version__, terminal
from nsplugin_cli.diagnostic import WrongCall

BUG, PIPE_CLOSED = 3, 141
ISSUES: Final = "https://github.com/nsplugin/nsplugin/issues"


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Never raises."""
    terminal.prepare()
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except WrongCall as error:
        from nsplugin_cli.report.frame import visible  # what people named may hold anything

        terminal.say(f"Error: {visible(str(error))}")
        return WRONG_CALL
    except terminal.OutputLost as error:
        return _output_lost(error.__cause__)
    except Exception as error:
        if isinstance(error, FileNotFoundError) and not _is_somewhere():
            terminal.say("Error: the current folder does not exist any more: go to another one")
            return WRONG_CALL
        return _bug(error, debug="--debug" in arguments or bool(os.environ.get("NSPLUGIN_DEBUG")))


def _run(arguments: Sequence[str]) -> int:
    """A plain ``lint``, which runs on every save, does without click: to load it takes a third of a run over one file."""
    if arguments[:1] == ["lint"]:
        from nsplugin_cli.commands import linting

        call = linting.plain(arguments[1:])
        if call is not None:
            return linting.run(call)
    from nsplugin_cli import group

    return group.run(arguments)


def _is_somewhere() -> bool:
    try:
        return bool(os.getcwd())  # noqa: PTH109
    except OSError:
        return False


def _output_lost(cause: BaseException | None) -> int:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at exit
    if isinstance(cause, BrokenPipeError):
        return PIPE_CLOSED
    terminal.say(f"Error: cannot write to standard output: {getattr(cause, 'strerror', cause)}")
    return WRONG_CALL


def _bug(error: Exception, *, debug: bool) -> int:
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    terminal.say(f"nsplugin itself failed: {type(error).__name__}: {error}\n  at {frame.filename}:{frame.lineno}")
    terminal.say(f"This is a bug in nsplugin {__version__}, not in your plugin. Please report it at {ISSUES}")
    if debug:
        terminal.say("".join(traceback.format_exception(error)))
    else:
        terminal.say("with the output of the same command and --debug.")
    return BUG
