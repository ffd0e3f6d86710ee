"""Reading what others put in a place: a pipe does not block us, a device or a huge file does not fill the memory."""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read(path: str | os.PathLike[str], most: int, *, follow: bool = True) -> bytes:
    """The first ``most`` bytes of a regular file; ``follow``: also where the path is a symbolic link.

    Raises :class:`OSError`, whose ``strerror`` says why; :class:`ValueError` for a path that no file can have.
    """
    descriptor = os.open(path, _FLAGS | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            return file.read(min(found.st_size + 1 if found.st_size else most, most)) or b""
    finally:
        os.close(descriptor)
