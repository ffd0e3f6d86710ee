"""The entry of ``nsplugin`` and of ``python -m nsplugin_cli``; ``--version`` is answered before anything is imported."""

from __future__ import annotations

import gc
import sys

from nsplugin_cli import INTERRUPTED, __version__


def main() -> int:
    """Run the command line and return the exit code (spec/cli.md): 0 fine, 1 findings, 2 wrong call, 3 a bug."""
    if sys.argv[1:] == ["--version"] and _says_version():
        return 0
    gc.set_threshold(50_000, 20, 20)  # what is imported stays: to look for garbage in it takes a twentieth of a short run
    try:
        from nsplugin_cli.app import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        gc.freeze()  # what is left goes with the process: the interpreter need not look through it first


def _says_version() -> bool:
    """Print it; where standard output takes nothing, ``run`` says so."""
    try:
        print(f"nsplugin {__version__}", flush=True)
    except OSError:
        return False
    return sys.stdout is not None


if __name__ == "__main__":
    if not sys.flags.safe_path:  # as -m, the current folder stands first: its click.py is no library, but may be what we judge
        del sys.path[0]
    sys.exit(main())
