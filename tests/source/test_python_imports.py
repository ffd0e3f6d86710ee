"""The repository's modules are found by name, inside the repository alone, and never imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsplugin_cli.source.python import read_python
from nsplugin_cli.source.python_imports import Repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    files = {
        "plugin.py": "",
        "names.py": "ID = 'flat'",
        "pkg/__init__.py": "ID = 'package'",
        "pkg/main.py": "",
        "pkg/deep/__init__.py": "",
        "pkg/deep/inner.py": "ID = 'inner'",
        "src/library/__init__.py": "ID = 'library'",
        "src/library/part.py": "ID = 'part'",
        "both.py": "ID = 'module'",
        "both/__init__.py": "ID = 'folder'",
        "folder/loose.py": "ID = 'loose'",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "outside.py").write_text("ID = 'outside'")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    return root


@pytest.mark.parametrize(
    ("importer", "module", "found"),
    [
        ("plugin.py", "names", "names.py"),
        ("plugin.py", "pkg", "pkg/__init__.py"),
        ("plugin.py", "pkg.deep.inner", "pkg/deep/inner.py"),
        ("plugin.py", "library.part", "src/library/part.py"),
        ("plugin.py", "both", "both/__init__.py"),
        ("plugin.py", "folder.loose", "folder/loose.py"),
        ("plugin.py", "folder", None),
        ("plugin.py", "missing", None),
        ("plugin.py", "link", None),
        ("plugin.py", "outside", None),
        ("plugin.py", ".names", "names.py"),
        ("pkg/main.py", "names", "names.py"),
        ("pkg/main.py", ".", "pkg/__init__.py"),
        ("pkg/main.py", ".deep.inner", "pkg/deep/inner.py"),
        ("pkg/deep/inner.py", "..main", "pkg/main.py"),
        ("pkg/deep/inner.py", "...names", "names.py"),
        ("pkg/deep/inner.py", "....outside", None),
        ("src/library/part.py", "library", "src/library/__init__.py"),
        ("src/library/part.py", "names", "names.py"),
    ],
)
def test_modules_are_found_by_name(root: Path, importer: str, module: str, found: str | None) -> None:
    answer = Repository(root)(str(root / importer), module)
    assert (None if answer is None else Path(answer[0]).resolve().relative_to(root.resolve()).as_posix()) == found


def test_paths_stay_relative_when_they_were_given_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "pkg")
    found = Repository(root)("main.py", ".deep.inner")
    assert found is not None and found[0] == "deep/inner.py"
    found = Repository(root)("main.py", "names")
    assert found is not None and (root / "pkg" / found[0]).resolve() == (root / "names.py").resolve()


def test_a_plugin_is_read_with_its_repository(root: Path) -> None:
    source = "from names import ID\nfrom nsplugin import define_plugin\nplugin = define_plugin(id=ID)"
    (found,) = read_python(source.encode(), str(root / "plugin.py"), Repository(root)).definitions
    assert found.raw == {"id": "flat"}


def test_a_huge_or_unreadable_module_is_unknown(root: Path) -> None:
    (root / "huge.py").write_bytes(b"x" * (1 << 21))
    (root / "names.py").unlink()
    (root / "names.py").mkdir()
    assert Repository(root)(str(root / "plugin.py"), "huge") is None
    assert Repository(root)(str(root / "plugin.py"), "names") is None


def test_each_file_is_read_once(root: Path) -> None:
    read: list[str] = []

    def reader(path: str) -> bytes:
        read.append(path)
        return Path(path).read_bytes()

    repository = Repository(root, reader)
    for _ in range(3):
        assert repository(str(root / "plugin.py"), "names") is not None
    assert len(read) == 1
