"""Every file that is made from the code: goldens, schemas, pages. Writes them, or with --check says which are out of date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cron_goldens
import fixture_runs
import payload_goldens
import reading_goldens
import reference_pages
import report_goldens
import transcripts
import wrong_calls
from nsplugin import json_schemas
from nsplugin.platforms import TABLES, tables
from nsplugin.rules.reference import document
from nsplugin_cli import catalogue
from nsplugin_core import job_states

ROOT = Path(__file__).parent.parent


def documents() -> Iterator[tuple[Path, bytes]]:
    """Schemas, pages and golden texts: each file and what it should hold."""
    for name in json_schemas.MODELS:
        yield ROOT / "schemas/nsplugin_schemas" / f"{name}.schema.json", json_schemas.rendered(name)
    yield Path(TABLES), tables.rendered()
    yield ROOT / "docs/rules.md", document(catalogue.rules()).encode()
    yield ROOT / "docs/job_states.md", job_states.document().encode()
    yield from cron_goldens.files()
    yield from report_goldens.files()
    yield from reading_goldens.files()
    yield from payload_goldens.files()
    yield from reference_pages.files()
    yield from wrong_calls.files()


def goldens() -> Iterator[tuple[Path, bytes | None]]:
    """What the commands print: the README and every fixture; ``None`` where a file should not be."""
    for page in (ROOT / "README.md", ROOT / "docs/tutorial.md"):
        yield page, transcripts.rendered(page.read_text(encoding="utf-8")).encode()
    for folder in fixture_runs.folders():
        made = fixture_runs.transcripts(folder)
        yield from ((folder / name, made.get(name)) for name in fixture_runs.EXPECTED)


def _on_disk(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _put(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)


def main() -> int:
    """Write what has changed; with --check only name it, and return 1 when anything has."""
    check = "--check" in sys.argv
    changed = [(path, data) for path, data in (*documents(), *goldens()) if _on_disk(path) != data]
    for path, data in changed:
        print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            _put(path, data)
    if check and changed:
        print("`make update` writes them.")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
