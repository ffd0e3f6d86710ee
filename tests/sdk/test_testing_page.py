"""``docs/testing.md``: every example runs, against the example plugins of the repository."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "testing.md").read_text(encoding="utf-8"), re.S | re.M)
MODULES = {"plugin": "cache-expiry/plugin.py", "main": "recalc-totals/main.py"}


def load(name: str) -> Any:
    """An example plugin's module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "fixtures" / "good" / MODULES[name])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The names that the page imports its plugins by."""
    for name in MODULES:
        monkeypatch.setitem(sys.modules, name, load(name))
    yield


@pytest.mark.parametrize("example", range(len(EXAMPLES)))
def test_examples_run(example: int) -> None:
    names: dict[str, Any] = {"plugin": sys.modules["plugin"].plugin}
    exec(compile(EXAMPLES[example], f"docs/testing.md example {example + 1}", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 3
