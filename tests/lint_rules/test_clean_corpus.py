"""Real-looking clean files have no finding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nsplugin_cli.source.python import read_python
from nsplugin_cli.source.python_imports import Repository
from python_sources import findings_of

CORPUS = Path(__file__).parents[2] / "fixtures" / "lint_clean" / "python"
FILES = sorted(CORPUS.rglob("*.py"))
LIBRARIES = re.compile(r"\w+_plain_library|\w+_test_module|__init__|units|settings|models|handlers|queue|names|warehouse|api")
"""Files that define nothing themselves."""


@pytest.mark.parametrize("path", [pytest.param(path, id=path.relative_to(CORPUS).as_posix()) for path in FILES])
def test_a_clean_file_has_no_finding(path: Path) -> None:
    root = CORPUS / path.relative_to(CORPUS).parts[0]
    file = read_python(path.read_bytes(), str(path), Repository(root))
    assert file.unreadable is None
    assert findings_of(file.definitions) == []
    assert bool(file.definitions) != bool(LIBRARIES.fullmatch(path.stem))


def test_the_corpus_is_large_and_varied() -> None:
    """No two files are alike but for their names, numbers and strings, more than five times over."""
    shapes: dict[str, int] = {}
    for path in FILES:
        shape = re.sub(r"\"[^\"\n]*\"|\w+", "x", path.read_text(encoding="utf-8"))
        shapes[shape] = shapes.get(shape, 0) + 1
    assert len(FILES) >= 150 and len(shapes) >= 45 and max(shapes.values()) <= 5
