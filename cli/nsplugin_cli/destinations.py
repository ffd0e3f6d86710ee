"""Where manifests go, and writing them so that nobody ever sees half of one."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nsplugin_cli import regular_file
from nsplugin_cli.diagnostic import WrongCall
from nsplugin_cli.project_keys import kind
from nsplugin_cli.source.discover import Target

if TYPE_CHECKING:
    from nsplugin.rules._family import Problem

Mode = Literal["write", "check", "stdout"]
SUFFIX = ".manifest.json"
FOLDER = "dist"


def mode(*, check: bool, stdout: bool, form: str, out: Path | None) -> Mode:
    """What to do with manifests. Raises :class:`WrongCall` for options that exclude each other."""
    if check and stdout:
        raise WrongCall("--check and --stdout exclude each other: the one compares the manifest, the other prints it")
    if stdout and form != "text":
        raise WrongCall(f"--stdout prints the manifest alone: leave out --format {form}, or write the manifest with --out")
    if stdout and out is not None:
        raise WrongCall("--stdout and --out exclude each other: the one prints the manifest, the other says where it goes")
    return "check" if check else "stdout" if stdout else "write"


def destinations(targets: Sequence[Target], out: Path | None, how: Mode) -> list[Path]:
    """The manifest's path for each target. Raises :class:`WrongCall` when two plugins would share one."""
    if how == "stdout" and len(targets) > 1:
        raise WrongCall(f"--stdout prints one manifest, and there are {len(targets)} plugins: name one of them")
    paths = [_destination(target, out) for target in targets]
    taken: dict[Path, Target] = {}
    for path, target in zip(paths, targets, strict=True):
        other = taken.setdefault(path.resolve(), target)
        if other is not target:
            names = f"{other.place} and {target.place}"
            raise WrongCall(f"{names} would both write {path}: give --out a folder, or each its own `out` in its nsplugin.toml")
    return paths


def _destination(target: Target, out: Path | None) -> Path:
    name = target.stem + SUFFIX
    if out is not None:
        return out / name if _is_folder(out, str(out)) else out
    text = target.project.get("out") or FOLDER
    path = Path(target.project.folder, text)
    return path / name if _is_folder(path, text) else path


def _is_folder(path: Path, text: str) -> bool:
    return os.path.isdir(path) or text.endswith("/") or path.suffix != ".json"


def _holds(path: Path, data: bytes) -> bool | None:
    """Whether that lies at a path, ``None`` when nothing does. Raises :class:`WrongCall` when it cannot be a manifest."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise WrongCall(f"cannot write a manifest to {path}: it is {kind(path)}")
        return regular_file.read(path, len(data) + 1) == data
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise WrongCall(f"cannot write a manifest to {path}: {path.parent} is no folder") from error
    except OSError as error:
        raise WrongCall(f"cannot read {path}: {error.strerror}") from error


def write(path: Path, data: bytes) -> bool:
    """Put the bytes at the path in one step, whoever else writes it; whether that changed anything."""
    if _holds(path, data):
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        regular_file.put(path, data)
    except OSError as error:
        raise WrongCall(f"cannot write {path}: {error.strerror}") from error
    return True


def stale(path: Path, data: bytes) -> Problem | None:
    """The finding that a manifest on disk is missing or not what build would write; ``None`` when it is."""
    same = _holds(path, data)
    if same:
        return None
    from nsplugin.rules._family import Found
    from nsplugin.rules.identity import problem

    message = "it does not exist" if same is None else "it is not what build writes from the source as it is now"
    return problem("NSP603", Found(pointer="", message=message, hint="run nsplugin build"))
