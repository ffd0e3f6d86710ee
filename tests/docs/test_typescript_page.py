"""The examples of the TypeScript page are plugins, and lint finds in them what the page says it finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import source_tree
from lint_world import findings

PLACES = ("plugin.ts", "jobs/expire.ts", "index.ts")
PAGE = (source_tree.ROOT / "docs/typescript.md").read_text(encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    pytest.importorskip("tree_sitter")
    for place, text in zip(PLACES, re.findall(r"```ts\n(.*?)```", PAGE, re.DOTALL), strict=True):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    return tmp_path


def test_the_examples_are_clean(repository: Path) -> None:
    assert findings(repository) == []


BROKEN = [
    ("plugin.ts", "'0 3 * * *'", "'0 25 * * *'", "NSP203"),
    ("plugin.ts", "job: 'expire'", "job: 'expired'", "NSP204"),
    ("jobs/expire.ts", "maxAttempts: 5", "maxAttempts: 50", "NSP104"),
    ("jobs/expire.ts", "enqueue('expire'", "enqueue('expires'", "NSP304"),
    ("jobs/expire.ts", "delaySec: 30", "delaySec: -1", "NSP305"),
    ("index.ts", "maxAttempts: 3", "maxAttempts: 0", "NSP104"),
    ("index.ts", "Asia/Ho_Chi_Minh", "Asia/Hanoi", "NSP206"),
]


@pytest.mark.parametrize(("place", "old", "new", "code"), BROKEN)
def test_what_is_broken_in_them_is_found(repository: Path, place: str, old: str, new: str, code: str) -> None:
    text = (repository / place).read_text()
    assert old in text
    (repository / place).write_text(text.replace(old, new))
    assert [found.split()[-1] for found in findings(repository)] == [code]
