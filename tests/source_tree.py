"""The project's own source as tests of its architecture see it: files, modules, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "nsplugin_schemas": ROOT / "schemas",
    "nsplugin": ROOT / "sdk",
    "nsplugin_cli": ROOT / "cli",
    "nsplugin_core": ROOT / "core",
}


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name and tree."""

    name: str
    path: Path

    @property
    def tree(self) -> ast.Module:
        return _parse(self.path)

    @property
    def where(self) -> str:
        return str(self.path.relative_to(ROOT))

    def imports(self, *, at_run_time: bool = False) -> Iterator[tuple[int, str]]:
        """Line and full name of each import; ``from a import b`` counts as ``a.b``. TYPE_CHECKING blocks may be left out."""
        skipped = set(_type_checking(self.tree)) if at_run_time else set()
        for node in ast.walk(self.tree):
            if node in skipped:
                continue
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.where}:{node.lineno} is a relative import"
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def modules() -> list[Module]:
    """Every module of the four packages."""
    return [Module(_name(path, root), path) for package, root in PACKAGES.items() for path in _files(root / package)]


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _type_checking(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from (inner for statement in node.body for inner in ast.walk(statement))
