"""A new plugin repository: its files, made from the templates beside this module."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from nsplugin.platforms import Platform
from nsplugin_cli.destinations import FOLDER, SUFFIX
from nsplugin_cli.diagnostic import WrongCall

TEMPLATES: Final = Path(__file__).with_name("templates")
MARK: Final = ".tmpl"
LOCALLY: Final = {"cogover": " --providers standins:local --allow-internal-system"}
"""What the commands that run a plugin on its author's machine need: records, and leave for runs without a user to use them."""


def files(platform: Platform, plugin_id: str) -> dict[str, str]:
    """The text of each file by its path in the repository."""
    own, shared = (TEMPLATES / name for name in (platform.name, "shared"))
    entry = next(path.name.removesuffix(MARK) for path in own.iterdir() if not path.name.startswith(("test_", "standins")))
    values = {
        "platform": platform.name,
        "title": platform.title,
        "id": plugin_id,
        "entry": entry,
        "test": f"test_{entry}",
        "run": LOCALLY.get(platform.name, ""),
        "manifest": f"{FOLDER}/{entry.removesuffix('.py')}{SUFFIX}",
    }
    found = ((root, path) for root in (own, shared) for path in sorted(root.rglob(f"*{MARK}")))
    return {_name(path.relative_to(root)): _filled(path, values) for root, path in found}


def _name(path: Path) -> str:
    return "/".join(re.sub("^dot-", ".", part) for part in path.parts).removesuffix(MARK)


def _filled(path: Path, values: Mapping[str, str]) -> str:
    text = path.read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text


def id_of(folder: Path, platform: Platform) -> str:
    """A plugin id made from the folder's name."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", folder.name)[: platform.plugin_id.max_length].strip("-")
    return name or "my-plugin"


def write(folder: Path, texts: Mapping[str, str]) -> list[str]:
    """Write the files; which of them were there already and are kept.

    Raises :class:`WrongCall`, and writes nothing, when a file of the plugin's own exists.
    """
    there = sorted(name for name in texts if os.path.lexists(folder / name))
    taken = [name for name in there if not _is_shared(name)]
    if taken:
        raise WrongCall(f"{', '.join(taken)} already in {folder}: nothing was written; name another folder")
    for name in sorted(texts.keys() - there):
        try:
            _write(folder / name, texts[name])
        except OSError as error:
            raise WrongCall(f"cannot write {folder / name}: {error.strerror}; what was written before stays") from error
    return there


def _is_shared(name: str) -> bool:
    """Whether any repository may hold such a file already: a fresh clone does."""
    return name == "README.md" or name.startswith(".")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
