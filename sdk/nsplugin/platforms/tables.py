"""Makes ``platforms.json`` of the TOML files that people write: JSON is read by what every start has loaded already."""

from __future__ import annotations

import json
from pathlib import Path

import tomli

from nsplugin.platforms import NAMES, TABLES


def rendered() -> bytes:
    """What :data:`~nsplugin.platforms.TABLES` should hold."""
    folder = Path(TABLES).parent
    tables = {name: tomli.loads((folder / f"{name}.toml").read_text(encoding="utf-8")) for name in NAMES}
    return json.dumps(tables, ensure_ascii=False, indent=1).encode() + b"\n"
