"""The wheel, built through the sdist: exactly the files of the four packages, and it works away from the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import source_tree

PACKAGES = [root / name for name, root in source_tree.PACKAGES.items()]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that was built from it."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source_tree.ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def _on_disk() -> set[str]:
    """The packages' files by their path in the wheel."""
    return {
        path.relative_to(package.parent).as_posix()
        for package in PACKAGES
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_exactly_the_packages(built: Path) -> None:
    """hatchling skips a misspelt package path silently; data files are lost as easily."""
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    packaged = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    assert packaged == _on_disk()
    for kind in ("py.typed", "nextskin.toml", "platforms.json", "config.schema.json", "dot-gitignore.tmpl"):
        assert any(name.endswith(f"/{kind}") for name in packaged)


def test_the_sdist_holds_no_tests_and_no_rubbish(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert tops == {"sdk", "cli", "core", "schemas", "README.md", "pyproject.toml", "PKG-INFO", ".gitignore"}


def test_the_wheel_works_without_the_source_tree(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True)
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def run(*command: str) -> str:
        done = subprocess.run([sys.executable, *command], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert str(site) in run("-c", "import nsplugin; print(nsplugin.__file__)")
    for platform in ("nextskin", "cogover"):
        run("-m", "nsplugin_cli", "init", platform, "--platform", platform)
        assert "No problems in 1 file." in run("-m", "nsplugin_cli", "build", platform)
