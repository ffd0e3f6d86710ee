"""Reads and judges one file after another, and notes what each verdict rests on."""

from __future__ import annotations

from functools import cache
from typing import Final

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL first, which takes a tenth of a run over one file
except ImportError:
    from hashlib import blake2b

from nsplugin.record import record
from nsplugin_cli import regular_file
from nsplugin_cli.lint.judging import Judged, Setting, judge, mentions_definer
from nsplugin_cli.source.definition import Resolve
from nsplugin_cli.source.discover import TYPESCRIPT

MAX_BYTES: Final = 1 << 20
"""More of a file is not read: the readers refuse it at one byte more."""


@record(kw_only=False)
class Task:
    """One file to judge: its absolute path, the root that it belongs to, what the project file says."""

    path: str
    root: str
    setting: Setting


@record(kw_only=False)
class Asked:
    """A module that the file ``importer`` asks for by the name written there; its path and digest if there is one."""

    importer: str
    module: str
    path: str | None
    digest: str | None


@record(kw_only=False)
class Verdict:
    """What was found in a file whose bytes have this digest, and the imports that it rests on."""

    digest: str
    judged: Judged
    asked: tuple[Asked, ...] = ()


class UnreadFile(Exception):
    """A file could not be opened or read; says why."""


def read(path: str) -> bytes:
    """The bytes of a file, at most one more than :data:`MAX_BYTES`. Raises :class:`UnreadFile`."""
    try:
        data = regular_file.read(path, MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UnreadFile(getattr(error, "strerror", None) or str(error)) from error
    require_source(path, data)
    return data


def require_source(path: str, data: bytes) -> None:
    """Raise :class:`UnreadFile` for what has the name of TypeScript, such as a film, and defines nothing."""
    if path.lower().endswith(TYPESCRIPT) and not mentions_definer(data):
        from nsplugin_cli.source.typescript_bytes import why_no_source

        why = why_no_source(data)
        if why is not None:
            raise UnreadFile(why)


def digest(data: bytes) -> str:
    """A short name for these bytes and no others."""
    return blake2b(data, digest_size=16).hexdigest()


@cache
def _python(root: str) -> Resolve:
    from nsplugin_cli.source.python_imports import Repository

    return Repository(root)


@cache
def _typescript(root: str) -> Resolve:
    from pathlib import Path

    from nsplugin_cli.source.typescript_imports import TypeScriptRepository

    return TypeScriptRepository(Path(root))


def repository(path: str, root: str) -> Resolve:
    """What finds the imports of a file; it remembers what it found until :func:`forget`."""
    return _typescript(root) if path.lower().endswith(TYPESCRIPT) else _python(root)


def forget() -> None:
    """Files may have changed: look again."""
    _python.cache_clear()
    _typescript.cache_clear()
    _digests.clear()


_digests: dict[str, tuple[bytes, str]] = {}


def answer(resolve: Resolve, importer: str, module: str) -> tuple[str | None, str | None]:
    """Path and digest of the module that an import finds now."""
    found = resolve(importer, module)
    if found is None:
        return None, None
    path, data = found
    known = _digests.get(path)
    if known is None or known[0] is not data:
        known = _digests[path] = data, digest(data)
    return path, known[1]


def examine(task: Task, data: bytes) -> Verdict:
    """Judge a file and note every import that was followed or found to lead nowhere."""
    resolve = repository(task.path, task.root)
    asked: dict[tuple[str, str], Asked] = {}

    def noted(importer: str, module: str) -> tuple[str, bytes] | None:
        if (importer, module) not in asked:
            asked[importer, module] = Asked(importer, module, *answer(resolve, importer, module))
        return resolve(importer, module)

    judged = judge(data, task.path, task.setting, noted)
    return Verdict(digest(data), judged, tuple(asked.values()))
