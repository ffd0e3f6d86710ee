"""Shut the host's process in before it reads a line of the plugin (spec/core.md H4).

Where the kernel lets us, the host gets a PID namespace of its own: it sees and can signal no process but its own children, and
all of them end with it. Elsewhere a session and process group of its own must do.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NoReturn

_NEWNS: Final = 0x00020000
_NEWUSER: Final = 0x10000000
_NEWPID: Final = 0x20000000
_PR_SET_PDEATHSIG: Final = 1
_MS_REC: Final = 0x4000
_MS_PRIVATE: Final = 0x40000
_MS_PROC: Final = 0xE  # no set-uid, no devices, no programs


def shut_in(isolation: str) -> int:
    """Shut this process in, while it has one thread; ``isolation`` is "namespace" or "process-group".

    With a namespace the rest goes on in a child, whose number outside is returned (the process that called only waits for
    it). 0: the system has no namespace for us, or none was asked for.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold whatever the plugin held
    outside = _enter_namespace() if isolation == "namespace" else 0
    _die_with_parent()
    return outside


def _enter_namespace() -> int:
    if not sys.platform.startswith("linux") or not _unshare():
        return 0
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.write(write, str(pid).encode())
        _wait_for(pid)
    os.close(write)
    os.setsid()
    outside = os.read(read, 32)
    os.close(read)
    if not outside:
        os._exit(1)  # the other was killed before it could say
    _own_proc()
    return int(outside)


def _unshare() -> bool:
    """Leave the PID and mount namespaces; a user who may not do that gets a user namespace to do it in, if there may be one."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(_NEWPID | _NEWNS) == 0 or (_tried(_unshare_as_user) and _unshare_as_user())


def _unshare_as_user() -> bool:
    uid, gid = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(_NEWUSER | _NEWPID | _NEWNS) != 0:
        return False
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    except OSError:
        return False
    return True


def _tried(step: Callable[[], bool]) -> bool:
    """Whether a step works, tried in a process of its own: one that works by half can't be taken back."""
    pid = os.fork()
    if not pid:
        os._exit(0 if step() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _wait_for(pid: int) -> NoReturn:
    """Be nothing but the parent: hold no pipe, and end as the child ended."""
    _die_with_parent()
    os.closerange(0, 3)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 1)


def _own_proc() -> None:
    """Let ``/proc`` show the namespace's own processes, and so nobody else's; some containers forbid it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) == 0:
        libc.mount(b"proc", b"/proc", b"proc", _MS_PROC, None)


def _die_with_parent() -> None:
    """End when the thread that started this process ends, whatever this process is doing (Linux)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def limit(limits: Mapping[str, int]) -> None:
    """Set the resource limits: ``memory`` and ``files``, and ``processes`` where they are counted apart from the user's."""
    wanted = {resource.RLIMIT_AS: limits["memory"], resource.RLIMIT_NOFILE: limits["files"]}
    if "processes" in limits:
        wanted[resource.RLIMIT_NPROC] = limits["processes"]
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ValueError, OSError):  # some systems know a limit but take none
            resource.setrlimit(kind, (value, value))
