"""The JSON Schemas (draft 2020-12) of what nsplugin reads and writes, for editors, hosts and other tools."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_SUFFIX = ".schema.json"


@cache
def names() -> tuple[str, ...]:
    """The names of the published schemas, sorted: ``cogover-manifest``, ``config``, …"""
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in Path(__file__).parent.glob("*" + _SUFFIX)))


def text(name: str) -> str:
    """The published file of that name, as it is. Raises ``KeyError`` for a name that is not in :func:`names`."""
    if name not in names():
        raise KeyError(name)
    return Path(__file__).with_name(name + _SUFFIX).read_text(encoding="utf-8")


def load(name: str) -> dict[str, Any]:
    """The schema of that name, a fresh value at each call. Raises ``KeyError`` for a name that is not in :func:`names`."""
    schema: dict[str, Any] = json.loads(text(name))
    return schema
