"""Start and end the child process of a host: nothing inherited but three pipes, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import Final

import nsplugin
import nsplugin_core
import nsplugin_schemas
from nsplugin_core.host.settings import HostSettings, PluginSource

_BOOT: Final = """
import sys
sys.path.extend(path for path in sys.argv[2:] if path not in sys.path)
from nsplugin_core.host.inside.isolation import shut_in
outside = shut_in(sys.argv[1])
from nsplugin_core.host.child import main
main(outside)
"""
"""``-I`` keeps the caller's folder and PYTHON* variables out; our own packages are named explicitly.

The process that only waits outside the namespace is split off before the host's own modules are loaded: it stays small.
"""


def spawn(source: PluginSource, settings: HostSettings, directory: Path) -> subprocess.Popen[bytes]:
    """Start a host's process in ``directory``. Raises ``OSError`` when the interpreter can't be started."""
    roots = [str(Path(package.__path__[0]).parent) for package in (nsplugin, nsplugin_core, nsplugin_schemas)]
    return subprocess.Popen(
        [source.python, *_isolation(source), "-B", "-X", "utf8", "-c", _BOOT, settings.isolation, *dict.fromkeys(roots)],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(source, directory),
        cwd=directory,
        start_new_session=True,
        close_fds=True,
    )


def _isolation(source: PluginSource) -> tuple[str, ...]:
    """``-I``; without its ``-E`` where the plugin's environment, made here, fixes the hash seed (simulations)."""
    return ("-P", "-s") if "PYTHONHASHSEED" in source.environment else ("-I",)


def environment(source: PluginSource, directory: Path) -> dict[str, str]:
    """The few variables that a host gets (spec/core.md H4), and those that its configuration adds."""
    kept = {name: os.environ[name] for name in ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ}
    own = {"HOME": str(directory), "TMPDIR": str(directory), "LANG": "C.UTF-8", "TZ": "UTC", "MALLOC_ARENA_MAX": "2"}
    return kept | own | dict(source.environment)


def end(process: subprocess.Popen[bytes], inner: int | None = None) -> None:
    """Kill a host and what it started. ``inner`` is a pidfd of the process inside its namespace, if it has one.

    Must not be called once the process was waited for: its number may be somebody else's.
    """
    if inner:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(inner, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def discard(process: subprocess.Popen[bytes]) -> None:
    """Kill a host of which nothing else was made, and forget it."""
    end(process)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def described(code: int) -> str:
    """A return code in words: ``exit code 3``, ``killed by SIGKILL``."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
