"""Every file that is made from the code: goldens, schemas, pages. Writes them, or with --check says which are out of date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cron_goldens
import fixture_runs
import transcripts
from nsplugin import json_schemas
from nsplugin.rules.reference import document
from nsplugin_cli import catalogue
from nsplugin_core import job_states

ROOT = Path(__file__).parent.parent


def files() -> Iterator[tuple[Path, bytes]]:
    """Each generated file and what it should hold."""
    for name in json_schemas.MODELS:
        yield ROOT / "schemas/nsplugin_schemas" / f"{name}.schema.json", json_schemas.rendered(name)
    yield ROOT / "docs/rules.md", document(catalogue.rules()).encode()
    yield ROOT / "docs/job_states.md", job_states.document().encode()
    yield ROOT / "README.md", transcripts.rendered((ROOT / "README.md").read_text(encoding="utf-8")).encode()
    yield from cron_goldens.files()
    for folder in fixture_runs.folders():
        for name, data in fixture_runs.transcripts(folder).items():
            yield folder / name, data


def main() -> int:
    """Write what has changed; with --check only name it, and return 1 when anything has."""
    changed = [(path, data) for path, data in files() if not path.exists() or path.read_bytes() != data]
    check = "--check" in sys.argv
    for path, data in changed:
        print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.write_bytes(data)
    if check and changed:
        print("`make update` writes them.")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
