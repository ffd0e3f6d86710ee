"""Files that are made from the code and committed: ``python tests/generated.py`` writes them, a test finds drift."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nsplugin.json_schemas import MODELS, rendered

ROOT = Path(__file__).parent.parent


def files() -> Iterator[tuple[Path, bytes]]:
    """Each generated file with the bytes that it must hold."""
    for name in MODELS:
        yield ROOT / "schemas" / "nsplugin_schemas" / f"{name}.schema.json", rendered(name)


def write() -> None:
    """Rewrite each file that differs."""
    for path, content in files():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
            print(f"rewrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    write()
