"""The JSON Schemas (draft 2020-12) of what nsplugin reads and writes, for editors, hosts and other tools."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

_SUFFIX = ".schema.json"
_FOLDER = os.path.dirname(__file__)


@cache
def names() -> tuple[str, ...]:
    """The names of the published schemas, sorted: ``cogover-manifest``, ``config``, …"""
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in os.listdir(_FOLDER) if name.endswith(_SUFFIX)))


def text(name: str) -> str:
    """The published file of that name, as it is. Raises ``KeyError`` for a name that is not in :func:`names`."""
    if name not in names():
        raise KeyError(name)
    with open(os.path.join(_FOLDER, name + _SUFFIX), encoding="utf-8") as file:
        return file.read()


def load(name: str) -> dict[str, Any]:
    """The schema of that name, a fresh value at each call. Raises ``KeyError`` for a name that is not in :func:`names`."""
    schema: dict[str, Any] = json.loads(text(name))
    return schema
