"""The entry of ``nsplugin`` and of ``python -m nsplugin_cli``; ``--version`` is answered before anything is imported."""

from __future__ import annotations

import gc
import sys

from nsplugin_cli import __version__

INTERRUPTED = 130


def main() -> int:
    """Run the command line and return the exit code (spec/cli.md): 0 fine, 1 findings, 2 wrong call, 3 a bug."""
    if sys.argv[1:] == ["--version"]:
        print(f"nsplugin {__version__}")
        return 0
    gc.set_threshold(50_000, 20, 20)  # what is imported stays: to look for garbage in it takes a twentieth of a short run
    try:
        from nsplugin_cli.app import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
