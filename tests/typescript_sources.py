"""TypeScript sources under lint: the findings of one file, and the modules of a repository in memory."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from nsplugin.rules import Problem
from nsplugin_cli.lint.judging import Setting, judge
from nsplugin_cli.source.definition import Resolve
from python_sources import text_at

ENDINGS = ("", ".ts", ".tsx", ".js", ".mjs", ".cjs", "/index.ts", "/index.js")


def repository(files: Mapping[str, str]) -> Resolve:
    """A resolver over files in memory, for relative imports."""

    def resolve(importer: str, written: str) -> tuple[str, bytes] | None:
        base = posixpath.normpath(posixpath.join(posixpath.dirname(importer), written))
        names = [posixpath.normpath(base + ending) for ending in ENDINGS] if written.startswith(".") else []
        return next(((name, files[name].encode()) for name in names if name in files), None)

    return resolve


def problems(source: str, files: Mapping[str, str] | None = None, path: str = "plugin.ts") -> tuple[Problem, ...]:
    """All findings of one file."""
    return judge(source.encode(), path, Setting(), repository(files or {})).problems


def codes(source: str, files: Mapping[str, str] | None = None, path: str = "plugin.ts") -> list[str]:
    """The codes of all findings of one file."""
    return [problem.code for problem in problems(source, files, path)]


def found(source: str, files: Mapping[str, str] | None = None, path: str = "plugin.ts") -> list[tuple[str, str]]:
    """Each finding's code and the text that it points at."""
    texts = {**(files or {}), path: source}
    return [(each.code, text_at(texts[each.path or path], each.span)) for each in problems(source, files, path)]
