"""Reading what others put in a place, so that a pipe or a device does us no harm, and putting something there at once."""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

_BINARY: Final = getattr(os, "O_BINARY", 0)
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY
NEW: Final = ".new"
"""How files end whose writing is not over, or was broken off."""


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


def put(path: str | os.PathLike[str], data: bytes, like: os.stat_result | None = None) -> None:
    """Put the bytes at the path in one step: nobody ever sees half of them. ``like``: whose owner and mode it shall have.

    Raises :class:`OSError`; what lay there is then as it was.
    """
    temporary = os.path.join(os.path.dirname(path), f".nsplugin-{os.urandom(8).hex()}{NEW}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666 if like is None else 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        if like is not None:
            _give(temporary, like)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _give(path: str, like: os.stat_result) -> None:
    """Owner and permissions, without the bits that lend the owner's rights to others."""
    own = os.stat(path)
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.chown(path, like.st_uid, like.st_gid)
        except PermissionError as error:
            raise PermissionError(error.errno, "it is another user's or group's, and would not stay so") from error
    os.chmod(path, like.st_mode & 0o777)
