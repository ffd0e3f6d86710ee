"""Paths as a repository sees them: hosts of code match findings with files by the path from the repository's root."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nsplugin_cli.diagnostic import Report


def from_root(report: Report, path: str) -> str:
    """The path from the repository's root, or as it was when it lies outside or there is no repository."""
    if report.root is None or path.startswith("<"):
        return path
    absolute = posixpath.normpath(posixpath.join(report.folder or "", path))
    root = report.root.rstrip("/") + "/"
    return absolute[len(root) :] if absolute.startswith(root) else path
